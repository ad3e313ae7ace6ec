"""array."""

__all__: list[str] = []
