"""math."""

__all__: list[str] = []
