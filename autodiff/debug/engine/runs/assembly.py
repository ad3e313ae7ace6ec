"""RunParts: what makes runs and looks at them, put together for one model."""
from __future__ import annotations

from ..debuggers import Debuggers
from ..feeds import RunFeeds
from ..state import State
from ..training import Training
from ..watches import Watches
from .effects import Effects
from .evidence import Evidence
from .hooks import Hooks
from .inside_stops import InsideStops
from .run_once import Runner
from .run_view import RunViews
from .samples import InnerSamples, RunSamples
from .stepper import Stepper
from .stop_conditions import StopConditions
from .time_travel import History


class RunParts:
    """watches, feeds, debuggers, training: what is arranged before a run. hooks: the cut to what makes it. runner,
    stepper, inside make runs; history goes back to them. evidence, effects, inner: what is seen in them.
    """

    def __init__(self, state: State) -> None:
        self.watches, self.feeds = Watches(state.model), RunFeeds(state)
        self.debuggers = Debuggers(state, self.watches)
        self.training = Training(state, self.debuggers)
        self.effects, self.inner = Effects(state), InnerSamples(state)
        self.evidence = Evidence(state, self.watches, self.effects, self.inner)
        views = RunViews(state, self.watches)
        samples = RunSamples(state, self.watches, views)
        stops = StopConditions(self.watches, self.evidence)
        self.hooks = Hooks(state, self.watches, self.inner, views=views, samples=samples, stops=stops)
        self.stepper = Stepper(state, self.feeds, self.training, self.hooks)
        self.inside = InsideStops(state, self.watches, self.hooks, self.stepper)
        self.runner = Runner(self.watches, self.feeds, self.training, evidence=self.evidence, hooks=self.hooks,
                             stepper=self.stepper)
        self.history = History(state, self.stepper)
