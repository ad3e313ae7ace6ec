"""What an error of JAX's is about: the line to change, and how."""
from __future__ import annotations

import ast
import inspect
import re
from traceback import walk_tb
from typing import Any

from ...core.site import PACKAGE, Site
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import as_place, at_line
from ..auxiliary import line_of_return, with_auxiliary
from ..loops import counted
from ..new_lines import NewLines, nodes_on, replaced
from ..new_lines import value as value_on
from ..own_gradients import of_custom_vjp
from ..script_lines import assigned_on, on_lines, read_by
from ..spelled import spelled
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
    place = as_place(Site(file, line, ""))
    if not remedy:
        return None
    jnp = spelled(file, "jax.numpy")
    shape = re.search(r"Output had shape: (\(.*?\))", said)
    cause = f"what is differentiated gives an array of shape {shape[1]}{at_line(place)}" if shape else (
        f"{'what is differentiated gives more than a number' if is_more else 'it is'}{at_line(place)}: {place.text}")
    return Remark(cause, place, remedy.replace("jnp.", f"{jnp}."), _one_number(file, line, frame, said) if
                  "scalar-output" in said else counted(file, line) if "lax.while_loop" in said else {})


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
    return Remark(f"an array of JAX's is never changed in place, as {name} is to be", as_place(Site(file, line, "")),
                  new, replaced(file, statement, new) if statement is not None and op else {})


def _given(file: str, line: int) -> list[str]:
    """What the outermost call on a line is given, "" for what is no name."""
    call = next((node for node in nodes_on(file, line) if isinstance(node, ast.Call)), None)
    return [each.id if isinstance(each, ast.Name) else "" for each in call.args] if call is not None else []


def of_optax(file: str, line: int, said: str) -> Remark | None:
    """Of what optax refuses: an update without the parameters, classes for probabilities."""
    for call in (node for node in nodes_on(file, line) if isinstance(node, ast.Call)):
        if "not passing `params`" in said and call.args and ast.unparse(call.func).endswith(".update"):
            params = next((ast.unparse(each.args[0]) for at in on_lines(file) for each in nodes_on(file, at)
                           if isinstance(each, ast.Call) and ast.unparse(each.func).endswith("apply_updates")
                           and each.args), "params")
            return Remark("the optimizer decays the parameters, and update is not given them", as_place(Site(
                file, line, "")), f"give update {params} too", replaced(file, call.args[-1], f"{{}}, {params}"))
        if ast.unparse(call.func).endswith("softmax_cross_entropy") and "ncompatible shapes" in said:
            return Remark("softmax_cross_entropy takes a row of probabilities for each example, and is given class "
                          "numbers", as_place(Site(file, line, "")), "optax.softmax_cross_entropy_with_integer_labels",
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
            return Remark("jax.value_and_grad gives the value first, then the gradients", as_place(
                Site(file, at, "")), f"{other} = …", replaced(file, statement.targets[0], other))
    return None


def _one_number(file: str, line: int, frame: Any, said: str) -> NewLines:
    """A mean where the function returns an array; has_aux where it returns more than the loss."""
    statement, at = on_lines(file)[line], frame.f_lineno if frame.f_code.co_filename == file else line
    if not isinstance(statement, ast.Return) or statement.value is None:
        return {}
    if "Output was:" not in said and "Output was (" not in said:
        return value_on(file, line, f"{spelled(file, 'jax.numpy.mean')}({{}})")
    return with_auxiliary(file, line, at)
