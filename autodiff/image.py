"""image."""

__all__: list[str] = []
