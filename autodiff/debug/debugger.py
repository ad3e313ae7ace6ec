"""Debugger: the machine behind every door; holds graph, session, watches and records, and answers questions."""
from __future__ import annotations

from typing import Any

from ..graph import Graph
from .answers import (Changed, Cursor, Feed, Gradient, GradTable, Hessian, HessianCost, Memory, Neighbours, OpCard, OpRow,
                      Runs, Script, Source, TensorRow, Trained, Value, VariableRow, WatchRow)
from .records import RunRecord


class Debugger:
    """graph, session: under the debugger. handles: the script's variables by name. step: runs so far.

    records: RunRecords, oldest first. y: name of the tensor that gradients are of, by default.
    """

    def __init__(self, graph: Graph | None = None, session: Any = None, *, handles: dict[str, Any] | None = None,
                 script: str = "") -> None: ...

    def attach(self, graph: Graph | None = None, session: Any = None, *, handles: dict[str, Any] | None = None) -> None:
        """Go on with another graph, session or namespace of the script; None keeps what is there."""

    # ---- names --------------------------------------------------------------------------
    def names(self) -> list[str]:
        """Every word that stands for a tensor: handles, then tensor names."""
        raise NotImplementedError

    def resolve(self, target: str) -> tuple[str, ...]:
        """Tensor names for a name, unique suffix, handle, `/regex/`, `%12` or `g3`. At least one.

        Raises UnknownNameError, with candidates."""
        raise NotImplementedError

    def resolve_one(self, target: str) -> str:
        """The one tensor a target stands for. Raises ArgumentError if there are several."""
        raise NotImplementedError

    def resolve_op(self, target: str) -> str:
        """The operation a target stands for."""
        raise NotImplementedError

    def short(self, name: str) -> str:
        """The short handle of a tensor: `%12`; `g12` stands for its gradient."""
        raise NotImplementedError

    # ---- watches and breakpoints --------------------------------------------------------
    def watch(self, *targets: str, condition: str = "", every: int = 1, level: str = "stats") -> WatchRow:
        """Track these tensors and their gradients from now on; stop only where `condition` holds."""
        raise NotImplementedError

    def break_at(self, target: str = "", *, step: int | None = None, condition: str = "", exclude: str = "") -> WatchRow:
        """Stop before the op of `target` runs, at a step, or where `condition` holds (of target, or of any tensor)."""
        raise NotImplementedError

    def stops(self, kind: str = "") -> tuple[WatchRow, ...]:
        """Watches and breakpoints; kind: "watch", "break" or both."""
        raise NotImplementedError

    def delete(self, *numbers: int) -> tuple[WatchRow, ...]: raise NotImplementedError
    def unwatch(self, *targets: str) -> tuple[WatchRow, ...]: raise NotImplementedError
    def enable(self, number: int, on: bool) -> WatchRow: raise NotImplementedError  # noqa: FBT001
    def ignore(self, number: int, count: int) -> WatchRow: raise NotImplementedError
    def condition(self, number: int, text: str) -> WatchRow: raise NotImplementedError
    def commands(self, number: int, lines: tuple[str, ...]) -> WatchRow: raise NotImplementedError

    # ---- training and feeding -----------------------------------------------------------
    def train(self, y: str = "", *, optimizer: str = "sgd", lr: float = 0.01, variables: tuple[str, ...] = (),
              clip_norm: float | None = None) -> Trained:
        """Build a train op for y under a GradientsDebugger, watches applied; `run` then runs it."""
        raise NotImplementedError

    def feed(self, target: str, value: Any) -> Feed:
        """Feed this value from now on. value: array, number, or text: a NumPy expression."""
        raise NotImplementedError

    def feed_from(self, source: Any) -> Feed:
        """Feed what a callable or generator of the script gives for each run (dict, or tuple in placeholder order)."""
        raise NotImplementedError

    def clear_feeds(self) -> None: ...

    def feeds(self) -> tuple[Feed, ...]:
        """What the next run would feed."""
        raise NotImplementedError

    # ---- running ------------------------------------------------------------------------
    def run(self, steps: int = 1, *, until: str = "", fetches: Any = None) -> Runs:
        """Run whole steps until done, a stop, or the condition `until` holds. fetches: by default the train op and y."""
        raise NotImplementedError

    def on_run(self, session: Any, fetches: Any, feed_dict: dict | None = None, *, call: Any = None) -> tuple[Any, RunRecord]:
        """A run that the script asks for: gives its result and the record. call: the real Session.run, if patched.

        The script's exception passes through unchanged; the record is then in `records[-1]` with `error` set."""
        raise NotImplementedError

    def begin(self, fetches: Any = None, feed_dict: dict | None = None) -> Cursor:
        """Open a run to go through it op by op."""
        raise NotImplementedError

    def step_ops(self, count: int = 1) -> Cursor:
        """Execute the next `count` ops of the open run (opens one first if there is none)."""
        raise NotImplementedError

    def run_to(self, target: str) -> Cursor:
        """Execute up to and including the op of `target`."""
        raise NotImplementedError

    def finish(self) -> Runs:
        """Execute the rest of the open run."""
        raise NotImplementedError

    @property
    def cursor(self) -> Cursor | None:
        """Where the open run stands, or None."""
        raise NotImplementedError

    # ---- looking ------------------------------------------------------------------------
    def value(self, target: str, *, step: int | None = None) -> Value:
        """Value of a tensor (`W`, `W[0:3,:]`, `$2`) in the last run, or at `step`; a variable's is its present one."""
        raise NotImplementedError

    def evaluate(self, expression: str, *, keep: bool = True) -> Value:
        """A NumPy expression over tensors, handles and `$n`; becomes the next `$n` if `keep`."""
        raise NotImplementedError

    def grad(self, x: str, y: str = "", *, order: int = 1, per_example: bool = False, step: int | None = None) -> Gradient:
        """d y / d x, x any tensor; built on demand, the script's graph looks as before."""
        raise NotImplementedError

    def grads(self, target: str = "", *, y: str = "", by: str = "", sort: str = "") -> GradTable:
        """Gradients of the trainable variables (or of the tensors of `target`). by="scope" adds up name scopes."""
        raise NotImplementedError

    def hessian_cost(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full") -> HessianCost:
        raise NotImplementedError

    def hessian(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full", v: str = "",
                budget: int = 256 << 20) -> Hessian:
        """Second derivatives. kind: "full", "rows", "diag", "hvp" (with v, an expression). budget: bytes.

        Raises ResourceExhaustedError, with what to do instead, when over budget."""
        raise NotImplementedError

    # ---- explaining ---------------------------------------------------------------------
    def why(self, target: str = "", y: str = "", *, kind: str = "") -> Any:
        """Why a gradient is None, non-finite or zero. kind: "", "none", "nan", "zero". See analysis.why."""
        raise NotImplementedError

    def path(self, y: str, x: str) -> Any:
        """How the gradient flows from y to x: see analysis.flow."""
        raise NotImplementedError

    # ---- lists --------------------------------------------------------------------------
    def tensors(self, pattern: str = "", *, stats: bool = False, role: str = "") -> tuple[TensorRow, ...]:
        raise NotImplementedError

    def ops(self, pattern: str = "", *, role: str = "") -> tuple[OpRow, ...]: raise NotImplementedError
    def op(self, target: str) -> OpCard: raise NotImplementedError
    def variables(self, *, unused: bool = False) -> tuple[VariableRow, ...]: raise NotImplementedError
    def nonfinite(self) -> tuple[TensorRow, ...]: raise NotImplementedError
    def memory(self) -> Memory: raise NotImplementedError
    def script(self) -> Script: raise NotImplementedError
    def history(self) -> tuple[Value, ...]: raise NotImplementedError
    def where(self, target: str = "") -> Neighbours: raise NotImplementedError
    def source(self, place: str = "", *, around: int = 5) -> Source: raise NotImplementedError

    # ---- changing -----------------------------------------------------------------------
    def set(self, target: str, value: Any) -> Changed:
        """Change a variable now, or override a tensor's value in the runs to come. value: array, number or expression."""
        raise NotImplementedError

    def unset(self, target: str) -> None: ...
