"""The script and what it is fed: load, train, feed."""
from __future__ import annotations

import ast
import contextlib
import os
from typing import Annotated, Any

from autodiff import foreign
from autodiff.core.errors import AutodiffError
from autodiff.debug.debugger import Debugger
from autodiff.debug.history.recording import is_recording
from autodiff.foreign.script_survey import Judged, judged
from autodiff.tensorflow_names.survey import missing_modules, used_names
from autodiff.tensorflow_names.survey import survey as survey_names

from ..language.argument_kinds import FileKind, Float, Word
from ..language.command import command
from ..language.optimizer_kind import OptimizerKind
from ..language.target_kinds import Assigned, Target, TargetKind
from ..model.results import Column, Error, Result, Table, Text
from ..model.script_errors import remedy_of_module
from ..model.script_source import script_text
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.drawn.progress import seen
from ..view.text import count_of, first_of
from . import standing
from .info import fed

Script = Annotated[str, FileKind()]
Optimizer = Annotated[Any, OptimizerKind()]
Loss = Annotated[str, TargetKind("Y")]


@command("load", group="Script", aliases=("file",), shorthands={"start restart": "load"})
def load(shell: Shell, file: Script = "", *arguments: Word) -> Result:
    """Run a model script up to its first Session.run, or to its end when it only builds a graph.

    FILE may be a recording, or a model: ONNX, a frozen graph (.pb, .pbtxt), a .meta file beside its checkpoint, a
    SavedModel's directory, or a dump of tfdbg's; its inputs are fed from an .npz file of its name. It takes the place
    of the script that is loaded; watches and breakpoints stay, by name. The words after FILE are the script's sys.argv.
    The script is not edited: its own Session.runs become the steps of next, continue and step. Without FILE it loads
    again what is there, with the same arguments.

    Example:  load scripts/models/digits_loop.py
    API:      Debugger(graph, session)
    """
    if not file:
        with loading(shell, os.path.basename(shell.script.name) if shell.script is not None else ""):
            event = shell.load_again()
        return standing.arrived(shell, event)
    if is_recording(os.path.expanduser(file)):
        with loading(shell, file):
            found = shell.open_recording(os.path.expanduser(file))
        return Text(f"recording {found.path}: {found.runs} runs; the last is looked at, back and goto step N go on")
    if is_model(file):
        with loading(shell, file):
            model = shell.open_model(os.path.expanduser(file))
        return _opened(shell, model)
    with loading(shell, file):
        event = shell.load(os.path.expanduser(file), arguments)
    return standing.arrived(shell, event)


def loading(shell: Shell, file: str) -> contextlib.AbstractContextManager[None]:
    """Inside, where loading takes long, it is said what the script does."""
    before = shell.script

    def doing() -> str:
        line = shell.script.doing() if shell.script is not None and shell.script is not before else ""
        return f"loading {os.path.basename(file)}" + (f", line {line.partition(':')[2]}" if line else "")

    return seen(doing)


def is_model(file: str) -> bool:
    """Whether a file or directory is a stored model, or a recording, rather than a script."""
    file = os.path.expanduser(file)
    return file.lower().endswith(".onnx") or is_recording(file) or foreign.is_tensorflow_model(file)


def _opened(shell: Shell, model: foreign.Model) -> Result:
    """What there is in a model, and what to do with it."""
    card = shell.dbg.script()
    fed = {tensor.name for tensor in model.feeds}
    waiting = [name for name, tensor in model.inputs.items() if tensor.name not in fed]
    lines = [f"{os.path.basename(card.file)}: {count_of(card.ops, 'op')}, "
             f"{count_of(card.variables, 'variable')}, {count_of(card.parameters, 'parameter')}",
             f"inputs: {', '.join(tensor.describe() for tensor in model.inputs.values()) or 'none'}",
             f"outputs: {', '.join(tensor.describe() for tensor in model.outputs)}"]
    if fed:
        source = "what was dumped" if os.path.isdir(card.file) else "the .npz file beside it"
        lines.append(f"fed from {source}: {', '.join(sorted(fed))}")
    if waiting:
        lines.append(f"feed gives values to: {', '.join(waiting)}")
    first = next(iter(model.outputs)).op.name
    lines.append(f"run computes the outputs; python loss = tf.reduce_sum(tf.square({first})) builds a loss of them")
    return Text("\n".join(lines))


def survey(file: str) -> Result:
    """What a script, or an ONNX model, needs that is not there; a script's modules that are not installed, too.

    A Table if there is any; the script is not run.

    Of a PyTorch or JAX script its text tells only which functions have an op of their own name.

    An Error if it cannot be said.
    """
    if not file.lower().endswith(".onnx"):
        return _surveyed_script(file)
    try:
        missing = foreign.survey(file)
    except (AutodiffError, OSError) as error:
        return Error(str(error), "no_script")
    if not missing:
        return Text(f"{os.path.basename(file)}: every op is there")
    columns = (Column("op not there", "name"), Column("nodes"), Column("first at"))
    return Table(columns, tuple((row.op, row.uses, str(row.site or "")) for row in missing))


def _surveyed_script(file: str) -> Result:
    try:
        text = script_text(file)
        missing, tree = survey_names(text, file), ast.parse(text, file)
        frameworks = [judged(root, names) for root in foreign.FRAMEWORKS if (names := list(used_names(tree, root)))]
        modules = missing_modules(tree, (os.path.dirname(os.path.abspath(file)), os.getcwd()))
        absent = [root for root in foreign.FRAMEWORKS if modules.pop(root, ())]
    except SyntaxError as error:
        return Error(f"{file} is not Python: {error}", "script_syntax")
    except UsageError as error:
        return Error(error.sentence, error.code, error.hint)
    if not missing and not modules:
        name = os.path.basename(file)
        told = [f"{name}: {_told(each)}" for each in frameworks]
        return Text("\n".join([*told, *(f"  {root} is not there: {remedy_of_module(root)}" for root in absent)])
                    or f"{name}: every TensorFlow name is there")
    columns = (Column("name not there", "name"), Column("lines"), Column("instead", "prose"))
    return Table(columns, (
        *((f"import {name}", ", ".join(map(str, lines)), remedy_of_module(name)) for name, lines in modules.items()),
        *((row.name, ", ".join(map(str, row.lines)), row.advice) for row in missing)))


