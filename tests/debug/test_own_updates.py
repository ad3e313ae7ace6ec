"""The rule of updates that a script makes by itself, told by what they did."""
from __future__ import annotations

import numpy as np
import pytest

from autodiff.debug.analysis.edits.own_updates import law_behind


def _steps(rule: str, count: int = 6) -> tuple[list[dict[str, np.ndarray]], list[dict[str, np.ndarray]]]:
    """Variables before each step, and its gradients."""
    rng, w = np.random.default_rng(0), np.array([1.0, -2.0, 3.0], np.float32)
    m = v = np.zeros(3)
    values, slopes = [], []
    for turn in range(1, count + 1):
        g = w + 0.1 * rng.normal(size=3)
        values.append({"w": w})
        slopes.append({"w": g})
        m, v = 0.9 * m + g, 0.999 * v + 0.001 * g * g
        way = {"sgd": g, "momentum": m, "ahead": g + 0.9 * m, "unknown": np.sign(g) * turn,
               "adam": 0.1 * m / (1 - 0.9 ** turn) / np.sqrt(v / (1 - 0.999 ** turn))}[rule]
        w = (w - 0.05 * way).astype(np.float32)
    return values, slopes


@pytest.mark.parametrize("rule", ["sgd", "momentum", "ahead", "adam", "unknown"])
def test_the_rule_and_the_rate_are_found_and_go_on(rule: str) -> None:
    values, slopes = _steps(rule)
    law = law_behind(values[:-1], slopes[:-1])
    if rule == "unknown":
        assert law is None
        return
    assert law is not None and law.rates["w"] == pytest.approx(0.05, rel=1e-3)
    assert np.allclose(law.after(values[-2], slopes[:-1], 1.0)["w"], values[-1]["w"], rtol=1e-3)
    halfway = law.after(values[-2], slopes[:-1], 0.5)["w"]
    assert np.allclose(halfway, (values[-2]["w"] + values[-1]["w"]) / 2, rtol=1e-3)


def test_variables_that_move_without_a_gradient_follow_no_rule() -> None:
    values, slopes = _steps("sgd")
    assert law_behind(values, [{"w": np.zeros(3)} for _ in slopes]) is None
