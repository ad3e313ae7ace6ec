"""What the debugger advises in TensorFlow's names, in the names of the framework whose program it is."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from autodiff.core.errors import ArgumentError
from autodiff.core.site import Span
from autodiff.debug.analysis.advice import Advice, spoken
from autodiff.debug.analysis.disconnected import _SHARE
from autodiff.debug.analysis.edits.in_source import Rewrite, rewritten
from autodiff.debug.analysis.findings import Finding
from autodiff.debug.analysis.remedies import REMEDIES
from autodiff.debug.analysis.scripts.source_tree import Source
from autodiff.foreign.jax.words import WORDS as JAX
from autodiff.foreign.onnx.words import WORDS as ONNX
from autodiff.foreign.torch.words import WORDS as TORCH


def said(text: str, words: tuple[tuple[str, str], ...]) -> str:
    """A remedy as a person at that framework reads it."""
    finding = Finding(severity=1, kind="", op="", op_type="", target="", text="", remedy=text, ask="", place=None)
    return str(spoken(finding, words).remedy)


@pytest.mark.parametrize("words", [JAX, ONNX, TORCH], ids=["jax", "onnx", "torch"])
@pytest.mark.parametrize("remedy", sorted(set(REMEDIES.values())))
def test_no_remedy_keeps_a_name_of_tensorflow(words: tuple[tuple[str, str], ...], remedy: str) -> None:
    assert "tf." not in said(remedy, words)
    assert said(remedy, words).count("(") == said(remedy, words).count(")")


@pytest.mark.parametrize("words", [JAX, TORCH], ids=["jax", "torch"])
def test_no_framework_but_tensorflow_has_scopes_of_variables(words: tuple[tuple[str, str], ...]) -> None:
    assert "variable_scope" not in said(f"{_SHARE}; or use 'a' in place of 'b'", words)


def test_a_bound_is_written_as_pytorch_takes_it() -> None:
    assert said("tf.log(tf.maximum(x, 1e-12))", TORCH) == "torch.log(torch.clamp(x, min=1e-12))"
    assert said("tf.exp(tf.minimum(x, 0.0))", TORCH) == "torch.exp(torch.clamp(x, max=0.0))"


def test_pytorch_is_told_the_axis_of_a_softmax() -> None:
    assert said("tf.nn.softmax(x)", TORCH) == "torch.softmax(x, -1)"
    assert said("tf.nn.log_softmax(x)", TORCH) == "F.log_softmax(x, -1)"


def test_a_bound_is_written_in_the_ops_of_onnx() -> None:
    assert said("tf.log(tf.maximum(x, 1e-12))", ONNX) == "Log(Max(x, 1e-12))"
    assert said("tf.where(x > 0, tf.sqrt(x), 0)", ONNX) == "Where(x > 0, Sqrt(x), 0)"


SPELLED = {  # imports -> template -> what is written
    "import torch as t": ("{tf}.sqrt({tf}.maximum({0}, 1e-12))", "t.sqrt(t.clamp({0}, min=1e-12))"),
    "import torch\nfrom torch import nn": (
        "{tf}.nn.sigmoid_cross_entropy_with_logits(labels={0}, logits={1})",
        "nn.functional.binary_cross_entropy_with_logits(reduction='none', target={0}, input={1})"),
    "import torch, torch.nn.functional as F": ("{tf}.nn.softplus({0})", "F.softplus({0})"),
    "import torch": ("{tf}.strange({0})", "there is no torch.strange"),
    "import numpy": ("{tf}.sqrt({0})", "torch has no name in this file")}


@pytest.mark.parametrize("imports", SPELLED)
def test_what_is_written_has_the_names_of_the_file(imports: str, monkeypatch: pytest.MonkeyPatch) -> None:
    template, wanted = SPELLED[imports]
    functions = SimpleNamespace(binary_cross_entropy_with_logits=abs, softplus=abs)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(sqrt=abs, clamp=abs))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "torch.nn.functional", functions)  # type: ignore[arg-type]
    try:
        assert Source(imports, TORCH).spelled(template) == wanted
    except ArgumentError as error:
        assert str(error) == wanted


@pytest.mark.parametrize("call, operands", [("(a * b).sqrt()", ["a * b"]), ("F.sqrt(a)", ["a"]), (
    "nn.functional.div(a, b)", ["a", "b"]), ("a[0].div(b)", ["a[0]", "b"])])
def test_what_a_method_is_of_is_its_first_operand(call: str, operands: Sequence[str]) -> None:
    source = Source(f"import torch.nn.functional as F\nfrom torch import nn\n{call}", TORCH)
    node = source.tree.body[-1].value  # type: ignore[attr-defined]
    assert [source.text[slice(*source.range(source.operand(node, None, i)))]  # type: ignore[arg-type]
            for i in range(len(operands))] == operands


@pytest.mark.parametrize("template", ["{0} + 1e-5", "{tf}.maximum({0}, 1e-5)"])
def test_the_root_of_a_standard_deviation_is_written_out(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(sqrt=abs, clamp=abs))  # type: ignore[arg-type]
    graph = SimpleNamespace(extras={"advice": Advice(words=TORCH)})
    op: Any = SimpleNamespace(type="Sqrt", name="Sqrt", graph=graph, span=Span("train.py", 2, 4, 2, 12))
    inner = {"{0} + 1e-5": "x.var(1) + 1e-5"}.get(template, "torch.clamp(x.var(1), min=1e-5)")
    assert rewritten("import torch\ny = x.std(1)", [Rewrite(op, 0, template, ((op, 0),))]) == (
        f"import torch\ny = torch.sqrt({inner})")
