"""What an error of JAX's is about: the line to change, and how."""
from __future__ import annotations

import ast
import contextlib
import inspect
import re
from traceback import walk_tb
from typing import Any

from ...core.site import PACKAGE
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import at_line, place_on
from ..auxiliary import line_of_return, with_auxiliary
from ..loops import counted
from ..new_calls import all_calls_on, along_another_axis, calls_on
from ..new_lines import NewLines, all_on, last_name, replaced
from ..new_lines import value as value_on
from ..own_gradients import of_custom_vjp
from ..script_lines import assigned_on, on_lines, read_by, spelled
from ..unread_names import unreturned
from .integers import of_integers
from .traced import of_carry, of_traced

_REMEDIES = {  # what JAX says -> what to do
    r"does not work for lax.while_loop": "lax.fori_loop with numbers for its bounds, or lax.scan over a fixed count of "
    "steps, with jnp.where for those past the end; or jax.jacfwd, which goes forward",
    r"requires real- or complex-valued inputs": "make it of floats: 1.0 for 1, or x.astype(jnp.float32); or leave it "
    "out of what is differentiated",
    r"scalar-output functions. Output was": "has_aux=True where the function returns more than the loss",
    r"scalar-output functions": "return one number, jnp.mean(…) or jnp.sum(…); or jax.jacrev, or jax.vmap of the "
    "gradient of one row",
    r"__array__\(\) was called on|[Aa]bstract tracer value|__(float|int|index)__\(\) method": "use jnp's functions and "
    "arrays for what is differentiated, not np's, float() or .item()",
    r"boolean indices must be concrete": "keep the shape: jnp.where(mask, x, 0), and divide by mask.sum() for a mean",
    r"boolean conversion of traced": "jnp.where(condition, a, b), or lax.cond, in place of if",
    r"is not a valid JAX type": "differentiate by arrays only: choose them by argnums, and bind the rest by "
    "functools.partial"}


_CHANGES: dict[type[ast.operator], str] = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Sub: "subtract"}


def remark_on(error: BaseException) -> Remark | None:
    """Cause, line and remedy; None where JAX's own words are all there is."""
    said = str(error)
    remedy = next((words for pattern, words in _REMEDIES.items() if re.search(pattern, said)), "")
    *_, (frame, line) = ((frame, line) for each in (error, error.__cause__) if each is not None
                         for frame, line in walk_tb(each.__traceback__)
                         if "-packages" not in frame.f_code.co_filename and PACKAGE not in frame.f_code.co_filename)
    file = frame.f_code.co_filename
    names = {**frame.f_globals, **frame.f_locals}
    if (told := of_traced(file, line, said, names) or of_carry(file, line, said) or of_custom_vjp(
            file, line, said) or of_item(file, line, said)) is not None:
        return told
    if (told := of_misfits(file, line, said, frame)) is not None:
        return told
    if "requires real-" in said and (told := of_integers(error, file, _given(file, line), line)) is not None:
        return told
    is_more = "scalar-output functions. Output was" in said
    for name in read_by(on_lines(file)[line]) if "scalar-output" in said else ():
        function: Any = frame.f_locals.get(name, frame.f_globals.get(name))
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code is not None and code.co_filename == file:
            line = max((n for n, s in on_lines(file).items() if isinstance(s, ast.Return) and n in {
                at for *_, at in code.co_lines()}), default=line)
    if (told := of_optax(file, line, said) or swapped(file, line)) is not None:
        return told
    line = line_of_return(file, frame.f_lineno) or line if is_more and line == frame.f_lineno else line
    place = place_on(file, line)
    if not remedy:
        return None
    jnp = spelled(file, "jax.numpy")
    shape = re.search(r"Output had shape: (\(.*?\))", said)
    cause = f"what is differentiated gives an array of shape {shape[1]}{at_line(place)}" if shape else (
        f"{'what is differentiated gives more than a number' if is_more else 'it is'}{at_line(place)}: {place.text}")
    return Remark(cause, place, remedy.replace("jnp.", f"{jnp}."), _one_number(file, line, frame, said) if
                  "scalar-output" in said else counted(file, line) if "lax.while_loop" in said else {})


def of_misfits(file: str, line: int, said: str, frame: Any) -> Remark | None:
    """Of arrays that do not fit, trees that are taken for arrays, and what flax's layers are not given."""
    for pattern, finder in _MISFITS.items():
        if re.search(pattern, said) and (found := finder(file, line, said, frame)) is not None:
            return found
    return None


