"""Errors of JAX, optax and flax about what does not fit: the line as it is to be."""

import linecache
from types import SimpleNamespace

import pytest

from .mini_jax import installed


def array(*shape):
    return SimpleNamespace(shape=shape)


def without_a_result(x):
    err = x * 2
    err + 1


def loss(x, y, w, b):
    return x + y + w + b


@pytest.fixture
def lines(tmp_path):
    def run(said, text, **names):
        (file := tmp_path / "train.py").write_text(text)
        linecache.checkcache()
        with installed("autodiff.foreign.jax"):
            from autodiff.foreign.jax.raised import of_misfits
            line = text.rstrip().count("\n") + 1
            found = of_misfits(str(file), line, said, SimpleNamespace(f_locals=names, f_globals={}))
        return [*(found.lines.values() if found else ())]
    return run


@pytest.mark.parametrize("said, text, names, mended", [
    ("dot_general requires contracting dimensions to have the same shape", "h = x @ p['w'] + b",
     {"x": array(20, 5), "p": {"w": array(3, 5)}}, "h = x @ p['w'].T + b"),
    ("dot_general requires contracting dimensions to have the same shape", "h = jnp.dot(x, w)",
     {"x": array(20, 5), "w": array(4, 3)}, None),
    ("Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated: "
     "concatenating along dimension 0 for shapes (5, 3), (5, 2).", "h = jnp.concatenate([x, z])", {},
     "h = jnp.concatenate([x, z], axis=1)"),
    ("too many values to unpack (expected 2)", "gw, db = jax.grad(loss)(x, y, w, b)", {"loss": loss},
     "gw, db = jax.grad(loss, argnums=(2, 3))(x, y, w, b)"),
    ("can't multiply sequence by non-int of type 'float'", "p = p - .1 * g", {"p": [1], "g": [2]},
     "p = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, p, g)"),
    ("pytree structure error: different types at key path", "s = o.init(p['w'])\np = optax.apply_updates(p, u)\n"
     "u, s = o.update(g, s)", {}, "s = o.init(p)"),
    ('Tried to access "mean" from collection "batch_stats"', "v = net.init(key, x)\nh = net.apply({'params': p}, x)",
     {"v": {"params": 1, "batch_stats": 2}},
     "h = net.apply({'params': p, 'batch_stats': v['batch_stats']}, x, mutable=['batch_stats'])[0]"),
    ("Gradient only defined for scalar-output functions. Output was None.", "g = jax.grad(f)(w)",
     {"f": without_a_result}, "    err + 1")])
def test_what_does_not_fit_is_written(lines, said, text, names, mended):
    found = lines(said, "import jax\nimport jax.numpy as jnp\n" + text + "\n", **names)
    assert [line.replace("return ", "") for line in found] == [mended] * bool(mended)


def test_dropout_without_a_key_is_told(tmp_path):
    (file := tmp_path / "train.py").write_text("y = net.apply(p, x)\n")
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.raised import of_misfits
        frame = SimpleNamespace(f_locals={}, f_globals={})
        found = of_misfits(str(file), 1, 'Dropout_0 needs PRNG for "dropout"', frame)
    assert "is given no key" in found.text and "rngs=" in found.remedy
