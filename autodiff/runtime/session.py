"""Session: runs what is asked for, and keeps the values of variables."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..convert import as_array
from ..errors import (AutodiffError, FailedPreconditionError, GraphError, InvalidArgumentError, KindError, ShapeError,
                      StateError)
from ..graph import Graph, Operation, Tensor, default_session, get_default_graph
from ..indexed_slices import IndexedSlices, IndexedSlicesValue
from ..shapes import compatible, show
from .plan import Plan, compile_plan


class Run:
    """What a kernel may ask of the session: variables, random streams. op: the operation under way."""

    def __init__(self, session: "Session", number: int) -> None:
        self.session, self.number = session, number
        self.op: Operation = None  # type: ignore[assignment]

    def read(self, name: str) -> np.ndarray:
        value = self.session.variables.get(name)
        if value is None:
            raise FailedPreconditionError(None, self.op, f"variable {name!r} is not initialised\nrun "
                                          "tf.global_variables_initializer() first")
        return value

    def assign(self, name: str, value: Any) -> Any:
        self.session.variables[name] = np.array(value)
        return value

    def is_initialized(self, name: str) -> np.bool_:
        return np.bool_(name in self.session.variables)

    def not_fed(self) -> Any:
        tensor = self.op.outputs[0]
        raise InvalidArgumentError(None, self.op, f"placeholder {tensor.name!r} must be fed: {tensor.describe()}\npass "
                                   f"feed_dict={{{self.op.name}: value}}")

    def stream(self, seed: int, seed2: int) -> np.random.Generator:
        """The random numbers of one op in this run: counter-based, so that a replay draws the same."""
        key = (self.session.entropy if not seed and not seed2 else 0) ^ (seed & 0xFFFFFFFF) << 32 ^ (seed2 & 0xFFFFFFFF)
        return np.random.Generator(np.random.Philox(key=[key, self.op.index], counter=[0, 0, 0, self.number]))


class Session:
    """Runs operations of one graph; holds its variables' values. variables: op name -> array."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        self.graph = graph or get_default_graph()
        self.variables: dict[str, np.ndarray] = {}
        self.entropy = int.from_bytes(os.urandom(7), "little")
        self.runs = 0
        self.closed = False
        self._plans: dict[Any, Plan] = {}
        self._entered: list[Any] = []

    def run(self, fetches: Any, feed_dict: dict | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Values of `fetches`, in their structure."""
        if self.closed:
            raise StateError("attempted to use a closed Session")
        leaves: list[Any] = []
        rebuild = self._structure(fetches, leaves)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        targets = [x for x in leaves if isinstance(x, Operation)]
        feeds = self._feeds(feed_dict or {})
        key = (tuple(tensors), tuple(targets), tuple(feeds))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = compile_plan(tensors, targets, list(feeds))
        values = dict(zip(tensors, self._execute(plan, list(feeds.values()))))
        return rebuild(iter([values.get(x) if isinstance(x, Tensor) else None for x in leaves]))

    def _execute(self, plan: Plan, fed: list[Any]) -> list[Any]:
        self.runs += 1
        run = Run(self, self.runs)
        slots: list[Any] = [None] * plan.size
        for slot, value in zip(plan.feeds, fed):
            slots[slot] = value
        with np.errstate(all="ignore"):
            for step in plan.steps:
                run.op = op = step.op
                try:
                    if step.reads is not None:
                        slots[step.outputs[0]] = run.read(step.reads)
                        continue
                    args = [i if isinstance(i, str) else slots[i] for i in step.inputs]
                    attrs = {**op.attrs, "run": run} if op.definition.takes_run else op.attrs
                    result = op.definition.kernel(*args, **attrs)
                except AutodiffError as error:
                    raise error.explain(f"in {op.name}: {op.describe()}", f"written at {op.site}") from None
                except (ValueError, IndexError, TypeError, np.linalg.LinAlgError) as error:
                    raise InvalidArgumentError(None, op, f"{error}\nin {op.name}: {op.describe()}\nwritten at {op.site}"
                                               ) from error
                if len(step.outputs) == 1:
                    slots[step.outputs[0]] = result
                else:
                    for slot, value in zip(step.outputs, result):
                        slots[slot] = value
        return [_out(slots[i]) for i in plan.fetches]

    def _feeds(self, feed_dict: dict) -> dict[Tensor, Any]:
        feeds: dict[Tensor, Any] = {}
        for key, value in feed_dict.items():
            try:
                tensor = self.graph.as_graph_element(key, allow_operation=False)
            except AutodiffError as error:
                raise KindError(f"cannot feed {key!r}: {error.message}") from None
            if isinstance(value, Tensor):
                raise KindError(f"the value fed for {tensor.name!r} is a tensor: expected an array or number")
            dtype = tensor.dtype.base_dtype
            array = as_array(value, dtype) if dtype.name == "string" else np.asarray(value, dtype.as_numpy_dtype)
            if not compatible(tensor.dims, array.shape):
                raise ShapeError(f"cannot feed a value of shape {show(array.shape)} for {tensor.describe()}")
            feeds[tensor] = array
        return feeds

    def _structure(self, fetch: Any, leaves: list[Any]) -> Any:
        """Append the elements of `fetch` to `leaves`; gives a function from their values to its structure."""
        if isinstance(fetch, (list, tuple)) and not isinstance(fetch, IndexedSlicesValue):
            parts = [self._structure(item, leaves) for item in fetch]
            kind = type(fetch)
            make = (lambda items: kind(*items)) if hasattr(fetch, "_fields") else kind
            return lambda values: make([part(values) for part in parts])
        if isinstance(fetch, dict):
            named = {key: self._structure(item, leaves) for key, item in fetch.items()}
            return lambda values: type(fetch)((key, part(values)) for key, part in named.items())
        if isinstance(fetch, IndexedSlices):
            inner = [self._structure(f, leaves) for f in (fetch.values, fetch.indices, fetch.dense_shape)
                     if f is not None]
            return lambda values: IndexedSlicesValue(*([part(values) for part in inner] + [None])[:3])
        try:
            leaves.append(self.graph.as_graph_element(fetch))
        except KindError as error:
            raise KindError(f"cannot fetch {fetch!r}: {error.message}") from None
        except AutodiffError as error:
            raise GraphError(f"cannot fetch {fetch!r}: {error.message}") from None
        return next

    def as_default(self) -> Any:
        return default_session(self)

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> "Session":
        for context in (self.graph.as_default(), default_session(self)):
            context.__enter__()
            self._entered.append(context)
        return self

    def __exit__(self, *exc: Any) -> None:
        for context in (self._entered.pop(), self._entered.pop()):
            context.__exit__(*exc)
        self.close()


class InteractiveSession(Session):
    """A session that makes itself the default one."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._default = default_session(self)
        self._default.__enter__()

    def close(self) -> None:
        if not self.closed:
            self._default.__exit__(None, None, None)
        super().close()


def _out(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
