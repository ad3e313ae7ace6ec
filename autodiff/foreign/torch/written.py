"""What the remedies of findings are in a PyTorch script: the lines that they change, where these are surely known."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ...core.graph import Graph, Operation
from ...core.site import Site
from ...core.traversal import ancestors
from ...debug.analysis.advice import advice_of
from ...debug.analysis.mistakes.heads import unbroadcast
from ...debug.analysis.mistakes.units import order_of, order_told
from ...debug.analysis.scripts.calls import owner_text
from ...debug.analysis.scripts.columns import apart
from ...debug.facts.records import Place
from ...debug.facts.roles import VARIABLES
from .. import new_calls, new_lines
from ..new_calls import calls_on, copied_to_the_other, given_too, other_step, turned_mask, with_word, without_call
from ..new_lines import At, NewLines, Rules, after, before, last_name, moved, nodes_on, replaced, text_on, tight
from ..script_lines import assigned_on, holding, line_of_name, loops_around, on_lines, spelled
from .batches import given_on, source_of_batches
from .of_losses import in_logarithms, over_count, summed_too
from .uncut import called_itself, connected, redrawn, unrecorded
from .unused import remedies

_DRAWN = {**dict.fromkeys(("zeros_", "ones_", "constant_"), "{0}.normal_({1}, std=0.1)"),
          **dict.fromkeys(("fill_", "zero_"), "{0}.normal_(0, 0.1)")}  # what fills with one number, and what at random


class Known(NamedTuple):
    """What is known of a script. stepped, called, backward: the lines of the last optimizer.step(), forward pass and
    backward(); rated: of the optimizer that has the rate. are_shares: whether a loss of logarithms was given
    shares; late: where a layer was made after the optimizer that lacks it; is_around: or
    what makes one of both was called."""

    graph: Graph
    stepped: Site | None = None
    called: Site | None = None
    backward: Site | None = None
    rated: Site | None = None
    are_shares: bool = False
    late: Site | None = None
    is_around: bool = False


_At = At[Known]


def _op(at: _At) -> Operation | None:
    """The op that a finding is about."""
    return at.known.graph.operations.get(at.finding.op)


def _calls(at: Site | _At | None, *names: str) -> Iterator[ast.Call]:
    """As calls_on; none of no line."""
    return calls_on(at.file, at.line, *names) if at is not None else iter(())


def _zeroed(at: _At) -> Iterator[NewLines]:
    """After the step that has used the gradients; a scaler's is given the optimizer. By hand, before backward."""
    yield before(at.file, at.line, at.finding.written) if at.finding.written else {}
    for call in _calls(site := at.known.stepped, "step"):
        name = ast.unparse(call.args[0]) if call.args else owner_text(call)
        yield after(site.file, site.line, f"{name}.zero_grad()") if site is not None else {}


def _stepped(at: _At) -> Iterator[NewLines]:
    """After backward: of the optimizer that is told, or the one whose gradients are zeroed in the loop or function."""
    if at.finding.op_type:
        yield after(at.file, at.line, f"{at.finding.op}.step()") if at.finding.op else {}
        return
    parts = [node for node in holding(at.file, at.line) if isinstance(node, (ast.For, ast.While, ast.FunctionDef))]
    lines = [line for part in parts[-1:] for line in range(part.lineno, (part.end_lineno or 0) + 1)]
    names = {owner_text(call) for line in lines for call in _calls(Site(at.file, line, ""), "zero_grad")}
    if len(names) == 1 and "" not in names:
        yield after(at.file, at.line, f"{names.pop()}.step()")


def _training(at: _At) -> Iterator[NewLines]:
    """Before the call of the module in the training."""
    for call in _calls(site := at.known.called):
        if site is not None and isinstance(call.func, (ast.Name, ast.Attribute)) and last_name(
                call.func) in at.finding.op.split("."):
            yield before(site.file, site.line, f"{ast.unparse(call.func)}.train()")


