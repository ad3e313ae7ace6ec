"""initializers."""

__all__: list[str] = []
