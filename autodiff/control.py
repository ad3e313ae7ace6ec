"""control."""

__all__: list[str] = []
