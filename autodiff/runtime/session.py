"""Session: runs fetches, and keeps the values of variables."""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from ..core.defaults import STACKS, default_session
from ..core.devices import LOCAL_CPU
from ..core.errors import ArgumentError, InvalidArgumentError, KindError, NotFoundError, StateError
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.sparse_tensor import SparseTensor
from ..ops.common.gc_pause import collector_paused
from ..ops.common.threads import processors
from ..ops.common.turns import within
from . import fetch
from .config import SERVERS, ConfigProto, Device, RunOptions, wants_jit
from .cursor import Execution
from .feed import Feeds, Reader
from .fetch import Fetches
from .function_program import FunctionProgram, program_of
from .partial_run import PartialRun
from .plan.plan import Plan, compile_plan
from .plan.state import Run
from .plan.variable_values import Variables
from .program import Program
from .traced import traced
from .variable_aliases import after_updates, aliases_of

MOST_STEPS = 1 << 17  # of all the plans that a session keeps: some 0.7 kB each


class Session:
    """Runs operations of one graph; holds its variables' values.

    variables: operation name -> array. runs: count of runs so far. draws: name of a random operation -> in how many
    runs it has drawn; with `entropy` it decides what comes next, so setting it back repeats a run. Use it in a `with`
    block, which makes it the default session and closes it at the end.
    """

    is_repeat = False
    given: dict[Operation, tuple[Any, ...]] | None = None  # by Python functions in this run, where it is to be kept

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if not isinstance(target, str):
            raise KindError(f"target must be a string, but got {target!r}")
        if target not in ("", "local") and "://" not in target:
            raise NotFoundError(None, None, "No session factory registered for the given session options: "
                                f"{{target: {target!r}}}", hint="'', 'local' or 'grpc://HOST:PORT'")
        if graph is not None and not isinstance(graph, Graph):
            raise KindError(f"graph must be a tf.Graph, but got {type(graph)}", found=repr(graph))
        if config is not None and not isinstance(config, ConfigProto):
            raise KindError(f"config must be a tf.ConfigProto, but got {type(config)}: {config!r}")
        self.graph = graph if graph is not None else get_default_graph()
        config = config or SERVERS.get(target)
        self.sess_str, self.config = target, config
        self.variables = Variables()
        self.loaded: dict[str, tuple[str, int]] = {}  # variable -> the checkpoint that set it, runs before that
        self.entropy = int.from_bytes(os.urandom(7), "little")
        self.runs = 0
        self.draws: dict[str, int] = {}
        self.last_draws: dict[str, int] = {}  # the `Run.drawn` of the newest run
        self.closed = False
        self._threads = getattr(config, "intra_op_parallelism_threads", 0) or processors()
        self.makes: Any = (self._threads, wants_jit(self.config))  # what compiled functions depend on beside the graph
        self._time_limit = getattr(config, "operation_timeout_in_ms", 0)  # of each run, in milliseconds
        self._feeds = Feeds(self.graph)
        self._fetches: dict[Any, Fetches] = {}
        self._lists: dict[tuple[Any, ...], Fetches] = {}  # what lists of tensors and names stand for
        self._programs: dict[Any, dict[tuple[Tensor, ...], Program]] = {}
        self._kept = 0  # steps of all of them
        self._entered: list[Any] = []

    def run(self, fetches: Any, feed_dict: dict | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Values of `fetches`, in their structure: lists, tuples, dicts, named tuples of tensors, names, operations.

        feed_dict: values for any tensors in this run. run_metadata: gets the times of each operation if
        options.trace_level asks for them; options.timeout_in_ms ends a run that waits for a queue, or loops. An
        operation gives None, an IndexedSlices an IndexedSlicesValue, a SparseTensor a SparseTensorValue, a scalar a
        NumPy scalar. Raises KindError (TypeError) or a ValueError for what cannot be fetched or fed, StateError
        (RuntimeError) when closed, and an OpError that knows its operation for what fails in the run.
        """
        self._check_open()
        if options is not None and not isinstance(options, RunOptions):
            raise KindError(f"options is a tf.RunOptions, found {options!r}")
        wanted = self._wanted(fetches)
        tensors, fed = self._feeds.read(feed_dict) if feed_dict else ((), [])
        if run_metadata is not None:
            run_metadata.Clear()
            if getattr(options, "output_partition_graphs", False):
                run_metadata.partition_graphs.add().CopyFrom(self.graph_def)
            if getattr(options, "trace_level", 0):
                return traced(self.start(fetches, feed_dict), run_metadata.step_stats)
        time_limit = getattr(options, "timeout_in_ms", 0) or self._time_limit
        if time_limit:
            with within(time_limit):
                return self._values(wanted, self._program(wanted, tensors), fed)
        return self._values(wanted, self._program(wanted, tensors), fed)

    def _values(self, wanted: Fetches, program: Program, fed: Sequence[Any]) -> Any:
        values = program(self.new_run(), fed)
        if program.aliases:
            values = after_updates(values, program.aliases, self.variables)
        return wanted.rebuild(values)

    def start(self, fetches: Any, feed_dict: dict | None = None) -> Execution:
        """The same run as a cursor that stands before the first operation."""
        self._check_open()
        wanted = self._wanted(fetches)
        tensors, fed = self._feeds.read(feed_dict) if feed_dict else ((), [])
        plan = compile_plan(wanted.tensors, wanted.targets, tensors)
        return Execution(plan, wanted, self.new_run(), fed)

    def partial_run_setup(self, fetches: Any, feeds: Sequence[Any] | None = None) -> PartialRun:
        """Begin a run in parts: all that it will fetch, and all that it may be fed. Gives what partial_run takes."""
        self._check_open()
        wanted = self._wanted(fetches)
        if not wanted.tensors and not wanted.targets:
            raise InvalidArgumentError(None, None, "specify at least one target to fetch or execute.")
        tensors = [self._feeds.tensor(key) for key in feeds or ()]
        plan = compile_plan(wanted.tensors, wanted.targets, tensors)
        return PartialRun(plan, wanted, tensors, self.new_run())

    def partial_run(self, handle: PartialRun, fetches: Any, feed_dict: dict | None = None) -> Any:
        """Go on with a run in parts. Raises InvalidArgumentError for what was not set up, or comes a second time."""
        self._check_open()
        if not isinstance(handle, PartialRun):
            raise InvalidArgumentError(None, None, f"Must run 'setup' before performing partial runs! found {handle!r}")
        tensors, fed = self._feeds.read(feed_dict) if feed_dict else ((), [])
        return handle.go_on(self._wanted(fetches), dict(zip(tensors, fed)))

    def plan(self, fetches: Any, feeds: Sequence[Any] = ()) -> Plan:
        """The plan that `run` follows for these fetches and fed tensors; with its buffers if it is hot."""
        tensors = tuple(self._feeds.tensor(key) for key in feeds)
        return self._program(self._wanted(fetches), tensors).specialized

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None,
                      accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs `fetches`; its arguments are the values of `feed_list`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise KindError(f"feed_list is a list of tensors, found {feed_list!r}")
        self._check_open()
        wanted = self._wanted(fetches)
        keys = [key if isinstance(key, SparseTensor) else self._feeds.tensor(key) for key in feed_list or ()]
        tensors = tuple([key for key in keys if isinstance(key, Tensor)])
        reader = Reader(tensors) if len({*tensors}) == len(keys) else None

        def call(*values: Any, **options: Any) -> Any:
            if len(values) != len(keys):
                raise ArgumentError(expected=f"{len(keys)} values, one for each of feed_list", found=len(values))
            if reader is None or options or self.closed or getattr(self.run, "__func__", None) is not _RUN:
                return self.run(fetches, dict(zip(keys, values)), **options)
            return self._values(wanted, self._program(wanted, reader.tensors), reader(values))

        return call

    def _make_callable_from_options(self, options: Any) -> Callable[..., Any]:
        """make_callable of a CallableOptions; a run_metadata given to it is filled as run_options says."""
        call = self.make_callable([*options.fetch, *options.target], list(options.feed))
        return lambda *values, run_metadata=None: call(*values, **(
            {} if run_metadata is None else {"options": options.run_options, "run_metadata": run_metadata}))

    def compiled(self, function: Any, also: tuple[Tensor, ...] = ()) -> FunctionProgram:
        """How runs call a function graph. also: inner tensors that calls give besides."""
        return program_of(function, also, *self.makes[:2])

    @property
    def graph_def(self) -> Any:
        """The graph's GraphDef."""
        graph_options = getattr(self.config, "graph_options", None)
        return self.graph.as_graph_def(add_shapes=getattr(graph_options, "infer_shapes", False))

    def list_devices(self) -> list[Device]:
        """The CPU, as often as the options ask for it."""
        count = getattr(self.config, "device_count", {}).get("CPU", 1)
        return [Device(f"{LOCAL_CPU}:{i}", "CPU", 1 << 28, i) for i in range(count)]

    @property
    def _closed(self) -> bool:
        return self.closed

    def _check_open(self) -> None:
        if self.closed:
            raise StateError("Attempted to use a closed Session.", hint="run it inside of the session's with block")
        if not self.graph.operations:
            raise StateError("The Session graph is empty.  Add operations to the graph before calling run().",
                             hint="the model is in another tf.Graph: make the session of it, tf.Session(graph=graph)")

    def new_run(self) -> Run:
        """The state of the next run."""
        self.runs += 1
        run = Run(self, self.runs)
        self.last_draws = run.drawn
        return run

    def _wanted(self, fetches: Any) -> Fetches:
        if type(fetches) is Fetches:
            return fetches
        try:
            wanted = self._lists.get(tuple(fetches)) if type(fetches) is list else None
            if wanted is not None:
                return wanted
            key = fetch.key(fetches)
            wanted = self._fetches.get(key)
        except TypeError:
            return self._parsed(fetches)
        if wanted is None:
            wanted = self._fetches[key] = self._parsed(fetches)
        if type(fetches) is list and fetch.is_flat(fetches):
            self._lists[tuple(fetches)] = wanted
        return wanted

    def _parsed(self, fetches: Any) -> Fetches:
        return self.prepared(fetch.parse(self.graph, fetches))

    def prepared(self, wanted: Fetches) -> Fetches:
        """Fetches that this session can `run` again and again without reading them anew."""
        wanted.programs = self._programs.setdefault((wanted.tensors, wanted.targets), wanted.programs)
        return wanted

    def _program(self, wanted: Fetches, tensors: tuple[Tensor, ...]) -> Program:
        program = wanted.programs.get(tensors)
        if program is None:
            self._let_go_of_programs()
            self.prepared(wanted)
            with collector_paused():
                plan = compile_plan(wanted.tensors, wanted.targets, tensors)
                program = Program(plan, self._threads, relaxed=self.makes[1],
                                  aliases=aliases_of(wanted.tensors, tensors, plan))
            wanted.programs[tensors] = program
            self._kept += len(plan.steps)
        return program

    def _let_go_of_programs(self) -> None:
        """Drop the programs that were not used for longest, if all together have too many steps.

        They are compiled anew when they are run again, which gives the same.
        """
        if self._kept < MOST_STEPS:
            return
        programs = [(p.used, len(p.plan.steps), of, tensors)
                    for of in self._programs.values() for tensors, p in of.items()]
        self._kept = sum(steps for _, steps, *_ in programs)  # less than was added where plans lost some since
        for _, steps, of, tensors in sorted(programs, key=itemgetter(0)):
            if self._kept < MOST_STEPS // 2:
                break
            del of[tensors]
            self._kept -= steps
        for known in (self._fetches, self._lists, self._programs):
            for key in [key for key, value in known.items() if not getattr(value, "programs", value)]:
                del known[key]

    def as_default(self) -> Any:
        """A context in which this is the default session; it stays open at the end."""
        return default_session(self, nested=True)

    def close(self) -> None:
        """Refuse any further run, and drop the compiled plans."""
        self.closed = True
        self._fetches.clear()
        self._lists.clear()
        self._programs.clear()
        self._kept = 0

    def __enter__(self) -> "Session":
        if self._entered:
            raise StateError("Session context managers are not re-entrant.",
                             hint="use session.as_default() for another")
        for context in (self.graph.as_default(), default_session(self)):
            context.__enter__()
            self._entered.append(context)
        return self

    def __exit__(self, *exc: Any) -> None:
        while self._entered:
            self._entered.pop().__exit__(*exc)
        self.close()


_RUN = Session.run  # a debugger puts another in its place, which is to see all runs


class RepeatSession(Session):
    """A session for looking at runs that another one made: its own print nothing."""

    is_repeat = True


class InteractiveSession(Session):
    """A session that makes itself, and a graph given to it, the default ones until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        if any(isinstance(session, InteractiveSession) for session in STACKS.sessions):  # of this thread: scripts end
            warnings.warn("An interactive session is already active. This can cause out-of-memory errors in some "
                          "cases. You must explicitly call `InteractiveSession.close()` to release resources held by "
                          "the other session(s).", stacklevel=2)
        self._defaults = [default_session(self)] + ([] if graph is None else [graph.as_default()])
        for context in self._defaults:
            context.__enter__()

    def close(self) -> None:
        super().close()
        while self._defaults:
            self._defaults.pop().__exit__(None, None, None)
