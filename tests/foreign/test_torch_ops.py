"""Each ATen op against what torch gave: values, and gradients of a weighted sum, in float64 and float32."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.foreign.torch.aten import aten
from autodiff.foreign.torch.aten.common import row_of

from ..expect import expect_none
from .torch_rows import ROWS, Dtype, Row, filled, weights

KNOWN = np.load(Path(__file__).parent / "torch_ops.npz")
CHUNK = 17
TOLERANCES = {"float64": (1e-7, 1e-9), "float32": (2e-4, 2e-5)}  # float32 sums differ by the order of their terms

CORE = """_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _cdist_forward _embedding_bag _fft_c2r
_fft_r2c _local_scalar_dense _log_softmax _native_batch_norm_legit _native_batch_norm_legit_no_training _pdist_forward
_softmax _to_copy abs acos acosh add addmm alias amax amin any arange argmax argmin as_strided asin asinh atan atan2
atanh avg_pool2d avg_pool2d_backward avg_pool3d bitwise_and bitwise_not bitwise_or bitwise_xor bmm cat ceil clamp clone
col2im constant_pad_nd convolution convolution_backward copy cos cosh cumsum diagonal div elu embedding
embedding_dense_backward empty empty_strided eq erf exp expand expm1 fill flip floor fmod full full_like gather ge gelu
grid_sampler_2d gt hardtanh index index_put index_select isinf isnan le leaky_relu log log10 log1p log2 logical_and
logical_not logical_or logical_xor lt masked_scatter max max_pool2d_with_indices max_pool2d_with_indices_backward
max_pool3d_with_indices maximum mean min minimum mm mul native_dropout native_group_norm native_group_norm_backward
native_layer_norm native_layer_norm_backward ne neg nonzero permute pow prod rand randn randperm reciprocal
reflection_pad1d reflection_pad2d reflection_pad3d relu remainder repeat replication_pad2d replication_pad3d round rsqrt
scalar_tensor scatter scatter_add scatter_reduce select select_scatter sigmoid sign sin sinh slice slice_scatter sort
split_with_sizes sqrt squeeze sub sum sym_numel sym_size sym_storage_offset sym_stride tan tanh topk trunc unsqueeze
upsample_bilinear2d upsample_nearest2d var view where""".split()  # those that torch tags so, in 2.13


def ours(tree: Any, dtype: str, leaves: list[Any]) -> Any:
    """Arguments as the table takes them; arrays become placeholders that are added to leaves."""
    if isinstance(tree, np.ndarray):
        leaves.append((tf.placeholder(tree.dtype, tree.shape), tree))
        return leaves[-1][0]
    if isinstance(tree, Dtype):
        return tf.as_dtype(dtype if tree.name == "given" else tree.name)
    if isinstance(tree, (list, tuple)):
        return [ours(part, dtype, leaves) for part in tree]
    return {key: ours(part, dtype, leaves) for key, part in tree.items()} if isinstance(tree, dict) else tree


def computed(number: int, row: Row, dtype: str) -> dict[str, Any]:
    """Outputs and gradients of one row, by the names that the file has."""
    with tf.Graph().as_default(), tf.Session() as session:
        leaves: list[Any] = []
        args, kwargs = (ours(filled(tree, np.random.default_rng(number), dtype), dtype, leaves)
                        for tree in (list(row.args), row.kwargs))
        packet, _, overload = row.op.partition(".")
        name = row_of(packet, overload or "default")
        assert name is not None, f"the table lacks {row.op}"
        outputs = [y() if callable(y) else y for y in aten.build(name, args, kwargs)[:row.outputs or None]]
        feeds = dict(leaves)
        found = {f"{number}:{dtype}:y{i}": session.run(y, feeds) for i, y in enumerate(outputs)}
        wanted = {i: x for i, (x, _) in enumerate(leaves) if f"{number}:{dtype}:dx{i}" in KNOWN}
        if wanted:
            moving = {i: y for i, y in enumerate(outputs) if y.dtype.is_floating or y.dtype.is_complex}
            seeds = [tf.constant(weights(found[f"{number}:{dtype}:y{i}"].shape), y.dtype) for i, y in moving.items()]
            slopes = tf.gradients(list(moving.values()), list(wanted.values()), seeds)
            for i, g in zip(wanted, slopes):
                zero = np.zeros(leaves[i][1].shape)
                found[f"{number}:{dtype}:dx{i}"] = zero if g is None else session.run(tf.convert_to_tensor(g), feeds)
    return found


def mistakes(number: int) -> list[str]:
    """What differs of one row."""
    row, found = ROWS[number], []
    for dtype, (rtol, atol) in TOLERANCES.items():
        try:
            got = computed(number, row, dtype)
        except Exception as error:  # of whatever kind: it is said, and the other rows are looked at
            found.append(f"row {number} {row.op} {dtype}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        for name, value in got.items():
            want = KNOWN[name]
            size = max(1.0, float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want))))
            if np.shape(value) != want.shape or not np.allclose(value, want, rtol, atol * size, equal_nan=True):
                found.append(f"row {number} {row.op} {name}: {np.shape(value)} {want.shape}")
    return found


@pytest.mark.parametrize("first", range(0, len(ROWS), CHUNK))
def test_an_op_is_what_torch_has(first: int) -> None:
    expect_none([line for number in range(first, min(first + CHUNK, len(ROWS))) for line in mistakes(number)])


def test_vectors_of_no_singular_value_have_no_gradient() -> None:
    x = tf.constant(np.random.default_rng(0).standard_normal((3, 5)))
    u, s, v = aten.build("_linalg_svd", [x, True], {})
    again = tf.matmul(u * s, v[:3])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.gradients(again, x)[0]), np.ones((3, 5)), rtol=1e-9)
        assert v.shape == (5, 5)


def test_labels_one_after_another_are_those_of_rows() -> None:
    scores = tf.nn.log_softmax(np.random.default_rng(0).standard_normal((5, 3, 4)))
    rows, flat = [[1, 2, 0], [3, 0, 0], [2, 2, 1]], [1, 2, 3, 2, 2, 1]
    told = [aten.build("_ctc_loss", [scores, tf.constant(y), [5, 4, 3], [2, 1, 3]], {})[0] for y in (rows, flat)]
    with tf.Session() as session:
        wanted, got = session.run(told)
    assert wanted[2] == np.inf and np.isfinite(wanted[:2]).all() and (got == wanted).all()


def test_every_row_has_its_answers() -> None:
    expect_none([f"row {number} {row.op}" for number, row in enumerate(ROWS) if f"{number}:float64:y0" not in KNOWN],
                "run scripts/torch_rows.py where torch is")


def test_most_core_ops_are_there() -> None:
    missing = [name for name in CORE if row_of(name, "default") is None and not any(
        other.startswith(f"{name}.") for other in aten.ops)]
    assert missing == ["embedding_dense_backward", "native_group_norm_backward", "native_layer_norm_backward",
                       "rand", "randn", "randperm", "sym_storage_offset", "sym_stride"]  # by torch, or drawn
