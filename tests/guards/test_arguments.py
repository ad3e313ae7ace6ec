"""Wrong arguments and wrong values by chance: what refuses them is an error of ours, in words that are not NumPy's."""
from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import AutodiffError
from autodiff.core.op import OPS
from autodiff.runtime.plan.run_sentences import said_in_here

from ..ops.built import input_arrays, parameter_of
from ..ops.case import Case
from ..ops.op_cases import CASES
from .arguments import calls, functions, misfit
from .conftest import Share

FUNCTIONS = list(functions())
ROWS = [case for case in CASES if case.through is None and case.fails is None and case.inputs
        and not any(parameter.kind.handle for parameter in OPS[case.op].parameters)]


def raw(error: Exception) -> str | None:
    """What of an error is Python's or NumPy's own text; None if a user should read it so."""
    if not isinstance(error, AutodiffError):
        arity = "positional argument" in str(error) or "keyword argument" in str(error)
        return None if arity and isinstance(error, TypeError) or said_in_here(error) else repr(error)
    below = error.__cause__
    foreign = below is not None and not isinstance(below, (AutodiffError, KeyError))  # a key is what was given
    same = foreign and str(below) and str(below) in str(error)
    return f"{below!r} in {error}" if same and not said_in_here(below) else None  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_are_refused_in_words_of_ours(share: Share, is_long: bool) -> None:
    for seed in share.seeds(250):
        chance = random.Random(seed)
        name, function = chance.choice(FUNCTIONS)
        for call, _ in zip(calls(function, chance), range(40 if is_long else 3)):
            with tf.Graph().as_default():
                try:
                    call()
                except Exception as error:
                    assert raw(error) is None, (seed, name, raw(error))


def fed(case: Case, arrays: list[np.ndarray]) -> list[Any]:
    """The row's op in the default graph on placeholders of unknown shape; on constants where it needs to know them."""
    for fixed in ((), ("Index", "Int32", "Bool")):
        inputs = [tf.constant(a) if a.dtype == object or parameter_of(case, i).kind.name in fixed
                  else tf.placeholder(tf.as_dtype(a.dtype)) for i, a in enumerate(arrays)]
        with contextlib.suppress(AutodiffError):
            OPS[case.op](*inputs, name="tested" if fixed else "unknown", **case.attrs)
            return inputs
    return []


@pytest.mark.filterwarnings("ignore")
def test_wrong_values_are_refused_in_words_of_ours(share: Share, is_long: bool, capfd: Any) -> None:
    for seed in share.seeds(250):
        chance = random.Random(seed)
        case = chance.choice(ROWS)
        arrays = input_arrays(case)
        with tf.Graph().as_default() as graph, tf.Session() as session:
            inputs = fed(case, arrays)
            op = graph.get_operations()[-1]
            for _ in range(40 if is_long else 3):
                feeds = {t: misfit(a, chance) if chance.random() < 0.6 else a
                         for t, a in zip(inputs, arrays) if t.op.type == "Placeholder"}
                try:
                    session.run([list(op.outputs), op], feeds)
                except Exception as error:
                    assert raw(error) is None, (seed, case.name, raw(error))


def test_what_the_guard_takes_for_raw() -> None:
    wrong = tf.errors.InvalidArgumentError(None, None, "Relu: operands could not be broadcast")
    wrong.__cause__ = ValueError("operands could not be broadcast")
    assert raw(wrong) and raw(AttributeError("'NoneType' object has no attribute 'dtype'"))
    assert raw(tf.errors.InvalidArgumentError(None, None, "Incompatible shapes: [2] vs. [3]")) is None
