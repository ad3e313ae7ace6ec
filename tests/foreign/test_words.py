"""What the debugger advises in TensorFlow's names, in the names of the framework whose program it is."""
from __future__ import annotations

import pytest

from autodiff.debug.analysis.advice import spoken
from autodiff.debug.analysis.findings import Finding
from autodiff.debug.analysis.remedies import _REMEDIES
from autodiff.foreign.jax.words import WORDS as JAX
from autodiff.foreign.onnx.words import WORDS as ONNX
from autodiff.foreign.torch.words import WORDS as TORCH


def said(text: str, words: tuple[tuple[str, str], ...]) -> str:
    """A remedy as a person at that framework reads it."""
    finding = Finding(severity=1, kind="", op="", op_type="", target="", text="", remedy=text, ask="", place=None)
    return str(spoken(finding, words).remedy)


@pytest.mark.parametrize("words", [JAX, ONNX, TORCH], ids=["jax", "onnx", "torch"])
@pytest.mark.parametrize("remedy", sorted(set(_REMEDIES.values())))
def test_no_remedy_keeps_a_name_of_tensorflow(words: tuple[tuple[str, str], ...], remedy: str) -> None:
    assert "tf." not in said(remedy, words)
    assert said(remedy, words).count("(") == said(remedy, words).count(")")


def test_a_bound_is_written_as_pytorch_takes_it() -> None:
    assert said("tf.log(tf.maximum(x, 1e-12))", TORCH) == "torch.log(torch.clamp(x, min=1e-12))"
    assert said("tf.exp(tf.minimum(x, 0.0))", TORCH) == "torch.exp(torch.clamp(x, max=0.0))"


def test_a_bound_is_written_in_the_ops_of_onnx() -> None:
    assert said("tf.log(tf.maximum(x, 1e-12))", ONNX) == "Log(Max(x, 1e-12))"
    assert said("tf.where(x > 0, tf.sqrt(x), 0)", ONNX) == "Where(x > 0, Sqrt(x), 0)"
