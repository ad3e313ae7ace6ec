"""What an error of JAX's is about: the line to change, and how."""
from __future__ import annotations

import ast
import inspect
import re
from traceback import walk_tb
from typing import Any

import jax
import numpy as np

from ...core.site import PACKAGE, Site
from ...debug.analysis.advice import Remark
from ...debug.facts.roles import as_place, at_line
from ..new_lines import value as value_on
from ..script_lines import line_of_name, on_lines, read_by

_REMEDIES = {  # what JAX says -> what to do
    r"does not work for lax.while_loop": "lax.fori_loop with numbers for its bounds, or lax.scan over a fixed count of "
    "steps, with jnp.where for those past the end; or jax.jacfwd, which goes forward",
    r"requires real- or complex-valued inputs": "make it of floats: 1.0 for 1, or x.astype(jnp.float32)",
    r"scalar-output functions. Output was": "has_aux=True where the function returns more than the loss",
    r"scalar-output functions": "return one number, jnp.mean(…) or jnp.sum(…); or jax.jacrev, or jax.vmap of the "
    "gradient of one row",
    r"__array__\(\) was called on|[Aa]bstract tracer value|__(float|int|index)__\(\) method": "use jnp's functions and "
    "arrays for what is differentiated, not np's, float() or .item()",
    r"boolean conversion of traced": "jnp.where(condition, a, b), or lax.cond, in place of if",
    r"is not a valid JAX type": "differentiate by arrays only: choose them by argnums, and bind the rest by "
    "functools.partial"}


def remark_on(error: BaseException) -> Remark | None:
    """Cause, line and remedy; None where JAX's own words are all there is."""
    said = str(error)
    remedy = next((words for pattern, words in _REMEDIES.items() if re.search(pattern, said)), "")
    *_, (frame, line) = ((frame, line) for frame, line in walk_tb((error.__cause__ or error).__traceback__)
                         if "-packages" not in frame.f_code.co_filename and PACKAGE not in frame.f_code.co_filename)
    file = frame.f_code.co_filename
    for name in read_by(on_lines(file)[line]) if "requires real-" in said else ():
        value = frame.f_locals.get(name, frame.f_globals.get(name))
        whole = [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, (int, np.ndarray, jax.Array))
                 and np.result_type(leaf).kind in "iub"]
        if whole and (given := line_of_name(file, name)):
            place = as_place(Site(file, given, ""))
            return Remark(f"{name} has integers{at_line(place)}, {np.result_type(whole[0])}, which have no gradient",
                          place, f"{remedy}{at_line(place)}", value_on(file, given, "{}.astype(jnp.float32)"))
    for name in read_by(on_lines(file)[line]) if "scalar-output" in said else ():
        function: Any = frame.f_locals.get(name, frame.f_globals.get(name))
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code is not None and code.co_filename == file:
            line = max((n for n, s in on_lines(file).items() if isinstance(s, ast.Return) and n in {
                at for *_, at in code.co_lines()}), default=line)
    place = as_place(Site(file, line, ""))
    return Remark(f"it is{at_line(place)}: {place.text}", place, remedy) if remedy else None
