"""random."""

__all__: list[str] = []