def _once_an_epoch(at: _At) -> Iterator[NewLines]:
    """Behind the loop over the batches, in that over the epochs."""
    loops, statement = loops_around(at.file, at.line), on_lines(at.file).get(at.line)
    if len(loops) > 1 and statement is not None:
        end, text = loops[-1].end_lineno or 0, f"{' ' * loops[-1].col_offset}{ast.unparse(statement)}"
        yield {(at.file, end): text} if end == at.line else moved(
            at.file, at.line, {(at.file, end): f"{text_on(at.file, end)}\n{text}"})


def _weighed(at: _At) -> Iterator[NewLines]:
    """The sum for a mean over the examples too, or as many times the mean."""
    if "of a batch" in at.finding.text:
        yield from summed_too(_op(at))
    for call in [*_calls(at, "mean", "mse_loss", "l1_loss"), *_calls(at)][:1]:
        yield replaced(at.file, call, f"{at.finding.written} * {{}}")


def _one_shape(at: _At) -> Iterator[NewLines]:
    """The last axis, of one, is dropped of what is given to the loss, or subtracted."""
    op = _op(at)
    dims = [unbroadcast(t).dims or () for t in op.inputs] if op is not None else []
    if sorted(map(len, dims)) != [1, 2] or (column := max(dims, key=len))[-1] != 1:
        return
    position = dims.index(column)
    for node in nodes_on(at.file, at.line):
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else (
            node.args if isinstance(node, ast.Call) else [])
        if len(sides) == 2:
            yield replaced(at.file, sides[position], f"{tight(sides[position])}.squeeze(1)")


def _reached(at: _At) -> Iterator[NewLines]:
    op = _op(at)
    yield redrawn(at.file, at.line) if "through; or weigh" in at.finding.remedy else {}
    if op is None or op.type in ("StopGradient", *VARIABLES):
        around = unrecorded(op.traceback) if op is not None else None
        yield called_itself(op.traceback) if around is not None and op is not None else {}
        yield from (connected(*each) for each in ((at.file, at.line), *([around[:2]] if around is not None else ())))


def _drawn(at: _At) -> Iterator[NewLines]:
    """Values at random in place of one number."""
    for call in _calls(at, *_DRAWN):
        given = ast.unparse(call.args[0]) if call.args else ""
        how = "{0}.xavier_uniform_({1})" if given.endswith("weight") else _DRAWN[last_name(call.func)]
        yield replaced(at.file, call, how.format(owner_text(call), given))
    for call in _calls(at, "zeros", "ones", "zeros_like", "ones_like"):
        yield replaced(at.file, call, "0.1 * " + re.sub("zeros|ones", "randn", ast.unparse(call)))


def _other_axis(at: _At) -> Iterator[NewLines]:
    """The last axis; the one before where that is of one, as of scores for places."""
    op = _op(at)
    while op is not None and op.inputs and op.type != "Transpose":
        op = op.inputs[0].op
    dims = op.inputs[0].dims if op is not None and op.inputs else None
    for call in _calls(at, "softmax", "log_softmax"):
        given = [word.value for word in call.keywords if word.arg == "dim"] + call.args[1:2] + call.args[:1] * (
            owner_text(call).rpartition(".")[2] not in ("F", "torch", "functional"))
        if dims and given:
            yield replaced(at.file, given[0], "1" if dims[-1] == 1 else "-1")


def _turned(at: _At) -> Iterator[NewLines]:
    """The other sign where the parameters are changed, or a rate above 0."""
    for call in _calls(site := at.known.rated):
        for given in (word.value for word in call.keywords if site and word.arg == "maximize"):
            yield replaced(site.file, given, "False") if site else {}
        for given in [word.value for word in call.keywords if word.arg == "lr"] + call.args[1:2]:
            if site and isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub):
                yield replaced(site.file, given, new_lines.part_of(site.file, given.operand))
    yield other_step(at.file, at.line)


_RAISING = {  # schedules that may raise a rate -> the argument that says how far, and its place
    "LambdaLR": ("lr_lambda", 1), "OneCycleLR": ("max_lr", 1), "CyclicLR": ("max_lr", 2), "ExponentialLR": ("gamma", 1),
    "StepLR": ("gamma", 2), "MultiStepLR": ("gamma", 2)}