def _told(found: Judged) -> str:
    """What the text of a script of another framework says of its ops, and what it does not."""
    there = f"{count_of(len(found.there), f'{found.framework} function')} with an op of that name"
    listed = ", ".join(f"{name} (line {', '.join(map(str, lines))})" for name, lines in found.unsaid)
    return (f"{there}{': ' if found.there else ''}{', '.join(found.there)}\n"
            + (f"  not by that name, and perhaps made of others: {listed}\n" if listed else "")
            + "  what layers, methods and composed functions need is said when a step runs: nothing was run here")


@command("train", group="Script")
def train(shell: Shell, y: Loss = "", *, optimizer: Optimizer = "sgd", lr: Float = 0.01, vars: Target = "",
          clip_norm: Float | None = None, grad_loss: Target = "") -> Result:
    """Build a train op that minimizes Y, under a GradientsDebugger with the watches applied.

    Y is a scalar of the script, by default the one that gradients are of already. From then on next and continue run
    this train op, and beside it those that train other variables; info trains lists them. optimizer: one of tf.train's
    by name, with its options if it is to have some, or an expression of the script; sgd unless told. lr: its learning
    rate; vars: only these variables; clip-norm: gradients are scaled down to this norm in all; grad-loss: the tensor
    that Y receives in place of ones. Missing gradients are listed with their reason.

    Example:  train loss --optimizer adam --lr 0.01
              train loss --optimizer "momentum(momentum=0.5, use_nesterov=True)" --lr 0.1
    API:      dbg.train("loss", optimizer="adam", lr=0.01), dbg.training.rows()
    """
    dbg = shell.dbg
    variables = dbg.resolve(vars) if vars else ()
    made = dbg.train(y, optimizer=optimizer, lr=lr, variables=variables, clip_norm=clip_norm, grad_loss=grad_loss)
    waiting = shell.drives_script
    shell.own_runs = True
    rate = f", learning rate {lr:g}" if isinstance(optimizer, str) else ""
    clip = f", gradients clipped to norm {clip_norm:g}" if clip_norm else ""
    lines = [f"train op {made.train_op}: {made.optimizer}{rate}{clip}, of {made.y} by "
             f"{count_of(len(made.variables), 'variable')}"]
    if made.watched:
        lines.append(f"gradients watched: {count_of(len(made.watched), 'tensor')}: {first_of(made.watched)}")
    beside = [row.train.train_op for row in dbg.training.rows() if row.runs and row.train.train_op != made.train_op]
    if beside:
        lines.append(f"each step runs it beside {', '.join(beside)}")
    lines += [f"no gradient for {name}: {reason}" for name, reason in made.without_gradient]
    if made.uninitialized:
        waits = count_of(made.uninitialized, "variable")
        lines.append(f"{waits} {'is' if made.uninitialized == 1 else 'are'} initialized at the first run")
    if waiting:
        lines.append(f"next now runs this train op; the script waits at {shell.where()}")
    return Text("\n".join(lines))


@command("info trains", group="Script")
def trains(dbg: Debugger) -> Result:
    """List the train ops that the prompt built: of what, by which optimizer, and whether a step runs them.

    Example:  info trains
    API:      dbg.training.rows()
    """
    rows = dbg.training.rows()
    if not rows:
        return Text("the prompt has built no train op; train LOSS builds one", "quiet")
    columns = (Column("train op", "name"), Column("of", "name"), Column("optimizer"), Column("variables", "name", 5),
               Column("runs", "text"))
    return Table(columns, tuple((row.train.train_op, row.train.y, row.train.optimizer, first_of(row.train.variables),
                                 "yes" if row.runs else "no, a newer one updates them") for row in rows),
                 f"{len(rows)} train op{'s' * (len(rows) != 1)}")


@command("feed", group="Script")
def feed(shell: Shell, target: Target | None, value: Assigned | None, *, from_: Word = "",
         clear: bool = False) -> Result:
    """Give values to placeholders, or to any tensor, for the runs to come.

    EXPR is a NumPy expression. --from takes a function or generator of the script that gives a feed_dict, or a
    tuple in the order of the placeholders, for each step. --clear forgets all; without arguments it says what
    the next run is fed. A script that defines feeds() is fed from it without being asked.

    Example:  feed images = np.zeros((2, 64))
    API:      dbg.feed("images", np.zeros((2, 64))), dbg.feed_from(feeds), dbg.feeds.rows(), dbg.feeds.clear()
    """
    dbg = shell.dbg
    if clear:
        dbg.feeds.clear()
        return Text("nothing is fed by the prompt any more")
    if from_:
        source = shell.script.handles().get(from_) if shell.script else None
        if source is None:
            raise UsageError(f"the script has no {from_!r}",
                             "give the name of a function or generator that yields feed_dicts", code="unknown_name")
        dbg.feed_from(source)
        return Text(f"each step is fed from {from_}")
    if target is None:
        return fed(dbg)
    if value is None:
        raise UsageError("feed needs = EXPR", f"feed {target} = EXPR")
    made = dbg.feed(target, value)
    return Text(f"{made.name} = {made.text}")
