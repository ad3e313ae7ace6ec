"""The bundled models: the healthy ones learn, each of the others shows its defect, all as plain scripts."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "scripts" / "models"


def output_of(model: str) -> str:
    """What the model prints as a plain script, run in an empty place of its own process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(MODELS / f"{model}.py")], env=environment, cwd=MODELS.parent,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_digits_loop_learns() -> None:
    last = output_of("digits_loop").splitlines()[-1].split()
    assert last[0] == "accuracy"
    assert float(last[1]) > 0.95


def test_digits_graph_only_builds() -> None:
    assert output_of("digits_graph") == ""


def test_vanishing_hardly_learns() -> None:
    loss = float(output_of("vanishing").split()[1])
    assert loss > 2.2, "ln 10 = 2.303 is where it begins"


def test_nan_log_ends_in_nan() -> None:
    assert "loss is NaN at step" in output_of("nan_log")


def test_where_trap_has_a_finite_loss_and_a_nan_variable() -> None:
    first, second, _ = output_of("where_trap").splitlines()
    assert "nan" not in first.split(", scale")[0]
    assert "nan" in first.split(", scale")[1]
    assert "loss 0.000" in second


def test_none_gradient_moves_no_weights() -> None:
    assert output_of("none_gradient").strip().endswith("moved by 0.0")


def test_exploding_loop_explodes() -> None:
    first, second, *_ = output_of("exploding_loop").splitlines()
    assert float(first.split()[-1]) > 1e6
    assert second.endswith("nan")


def test_the_digits_are_the_published_ones() -> None:
    """1,797 digits of 8x8; the counts per class are those of the UCI set's test part."""
    sys.path.insert(0, str(MODELS))
    try:
        digits = importlib.import_module("digits")
    finally:
        sys.path.remove(str(MODELS))
    images, labels = digits.load()
    assert images.shape == (1797, 64)
    assert (images.min(), images.max()) == (0.0, 1.0)
    assert [int((labels == k).sum()) for k in range(10)] == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