def slower(factor: float, known: Known) -> NewLines:
    """A part of the rate, where the optimizer is given it, or the schedule that raises it."""
    for call in _calls(site := known.rated):
        word, place = _RAISING.get(last_name(call.func), ("lr", 1))
        for given in [each.value for each in call.keywords if each.arg == word] + call.args[place:place + 1]:
            given, said = (given.body, "{} * {:g}") if isinstance(given, ast.Lambda) else (
                given, "lambda *at: {}(*at) * {:g}" if word == "lr_lambda" else "{} * {:g}")
            is_number = isinstance(given, ast.Constant) and isinstance(given.value, (int, float))
            number = ast.literal_eval(given) if is_number else 0
            less = 1 / number if word == "gamma" and number else number * factor
            return replaced(site.file, given, f"{less:g}" if is_number else said.format(
                tight(given), factor)) if site is not None else {}
    return {}


def _worded(names: str, name: str, text: str) -> Callable[[_At], Iterator[NewLines]]:
    """A word of a call of one of these names, as it is to be."""
    return lambda at: (with_word(at.file, at.line, called, name, text) for called in names.split())


def _scaled(at: _At) -> Iterator[NewLines]:
    """After the last line outside of loops that makes what is fed, or what it is taken from."""
    name = re.sub(r"_\d+$", "", at.finding.target.partition(":")[0])
    name, is_cast = source_of_batches(at.file, name if line_of_name(at.file, name) else given_on(at.file, at.line))
    lines = [line for line in on_lines(at.file) if name in assigned_on(at.file, line)]
    if lines and name.isidentifier() and not loops_around(at.file, max(lines)):
        real, axis = f"{name}.float()" if is_cast else name, "" if "whole" in at.finding.text else "0"
        yield after(at.file, max(lines), f"{name} = " + (
            f"{name} / 255" if "pixels" in at.finding.text else
            f"({real} - {real}.mean({axis})) / ({real}.std({axis}) + 1e-8)"))


def _shares(at: _At) -> Iterator[NewLines]:
    op = _op(at)
    yield in_logarithms(at.known.graph, op) if op is not None else {}


def _logarithms(at: _At) -> Iterator[NewLines]:
    how = "({} + 1e-9).log()" if at.known.are_shares else "{}.log_softmax(1)"
    for call in _calls(at):
        if len(call.args) > 1:
            yield replaced(at.file, call.args[0], how)


def _numbers_summed(at: _At) -> Iterator[NewLines]:
    for node in nodes_on(at.file, at.line):
        if isinstance(node, ast.AugAssign) and isinstance(node.value, (ast.Name, ast.Attribute)):
            yield replaced(at.file, node.value, "{}.item()")


def _registered(at: _At) -> Iterator[NewLines]:
    """A plain list of layers as one that parameters() looks into; a layer made before its optimizer; such values."""
    yield new_lines.scaled_inside(at.file, at.line)
    statement = on_lines(at.file).get(at.line)
    if lists_layers(statement):
        kind = "Dict" if isinstance(statement.value, (ast.Dict, ast.DictComp)) else "List"  # type: ignore
        what = "Parameter" if "Parameter(" in ast.unparse(statement.value) else "Module"  # type: ignore
        yield new_lines.listed(at.file, at.line, f"{spelled(at.file, 'torch.nn')}.{what}{kind}")
    yield from new_lines.made_before(at.file, at.line, at.known.late.line, is_around=at.known.is_around) if (
        at.known.late is not None) else ()


def lists_layers(statement: ast.stmt | None) -> bool:
    """Whether it keeps what is made on its line in a plain list, or a dict."""
    return isinstance(statement, ast.Assign) and isinstance(statement.value, (
        ast.List, ast.ListComp, ast.Dict, ast.DictComp))