def _value(node: ast.AST, frame: Any) -> Any:
    """What a name, or an entry of what one stands for, is there; None for all else."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    with contextlib.suppress(KeyError, IndexError, TypeError):
        return _value(node.value, frame)[node.slice.value]
    return None


def _nothing(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """A loss whose function returns nothing."""
    named = (_value(node, frame) for node in all_on(file, line) if isinstance(node, ast.Name))
    return next(filter(None, (unreturned(inspect.unwrap(each)) for each in named if callable(each))), None)


def _product(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """A matrix that would fit if it were transposed."""
    pairs = [(node.left, node.right) for node in all_on(file, line)
             if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
    pairs += [(call.args[0], call.args[1]) for call in all_calls_on(file, line, "dot", "matmul") if len(call.args) == 2]
    for left, right in pairs:
        x, y = ([*getattr(_value(side, frame), "shape", ())] for side in (left, right))
        if x and len(y) == 2 and x[-1] != y[0]:
            text = f"{ast.unparse(left)} is {x}, and {ast.unparse(right)} {y}"
            fits = x[-1] == y[1]
            words = (f"{ast.unparse(right)}.T, whose first axis is as long as the last of {ast.unparse(left)}" if fits
                     else "give the first as many columns as the second has rows")
            return Remark(text, place_on(file, line), words, replaced(file, right, "{}.T") if fits else {})
    return None


def _joined(file: str, line: int, said: str, _: Any) -> Remark | None:
    """Parts that another axis joins."""
    shapes = [ast.literal_eval(each) for each in re.findall(r"\([\d, ]*\)", said)]
    if (found := along_another_axis(file, line, shapes, "axis")) is None:
        return None
    axis, lines = found
    return Remark(f"it joins arrays of {' and '.join(str([*shape]) for shape in shapes)}, which differ in axis {axis}",
                  place_on(file, line), f"axis={axis}, if these are features of the same examples", lines)


def _by_others(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """Gradients by several arguments, where the first alone is differentiated by."""
    for call in all_calls_on(file, line, "grad", "value_and_grad"):
        function = inspect.unwrap(_value(call.args[0], frame)) if call.args else None
        names = [*inspect.signature(function).parameters] if inspect.isfunction(function) else []
        wanted = [next((i for i, name in enumerate(names) if re.fullmatch(
            f"(g|d|dl|grad)_?{name}|{name}_?(g|d|grad|bar)", target)), None) for target in assigned_on(file, line)]
        numbers = [i for i in wanted if i is not None]
        if len(numbers) > 1 and "argnums" not in [each.arg for each in call.keywords]:
            text = f"argnums=({', '.join(map(str, numbers))})"
            return Remark(f"{last_name(call.func)} differentiates by the first argument alone, {names[0]}",
                          place_on(file, line), text, replaced(file, call.args[-1], f"{{}}, {text}"))
    return None


def _leaf_by_leaf(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """Arithmetic of trees."""
    statement = on_lines(file).get(line)
    if not isinstance(statement, ast.Assign):
        return None
    trees = [name for name in dict.fromkeys(node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name))
             if isinstance(_value(ast.Name(name), frame), (list, dict, tuple))]
    listed, value = ", ".join(trees), ast.unparse(statement.value)
    new = f"{spelled(file, 'jax.tree_util.tree_map')}(lambda {listed}: {value}, {listed})"
    return Remark(f"{' and '.join(trees)} {'is a tree' if len(trees) == 1 else 'are trees'} of arrays, which has no "
                  "arithmetic", place_on(file, line), "compute leaf by leaf, with jax.tree_util.tree_map",
                  replaced(file, statement.value, new)) if trees else None


def _other_tree(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """An optimizer's state that was made for other parameters than its update is given gradients of."""
    applied = [call.args[0] for at in on_lines(file) for call in all_calls_on(file, at, "apply_updates") if call.args]
    for update in all_calls_on(file, line, "update"):
        owner = ast.unparse(getattr(update.func, "value", update.func))
        for at in on_lines(file) if applied else ():
            for call in all_calls_on(file, at, "init"):
                made, given = ast.unparse(call.args[0]), ast.unparse(applied[0])
                if ast.unparse(call.func) == f"{owner}.init" and made != given:
                    return Remark(f"the state of {owner} was made for {made}, and its gradients are of {given}",
                                  place_on(file, at), f"{owner}.init({given})", replaced(file, call.args[0], given))
    return None


