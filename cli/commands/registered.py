"""GradientsDebugger's methods, typed: identify, register, gradient_tensor, gradient_tensors."""
from __future__ import annotations

from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.derivative_answers import DebuggerRow, Registered

from ..language.command import command
from ..language.target_kinds import Target, X
from ..model.results import Array, Column, Result, Table, Text
from ..model.shell import Shell
from ..view.debugger_rows import place, shape


@command("identify", group="Gradients")
def identify(shell: Shell, target: Target) -> Result:
    """Make a forwarded identity of a tensor, under the name debug_NAME; what is built on it registers its gradient.

    As GradientsDebugger.identify_gradient does. Only what flows through the identity counts as the gradient of
    TARGET, so build on the identity from then on: python z = tf.square(debug_y), then train z or tf.gradients.

    Example:  identify hidden1/Relu
    API:      dbg.debuggers.identify("hidden1/Relu")
    """
    made = shell.dbg.debuggers.identify(target)
    if shell.script is not None:
        shell.script.namespace.setdefault(made.handle, shell.dbg.handles[made.handle])
    return Text(f"{made.handle} = {made.name}, a forwarded identity of {made.of}\n"
                f"build on {made.handle} from now on: the gradient through it counts as that of {made.of}\n"
                f"for instance: python z = tf.square({made.handle}), then train z")


@command("register", group="Gradients")
def register(dbg: Debugger, x: X, gradient: Target) -> Result:
    """Take a tensor in as the gradient tensor of X, as GradientsDebugger.register_gradient_tensor does.

    Each X is registered once: what train and tf.gradients have registered already stays.

    Example:  register hidden1/Relu hidden1/MatMul
    API:      dbg.debuggers.register("hidden1/Relu", "hidden1/MatMul")
    """
    made = dbg.debuggers.register(x, gradient)
    return Text(f"{made.gradient} is registered as the gradient tensor of {made.x}")


@command("gradient_tensor", group="Gradients")
def gradient_tensor(dbg: Debugger, x: X) -> Result:
    """Show the gradient tensor that is registered for X: its name, dtype and shape, and after a run its value.

    What identify, watch and register arrange is registered when a gradient is built: by train, or by tf.gradients
    in python. A GradientsDebugger of the script is asked too.

    Example:  gradient_tensor hidden1/weights
    API:      dbg.train("loss"), dbg.debuggers.gradient_tensor("hidden1/weights")
    """
    found = dbg.debuggers.gradient_tensor(x)
    of = f"gradient of {found.y} by {found.x}" if found.y else f"registered for {found.x}"
    who = f"{of}, registered with {found.debugger}"
    if found.value is None:
        return Text(f"{found.gradient}  {found.dtype}{shape(found.shape)}\n{who}\n"
                    "it has no value yet: next runs a step")
    value = dbg.evaluate(found.gradient)
    return Array(found.gradient, value.array, f"${value.number}", notes=(f"{found.when}; {who}",))


@command("gradient_tensors", group="Gradients")
def gradient_tensors(dbg: Debugger) -> Result:
    """Table of all gradient tensors that GradientsDebuggers have registered: the prompt's, and the script's own.

    Example:  gradient_tensors
    API:      dbg.debuggers.gradient_tensors(), dbg.debuggers.rows()
    """
    rows = dbg.debuggers.gradient_tensors()
    if not rows:
        return Text("no gradient tensor is registered: watch X or identify X, then train LOSS", "quiet")
    columns = (Column("x-tensor", "name"), Column("gradient tensor", "name", 7), Column("y", "name", 5),
               Column("dtype", "text", 4), Column("shape"), Column("norm", "number"), Column("made at", "place", 3),
               Column("debugger", "text", 2))
    return Table(columns, tuple(map(_cells, rows)), f"{len(rows)} gradient tensors", _when(rows))


def _cells(row: Registered) -> tuple[object, ...]:
    return (row.x, row.gradient, row.y, row.dtype, shape(row.shape), row.stats.norm if row.stats else None,
            place(row.place), row.debugger)


def _when(rows: tuple[Registered, ...]) -> tuple[str, ...]:
    when = next((row.when for row in rows if row.when), "")
    return (f"norms of {when}",) if when else ("no norms yet: next runs a step",)


@command("info debuggers", group="Gradients")
def debuggers(dbg: Debugger) -> Result:
    """List the GradientsDebuggers, the prompt's and the script's: what they have, and what they wait for.

    Example:  info debuggers
    API:      dbg.debuggers.rows()
    """
    return debuggers_table(dbg.debuggers.rows())


def debuggers_table(rows: tuple[DebuggerRow, ...]) -> Table:
    """What each GradientsDebugger has, and what it waits for."""
    columns = (Column("debugger", "name"), Column("y_tensor", "name", 6), Column("graph", "text", 5),
               Column("registered", "name"), Column("awaited", "name"))
    cells = tuple((row.name, row.y or "any", row.graph, ", ".join(row.registered), ", ".join(row.awaited))
                  for row in rows)
    return Table(columns, cells, f"{len(rows)} GradientsDebugger{'s' * (len(rows) != 1)}",
                 ("gradient_tensors shows what is registered; what is awaited comes with the next gradient built",))
