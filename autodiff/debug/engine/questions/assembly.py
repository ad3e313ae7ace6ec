"""Questions: all that can be asked of a model and its runs, put together."""
from __future__ import annotations

from ..runs.assembly import RunParts
from ..state import State
from .blame import Blame
from .check import RuleChecks
from .diff import Comparison
from .doctor import Checkup
from .edit import Edits
from .evaluate import ValueHistory, Values
from .explain import Explanations
from .gradients import Gradients, GradientsWith
from .hessians import Hessians
from .lists import Lists
from .places import Places
from .record import Recordings
from .trials import Trials
from .update_stages import UpdateStages


class Questions:
    """values: of expressions. gradients, gradients_with, hessians, stages: derivatives. explain, rules, checkup,
    comparison: what is wrong. edits, recordings: what is changed and kept. lists, places: what there is, and where.
    """

    def __init__(self, state: State, runs: RunParts, history: ValueHistory) -> None:
        effects, inner, stepper = runs.effects, runs.inner, runs.stepper
        self.values = Values(state, stepper, history)
        self.gradients = Gradients(state, inner, runs.training, self.values)
        self.gradients_with = GradientsWith(state, self.values)
        self.hessians, self.stages = Hessians(state, self.values), UpdateStages(state)
        self.trials = Trials(state)
        self.explain = Explanations(state, effects, inner, Blame(state, effects))
        self.rules, self.comparison = RuleChecks(state), Comparison(state, effects)
        self.checkup = Checkup(state, self.explain, self.gradients, stages=self.stages, rules=self.rules,
                               trials=self.trials)
        self.edits, self.recordings = Edits(state, stepper, self.values, self.trials), Recordings(state, runs.hooks)
        self.lists = Lists(state, runs.training, effects)
        self.places = Places(state, stepper, self.lists)
