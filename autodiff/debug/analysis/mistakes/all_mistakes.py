"""All that is looked for in a Case: a function for each family of mistakes."""
from __future__ import annotations

from ..findings import Finding
from .batches import batch_mistakes
from .case import Case
from .depth import depth_mistakes
from .last_layer import last_layer_mistakes, swapped_logarithms
from .modes import mode_mistakes
from .pace import negated_losses, pace_mistakes
from .penalties import penalty_mistakes
from .start import start_mistakes
from .trainers import trainer_mistakes
from .wiring import wiring_mistakes

RULES = (last_layer_mistakes, swapped_logarithms, negated_losses, wiring_mistakes, mode_mistakes, penalty_mistakes,
          start_mistakes, trainer_mistakes, batch_mistakes, pace_mistakes,
         depth_mistakes)


def all_mistakes(case: Case) -> list[Finding]:
    """Findings about the program: its graph, and its steps as far as there are any."""
    return [finding for rule in RULES for finding in rule(case)]
