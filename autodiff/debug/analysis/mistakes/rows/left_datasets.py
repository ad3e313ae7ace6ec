"""New datasets that a script makes of one, and that nobody takes: `dataset.shuffle(100)` alone on a line."""
from __future__ import annotations

from .....core.site import source_lines
from ....facts.roles import place_on
from ...findings import Finding
from ...scripts.parsed import Parsed
from ...scripts.thrown_away import OF_DATASETS, left_dataset
from ..case import Case, finding

LEFT = "dataset thrown away"
_FASTER = ("cache", "prefetch")  # which change no element


def left_datasets(case: Case) -> list[Finding]:
    """The first call of a method of a dataset whose result is thrown away, in the files that made the loss."""
    made = {op.site.file: op for op in reversed(case.behind) if op.site is not None} if case.steps else {}
    for file, op in made.items():
        text = "".join(source_lines(file))
        try:
            found = left_dataset(Parsed(text), *OF_DATASETS) if "Dataset" in text else None
        except (SyntaxError, ValueError):
            continue
        if found is not None:
            place = place_on(file, found[0])
            is_faster = any(f".{each}(" in place.text for each in _FASTER)
            return [finding(30 if is_faster else 56, LEFT, op, f"what {place.text} gives is thrown away: a dataset "
                            "stays as it is, and its methods give new ones", "give it to the name that it is of",
                            confidence="certain")]
    return []