def thawed(frozen: Place | None, made: Sequence[Place | None]) -> NewLines:
    """Where parameters are frozen, so that they are not; or what an optimizer is given so before it is made."""
    if frozen is None:
        return {}
    for node in nodes_on(frozen.file, frozen.line) if not made else ():
        if isinstance(node, ast.Constant) and node.value is False:
            return replaced(frozen.file, node, "True")
    for place in filter(None, made):
        for call in _calls(Site(place.file, place.line, "")):
            given = ast.unparse(call.args[0]) if call.args else ""
            if given.endswith(".parameters()") and place.line > frozen.line:
                return before(place.file, place.line, f"for p in {given}: p.requires_grad_(True)")
    return {}


def _unfrozen(at: _At) -> Iterator[NewLines]:
    """A table of embeddings that is trained."""
    for call in _calls(at, "from_pretrained"):
        yield replaced(at.file, call.args[-1], "{}, freeze=False") if call.args and not call.keywords else {}


def _moved_axes(at: _At) -> Iterator[NewLines]:
    """The axes in the order that a view has taken for theirs; first, where their number is to change too."""
    op = _op(at)
    order = order_of(op) or order_told(op, at.finding) if op is not None and op.inputs else ()
    for call in _calls(at, "view", "reshape") if op is not None and order else ():
        source = call.args[0] if (is_function := owner_text(call) == "torch") else call.func.value  # type: ignore
        moved_to = f"{tight(source)}.permute({', '.join(map(str, order))})"
        old, new = op.inputs[0].dims or (), op.outputs[0].dims or ()  # type: ignore[union-attr]
        if [old[i] for i in order] == [*new]:
            yield replaced(at.file, call, moved_to.replace("{}", ast.unparse(source)))
        yield replaced(at.file, source, moved_to) if is_function else replaced(
            at.file, call.func, f"{moved_to.replace('{}', ast.unparse(source))}.reshape")


def _shuffled(at: _At) -> Iterator[NewLines]:
    """The only loader of data that is not told to shuffle."""
    calls = {(node.lineno, node.col_offset): node for line in on_lines(at.file) for node in _calls(
        Site(at.file, line, ""), "DataLoader")}
    plain = [node for node in calls.values() if not any(word.arg == "shuffle" and ast.unparse(word.value) == "True" or
                                                        word.arg in ("sampler", "batch_sampler", None)
                                                        for word in node.keywords) and node.args]
    for call in plain if len(calls) == 1 else ():
        told = [word.value for word in call.keywords if word.arg == "shuffle"]
        yield replaced(at.file, told[0], "True") if told else replaced(
            at.file, [*call.args, *(word.value for word in call.keywords)][-1], "{}, shuffle=True")


def _no_layer(at: _At) -> Iterator[NewLines]:
    """Nothing in place of the one layer that makes probabilities of logits, where the loss does, or that bounds."""
    op, makers = _op(at), advice_of(at.known.graph).makers
    told = at.finding.kind if "double" in at.finding.kind else at.finding.text
    kind = next((each for each in ("Softmax", "Sigmoid", "Tanh", "ReLU") if each.lower() in told), "Sigmoid")
    behind = {each.name for each in ancestors(op.inputs)} if op is not None else set()
    said = [text for name, text in makers.items() if name in {*behind, at.finding.op}]
    for name, line in re.findall(rf"^{kind} made at (\S+):(\d+)$", "\n".join(said), re.MULTILINE):
        calls = [*_calls(Site(at.file, int(line), ""), kind)] if at.file.endswith(name) else []
        if len(calls) == 1 and said.count(f"{kind} made at {name}:{line}") == 1:
            yield replaced(at.file, calls[0], f"{owner_text(calls[0])}.Identity()".lstrip("."))
    lines = {each.site.line for each in ancestors(op.inputs) if each.type == kind and each.site is not None
             and each.site.file == at.file} if op is not None and op.type.lower() != kind.lower() else {at.line}
    yield without_call(at.file, lines.pop(), kind.lower()) if len(lines) == 1 else {}


