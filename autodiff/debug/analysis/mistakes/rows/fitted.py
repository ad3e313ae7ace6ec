"""Rows in the order that Keras is given them: the last ones that it validates with; batches that go on with states."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .....core.site import resolve
from ....facts.roles import as_place
from ...findings import Finding
from ..case import Case, finding, update_op
from ..heads import heads
from ..pairing import classes_of

SPLIT, ONE_KIND, STATES = "classes never trained", "validated by one class", "states of other rows"
_MIX = "mix inputs and targets by one permutation before fit"
_BY_CHANCE = 1e-6  # of rows in no order, below which it is none
_SHARE = 0.05  # of the rows that are held, of classes that are not trained
_NEAR = 0.5  # times as far as others: what goes on where another ends
_FEW = 4  # batches, which do not show what follows what
_OFTEN = 0.5  # of the steps: states that are left before almost each


def fitted_mistakes(case: Case) -> Iterator[Finding]:
    """Findings about the last call of `fit` of each model."""
    models = [*case.graph.extras.get("compiled", {}).values()] if case.steps else []
    for model in models:
        if (fit := getattr(model, "fitted", None)) is not None:
            for said in (_held_apart(fit, case), _mixed_up(model, fit, case)):
                if said is not None:
                    yield replace(said, place=next(map(as_place, resolve(fit.frames[:1])), said.place))
                    return


def _held_apart(fit: Any, case: Case) -> Finding | None:
    """Classes that only the last rows have, which no step sees."""
    forms = {head.form for head in heads(case)}
    for trained, held in zip(_arrays(fit.y), fit.held[1] if fit.held and forms - {"squared", "absolute"} else ()):
        kinds = classes_of(np.concatenate([trained, held]))
        if kinds is None or kinds.size != len(trained) + len(held) or not len(held):
            continue
        mine, its = kinds[:len(trained)], kinds[len(trained):]
        counts, share = dict(zip(*np.unique(its, return_counts=True))), len(its) / len(kinds)
        missing = [k for k in counts if k not in mine]
        lost = sum(int(counts[k]) for k in missing)
        told = (f"validation_split keeps the last {len(its)} of {len(kinds)} rows, as they are given, before anything "
                "is shuffled: ")
        if missing and lost >= _SHARE * len(its) and min(share ** counts[k] for k in missing) < _BY_CHANCE:
            names = ", ".join(str(k) for k in missing[:4]) + ", …" * (len(missing) > 4)
            return finding(68, SPLIT, update_op(case), f"{told}{lost / len(its):.0%} of them are of class {names}, and "
                           f"of the {len(mine)} rows that are trained none is; these have {_shares(mine)}",
                           _MIX, confidence="certain")
        if len(counts) == 1 and len({*mine.tolist()}) > 1 and np.mean(kinds == its[0]) ** len(its) < _BY_CHANCE:
            return finding(47, ONE_KIND, update_op(case), f"{told}all of them are of class {its[0]}, so that what is "
                           f"validated says nothing of the others; those that are trained have {_shares(mine)}",
                           _MIX, confidence="certain")
    return None


def _arrays(given: Any) -> list[np.ndarray]:
    return [each for each in (given if isinstance(given, list) else [given]) if isinstance(each, np.ndarray)]


def _shares(kinds: np.ndarray) -> str:
    """How many of each class there are, in words."""
    found = list(zip(*np.unique(kinds, return_counts=True)))
    return ", ".join(f"{n / len(kinds):.0%} of class {k}" for k, n in found[:4]) + ", …" * (len(found) > 4)


def _mixed_up(model: Any, fit: Any, case: Case) -> Finding | None:
    """Recurrent layers that go on with the states of the batch before, whose rows are others when they are shuffled."""
    layers = [each for each in model._inside() if getattr(each, "stateful", False) and hasattr(each, "states")]
    x = next(iter(_arrays(fit.x)), np.zeros(0))
    count = len(x) // fit.size if fit.size else 0
    if not layers or not fit.shuffles or len(x) < 2 or x.ndim < 3 or (
            vars(model).get("begun_anew", 0) > _OFTEN * len(case.steps)):
        return None
    rows = np.asarray(x[:count * fit.size], float).reshape(count, fit.size, *x.shape[1:])
    gaps = np.abs(rows[1:, :, 0] - rows[:-1, :, -1]).mean()
    others = np.abs(rows[1:, :, 0] - np.roll(rows[:-1, :, -1], count // 2, 0)).mean() if count > _FEW else 0.0
    goes_on = bool(gaps < _NEAR * others)
    why = (f": as they are given, each row of a batch goes on where that of the batch before ends, {gaps:.3g} from it "
           f"on average, and rows of batches further apart are {others:.3g} apart" if goes_on else "")
    return finding(64 if goes_on else 46, STATES, update_op(case), f"{layers[0].name} is stateful, so that each row "
                   "goes on with the state that the same row of the batch before left, and fit shuffles all rows, as "
                   f"it does where it is not told otherwise: the states are those of other rows{why}",
                   "fit(…, shuffle=False), and model.reset_states() after each epoch", confidence="certain")