def _no_statistics(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """A model with batch norm that is given its parameters alone."""
    for at in sorted(on_lines(file)):
        for call in all_calls_on(file, at, "apply"):
            given = call.args[0] if call.args and isinstance(call.args[0], ast.Dict) else None
            made = [name for n in on_lines(file) for _ in all_calls_on(file, n, "init") for name in assigned_on(file, n)
                    if isinstance(value := _value(ast.Name(name), frame), dict) and "batch_stats" in value]
            if given is None or "batch_stats" in ast.unparse(given):
                continue
            inner = ast.unparse(given)[:-1]
            state = f"{made[0]}['batch_stats']" if made else "batch_stats"
            text = ast.unparse(call).replace(ast.unparse(given), f"{inner}, 'batch_stats': {state}}}", 1)
            new = f"{text[:-1]}, mutable=['batch_stats'])[0]"
            return Remark("its batch norm keeps averages in the collection batch_stats, and apply is given the "
                          "parameters alone", place_on(file, at), "give them too, and take what it makes of "
                          "them: y, state = apply({'params': …, 'batch_stats': …}, x, mutable=['batch_stats'])",
                          replaced(file, call, new) if made else {})
    return None


def _no_key(file: str, line: int, _: str, frame: Any) -> Remark | None:
    """A model with dropout that is given no key."""
    for at in sorted(on_lines(file), reverse=True):
        for call in all_calls_on(file, at, "apply"):
            if call.args and "rngs" not in [each.arg for each in call.keywords]:
                return Remark("its dropout draws numbers, and apply is given no key for them", place_on(file, at),
                              "rngs={'dropout': key}, with another key in each step, of jax.random.split")
    return None


_MISFITS = {
    "scalar-output functions. Output was:? None": _nothing, "contracting dimensions": _product,
    "^Cannot concatenate": _joined, "too many values to unpack": _by_others,
    "can't multiply sequence|unsupported operand type.*'(list|dict|tuple)'": _leaf_by_leaf,
    "pytree structure error|[Mm]ismatch.*node type|node type mismatch|Dict key mismatch": _other_tree,
    "batch_stats": _no_statistics, 'needs PRNG for "': _no_key}


def of_item(file: str, line: int, said: str) -> Remark | None:
    """Of an element of an array that is given another value in place."""
    statement = on_lines(file).get(line)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if "in-place item assignment" not in said or not isinstance(target, ast.Subscript):
        return None
    made = getattr(statement, "value", ast.Constant(0))
    op = _CHANGES.get(type(statement.op)) if isinstance(statement, ast.AugAssign) else "set"
    name, value = ast.unparse(target.value), ast.unparse(made)
    new = f"{name} = {name}.at{ast.unparse(target)[len(name):]}.{op}({value})"
    return Remark(f"an array of JAX's is never changed in place, as {name} is to be", place_on(file, line), new,
                  replaced(file, statement, new) if statement is not None and op else {})


def _given(file: str, line: int) -> list[str]:
    """What the outermost call on a line is given, "" for what is no name."""
    call = next(calls_on(file, line), None)
    return [each.id if isinstance(each, ast.Name) else "" for each in call.args] if call is not None else []


def of_optax(file: str, line: int, said: str) -> Remark | None:
    """Of what optax refuses: an update without the parameters, classes for probabilities."""
    for call in calls_on(file, line):
        if "not passing `params`" in said and call.args and ast.unparse(call.func).endswith(".update"):
            params = next((ast.unparse(each.args[0]) for at in on_lines(file) for each in calls_on(file, at)
                           if ast.unparse(each.func).endswith("apply_updates") and each.args), "params")
            return Remark("the optimizer decays the parameters, and update is not given them", place_on(file, line),
                          f"give update {params} too", replaced(file, call.args[-1], f"{{}}, {params}"))
        if ast.unparse(call.func).endswith("softmax_cross_entropy") and "ncompatible shapes" in said:
            return Remark("softmax_cross_entropy takes a row of probabilities for each example, and is given class "
                          "numbers", place_on(file, line), "optax.softmax_cross_entropy_with_integer_labels",
                          replaced(file, call.func, "{}_with_integer_labels"))
    return None


def swapped(file: str, line: int) -> Remark | None:
    """A value and gradients that are taken in the other order, which is seen where the gradients are used."""
    for at in sorted((n for n in on_lines(file) if n <= line), reverse=True):
        names, statement = assigned_on(file, at), on_lines(file)[at]
        if len(names) != 2 or not isinstance(statement, ast.Assign) or names[0] not in read_by(on_lines(file)[line]):
            continue
        other = f"{names[1]}, {names[0]}"
        if "value_and_grad(" in ast.unparse(statement) and names[0].startswith(("g", "dw", "dp")) and (
                names[1].startswith(("l", "v", "cost", "err"))):
            return Remark("jax.value_and_grad gives the value first, then the gradients", place_on(file, at),
                          f"{other} = …", replaced(file, statement.targets[0], other))
    return None


def _one_number(file: str, line: int, frame: Any, said: str) -> NewLines:
    """A mean where the function returns an array; has_aux where it returns more than the loss."""
    statement, at = on_lines(file)[line], frame.f_lineno if frame.f_code.co_filename == file else line
    if not isinstance(statement, ast.Return) or statement.value is None:
        return {}
    if "Output was:" not in said and "Output was (" not in said:
        return value_on(file, line, f"{spelled(file, 'jax.numpy.mean')}({{}})")
    return with_auxiliary(file, line, at)