def _turned_mask(at: _At) -> Iterator[NewLines]:
    """The one mask that is given on a line, of bools, the other way round."""
    op = _op(at)
    choices = [op, *(ancestors(op.inputs[1:]) if op.type in ("Add", "AddV2") else ())] if op is not None else []
    yield turned_mask(at.file, at.line) if any(each.type in ("Select", "SelectV2") and each.site == op.site
                                               for each in choices if op is not None) else {}


def _evaluated(at: _At) -> Iterator[NewLines]:
    """In the mode of tests before the test, where the script goes back to that of training itself."""
    for call in _calls(at):
        name = ast.unparse(call.func)
        if any(f"{name}.train()" in ast.unparse(node) for node in on_lines(at.file).values()):
            yield before(at.file, at.line, f"{name}.eval()")


_RULES: Rules[Known] = {
    "tested in training mode": _evaluated, "momentum too high": _worded("SGD RMSprop", "momentum", "0.9"),
    "clipped to nothing": lambda at: (replaced(at.file, given, "1.0") for call in _calls(
        at, "clip_grad_norm_", "clip_grad_norm", "clip_grad_value_") for given in [
            *call.args[1:2], *(word.value for word in call.keywords if word.arg in ("max_norm", "clip_value"))]),
    "gradients accumulate": _zeroed, "nothing to step by": lambda at: iter([
        new_lines.between_steps(at.file, at.line, at.known.backward, before)]), "never stepped": _stepped,
    "uphill": _turned, "rate fades": _once_an_epoch, "broadcast": _one_shape, "divergence too heavy": _weighed,
    **dict.fromkeys(("no gradient", "term cut off"), _reached), "equal initial values": _drawn,
    **dict.fromkeys(("learning rate too high", "steps too large"), lambda at: iter([slower(0.1, at.known)])),
    "rate rises": lambda at: iter([replaced(at.file, given, at.finding.remedy.partition(": ")[2]) for given in [
        new_lines.returned_on(at.file, at.line)] if given is not None and ": " in at.finding.remedy]),
    "inputs not scaled": _scaled, "eval mode": _training, "empty mean": lambda at: over_count(at.file, at.line),
    "softmax over the batch": _other_axis, "no logarithms": _logarithms, "logarithm of a softmax": _shares,
    "not in the optimizer": _registered, "losses keep their graphs": _numbers_summed, "frozen embeddings": _unfrozen,
    "copied the wrong way": lambda at: iter([copied_to_the_other(at.file, at.line)]), "sorted by class": _shuffled,
    "frozen parameters": lambda at: iter([thawed(at.finding.place, [])]), "reshape for transpose": _moved_axes,
    **new_calls.SHARED,
    "clipped in vain": lambda at: (new_lines.between_steps(at.file, at.line, *each) for each in (
        (at.known.backward, after), (at.known.stepped, before))),
    "sum beside a mean": lambda at: summed_too(at.known.graph.operations.get(at.finding.target.partition(":")[0])),
    "weight decay": lambda at: (replaced(at.file, word.value, "1e-4") for call in _calls(at) for word in call.keywords
                                if word.arg == "weight_decay"),
    **remedies.RULES, "mixed derivatives": lambda at: iter([{**apart(at.file, at.line, at.finding.written)}]),
    "mask the wrong way round": _turned_mask, "dropout in evaluation": _worded(
        "dropout", "training", "self.training"), "sample cut": lambda at: iter([redrawn(at.file, at.line)]),
    "single deviation": lambda at: iter([given_too(at.file, at.line, ("std", "var"), "unbiased=False", unless=(
        "unbiased", "correction"))]),
    "one for all": lambda at: iter([given_too(at.file, at.line, ("max", "min"), "dim=1", behind=".values"),
                                    given_too(at.file, at.line, ("amax", "amin"), "dim=1")]),
    **dict.fromkeys(("double softmax", "double sigmoid", "targets out of range"), _no_layer),
    "axes of batch and time": _worded("RNN LSTM GRU MultiheadAttention Transformer TransformerEncoderLayer "
                                      "TransformerDecoderLayer", "batch_first", "True")}
written = partial(new_lines.written_by, _RULES)
