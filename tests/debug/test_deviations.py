"""A code that is drawn with its variance in the place of its deviation, told by the numbers of both."""

from pathlib import Path

import pytest

from .test_mistakes import findings

PROGRAM = """mean, v = dense(x, 4), dense(x, 4)
noise = {noise}
code = mean + {drawn}
error = tf.reduce_sum(tf.square(x - dense(code, 36)), 1)
loss = tf.reduce_mean(error + {divergence})
fit([adam(.01).minimize(loss), loss], steps=12)
"""
NOISE = "tf.random_normal(tf.shape(mean))"
OF_LOGARITHM = "-.5 * tf.reduce_sum(1 + v - tf.square(mean) - tf.exp(v), 1)"
OF_DEVIATION = ".5 * tf.reduce_sum(tf.exp(2 * v) + mean ** 2 - 1 - 2 * v, 1)"
IN_PARTS = (".5 * (tf.reduce_sum(mean * mean, 1) + tf.reduce_sum(tf.nn.softplus(v), 1) "
            "- tf.reduce_sum(tf.log(tf.nn.softplus(v)), 1) - 4)")


def told(tmp_path: Path, drawn: str, divergence: str, noise: str = NOISE) -> list[tuple[str, str, str]]:
    text = PROGRAM.format(noise=noise, drawn=drawn, divergence=divergence)
    return [(f.level, f.text, f.remedy) for f in findings(text, tmp_path) if f.kind == "deviation is the variance"]


@pytest.mark.parametrize(("drawn", "divergence", "fix"), [
    ("tf.exp(v) * noise", OF_LOGARITHM, "exp of the half"),
    ("noise * tf.exp(v)", OF_DEVIATION.replace("2 * v", "v"), "exp of the half"),
    ("tf.nn.softplus(v) * noise", IN_PARTS, "the root of the variance")])
def test_a_variance_that_multiplies_the_noise_is_told(drawn: str, divergence: str, fix: str, tmp_path: Path) -> None:
    (level, text, remedy), = told(tmp_path, drawn, divergence)
    assert level == "error" and "has the same as it is for the variance" in text and "tf.exp(0.5 * v)" in remedy
    assert "tried: " in remedy and "fix 1 applies it" in remedy, fix


def test_another_power_is_told_as_one(tmp_path: Path) -> None:
    (_, text, _), = told(tmp_path, "tf.exp(v) * noise", OF_DEVIATION.replace("2 * v", "4 * v"))
    assert "has the same as it is to the power of 4 for the variance" in text


@pytest.mark.parametrize(("drawn", "divergence", "noise"), [
    ("tf.exp(.5 * v) * noise", OF_LOGARITHM, NOISE), ("tf.exp(v) * noise", OF_DEVIATION, NOISE),
    ("tf.sqrt(tf.nn.softplus(v)) * noise", IN_PARTS, NOISE),
    ("tf.exp(v) * noise", OF_DEVIATION.replace("mean ** 2", "(mean - tf.zeros(4)) ** 2"), NOISE),
    ("tf.exp(v) * noise", "1e-3 * tf.reduce_sum(tf.square(mean), 1) + 1e-2 * tf.reduce_sum(tf.exp(v), 1)", NOISE),
    ("tf.exp(v) * noise", OF_LOGARITHM, "tf.random_uniform(tf.shape(mean))")])
def test_a_deviation_beside_its_variance_is_right(drawn: str, divergence: str, noise: str, tmp_path: Path) -> None:
    assert told(tmp_path, drawn, divergence, noise) == []
