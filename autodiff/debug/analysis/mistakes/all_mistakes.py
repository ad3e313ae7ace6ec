"""All that is looked for in a Case: a function for each family of mistakes."""
from __future__ import annotations

from ..findings import Finding
from .batches import batch_mistakes
from .case import Case
from .classes import class_mistakes, residual_mistakes
from .last_layer import last_layer_mistakes, swapped_logarithms, trained_targets
from .leaks import leak_mistakes
from .misused import misuses
from .modes import mode_mistakes
from .optimizers import left_alone_mistakes, optimizer_mistakes
from .pace import endless_falls, negated_losses, pace_mistakes
from .penalties import penalty_mistakes
from .start import start_mistakes
from .trainers import adversary_mistakes, by_loss, trainer_mistakes
from .units import depth_mistakes
from .wiring import wiring_mistakes

_OF_A_LOSS = (last_layer_mistakes, swapped_logarithms, negated_losses, endless_falls,
              penalty_mistakes, trained_targets, class_mistakes,
              residual_mistakes)
_LOSSES = 4  # that are looked at


def other_losses(case: Case) -> list[Finding]:
    """Findings about the losses that are minimized beside y."""
    others = [y for y in by_loss(case) if y is not case.y][:_LOSSES]
    return [finding for y in others for rule in _OF_A_LOSS for finding in rule(case.about(y))]


RULES = (*_OF_A_LOSS, other_losses, wiring_mistakes, misuses, mode_mistakes, start_mistakes, trainer_mistakes,
         adversary_mistakes, optimizer_mistakes, batch_mistakes, pace_mistakes, depth_mistakes,
         left_alone_mistakes, leak_mistakes)


def all_mistakes(case: Case) -> list[Finding]:
    """Findings about the program: its graph, and its steps as far as there are any."""
    return [finding for rule in RULES for finding in rule(case)]
