"""Errors of PyTorch about shapes, dtypes and Python's values: the line as it is to be."""

import linecache
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

from .mini_torch import Tensor, installed


class Given(Tensor):
    """A tensor that is asked for its numbers."""

    min, max = (lambda self: self.array.min()), (lambda self: self.array.max())

    def __len__(self):
        return len(self.array)

    def __getitem__(self, at):
        return Given(self.array[getattr(at, "array", at)])

    def __ne__(self, other):
        return Given(self.array != other.array if isinstance(other, Tensor) else self.array != other)

    __hash__ = Tensor.__hash__


def zeros(*shape, dtype=np.float32):
    return Given(np.zeros(shape, dtype))


def labels(*values, dtype=np.int64):
    return Given(np.array(values, dtype))


ROWS = [Given(np.zeros((6, 8, 2, 2), np.float32)), [-1, 12]]
LOSS = "loss = F.cross_entropy(net(x), y)"


@pytest.fixture
def remark(tmp_path):
    def run(module, said, text, line, *, names=(), given=(), layer=None, op=(), layers=()):
        """What is said of an error on a line. layer: of a kind, given values; op: what one was given."""
        (file := tmp_path / "train.py").write_text(text)
        linecache.checkcache()
        with installed("autodiff.foreign.torch") as torch:
            from importlib import import_module
            scene_of = import_module("autodiff.foreign.torch.raised.scene").Scene

            def made(kind, **values):
                part = type(kind, (torch.nn.Module,), values)()
                part.modules = lambda: [part]
                return part

            module = import_module(f"autodiff.foreign.torch.raised.{module}")
            scene = object.__new__(scene_of)
            scene.said, scene.file, scene.line, scene.entries, scene.all = said, str(file), line, [], []
            names = {name: made(*x) if isinstance(x, tuple) and x and isinstance(x[0], str) else x
                     for name, x in dict(names).items()}
            scene.frame = SimpleNamespace(f_globals={}, f_locals=names)
            part = layer and made(layer[0], **layer[1])
            others = [made(kind, **values) for kind, values in layers]
            frames = [("forward", {"self": each}) for each in others]
            frames += [("forward", {"self": part, **dict(zip(("input", "target"), given))})] if given else []
            frames += [("__call__", {"args": op})] if op else []
            scene.frames = [(SimpleNamespace(f_code=SimpleNamespace(co_name=name), f_locals=values), 1)
                            for name, values in frames]
            scene.habits = SimpleNamespace(made={id(each): (_frames(str(file), 1),) for each in [part, *others]},
                                           made_at=lambda _: "")
            if part is not None:
                names["net"] = names["crit"] = part
            return module.remark_on(scene)
    return run


def _frames(file, line):
    return compile("\n" * (line - 1) + "pass", file, "exec"), 0


@pytest.mark.parametrize("said, text, values, mended", [
    ("Target 3 is out of bounds.", "loss = crit(z, y)", {"given": (zeros(3, 3), labels(1, 2, 3))},
     "loss = crit(z, y - 1)"),
    ("Target 255 is out of bounds.", "loss = CrossEntropyLoss()(z, y)", {"given": (zeros(3, 3), labels(0, 2, 255))},
     "loss = CrossEntropyLoss(ignore_index=255)(z, y)"),
    ("Target -1 is out of bounds.", "loss = CrossEntropyLoss(w)(z, y)", {"given": (zeros(3, 3), labels(0, 2, -1))},
     "loss = CrossEntropyLoss(w, ignore_index=-1)(z, y)"),
    ("Target 5 is out of bounds.", "loss = crit(z, y)", {"given": (zeros(3, 3), labels(0, 2, 5))}, None),
    ("0D or 1D target tensor expected, multi-target not supported", "loss = crit(z, y)",
     {"given": (zeros(2, 3), labels([1], [0], dtype=np.float32))}, "loss = crit(z, y.squeeze(1).long())"),
    ("only batches of spatial targets supported", "loss = crit(z, y)",
     {"given": (zeros(2, 3, 4), zeros(2, 3, 5, dtype=np.int64))}, "loss = crit(z, y.argmax(1))"),
    ("Expected floating point type for target with class probabilities", "loss = crit(z, y)",
     {"given": (zeros(2, 3), zeros(2, 3, dtype=np.int64))}, "loss = crit(z, y.float())"),
    ("result type Float can't be cast to the desired output type Long", "a(); loss = crit(z, y)",
     {"given": (zeros(2, 3), zeros(2, 3, dtype=np.int64))}, "a(); loss = crit(z, y.float())")])
def test_what_does_not_fit_a_loss_is_written(remark, said, text, values, mended):
    found = remark("misfits", said, text, 1, layer=("CrossEntropyLoss", {}), **values)
    assert [*found.lines.values()] == [mended] * bool(mended), found


@pytest.mark.parametrize("shape, have, rank, mended", [
    ((4, 9, 9, 3), 3, 2, "h = net(x.permute(0, 3, 1, 2))"), ((4, 9, 9), 1, 2, "h = net(x.unsqueeze(1))"),
    ((4, 9, 5), 5, 1, "h = net(x.permute(0, 2, 1))"), ((4, 27), 3, 2, "h = net(x.view(-1, 3, 3, 3))")])
def test_what_does_not_fit_a_convolution_is_written(remark, shape, have, rank, mended):
    found = remark("misfits", "expected input[4] to have 3 channels", "h = net(x)", 1, given=(zeros(*shape),),
                   layer=("Conv", {"in_channels": have, "kernel_size": (3,) * rank}))
    assert [*found.lines.values()] == [mended]


@pytest.mark.parametrize("said, text, op, mended", [
    ("shape '[-1, 12]' is invalid for input of size 192", "l = Linear(12, 2); h = l(x.view(-1, 3 * 4))", ROWS,
     "l = Linear(32, 2); h = l(x.view(-1, 32))"),
    ("shape '[4, 32]' is invalid for input of size 192", "h = x.reshape((B, 32))", [ROWS[0], [4, 32]],
     "h = x.reshape((-1, 32))"),
    ("Tensors must have same number of dimensions: got 2 and 3", "h = torch.cat([a, b], dim=1)",
     [[zeros(5, 2), zeros(5, 1, 2)]], "h = torch.cat([a, b.squeeze(1)], dim=1)"),
    ("Sizes of tensors must match except in dimension 0", "h = torch.cat([a, b])", [[zeros(5, 2), zeros(5, 4)]],
     "h = torch.cat([a, b], dim=1)"),
    ("mat1 and mat2 shapes cannot be multiplied", "h = x @ self.w + b", [zeros(5, 2), zeros(3, 2)],
     "h = x @ self.w.transpose(-1, -2) + b"),
    ("mat1 and mat2 shapes cannot be multiplied", "h = x @ self.w", [zeros(5, 2), zeros(3, 4)], None)])
def test_shapes_that_an_op_does_not_take_are_written(remark, said, text, op, mended):
    found = remark("misfits", said, text, 1, op=op, layers=[("Linear", {"in_features": 12})])
    assert {line for each in found.lines.values() for line in [each]} <= {mended, text.replace("12, 2", "32, 2")}
    assert bool(found.lines) == bool(mended)


@pytest.mark.parametrize("said, text, line, names, mended", [
    ("'float' object has no attribute 'backward'", "loss = mse(z, y).item()\no.zero_grad(); loss.backward(); o.step()",
     2, {}, "loss = mse(z, y)"),
    ("'numpy.ndarray' object has no attribute 'backward'", "loss = mse(z).detach().numpy()\nloss.backward()", 2, {},
     "loss = mse(z)"),
    ("tuple indices must be integers or slices, not tuple", "h = lstm(x)\nz = out(h[:, -1])", 2,
     {"h": (1, 2), "lstm": ("LSTM",)}, "h, _ = lstm(x)"),
    ("Can't call numpy() on Tensor that requires grad", "a.append(p.numpy().mean())", 1, {},
     "a.append(p.detach().numpy().mean())")])
def test_errors_of_python_are_written(remark, said, text, line, names, mended):
    found = remark("in_python", said, text, line, names=names)
    assert [*found.lines.values()] == [mended]


@pytest.mark.parametrize("body, mended", [("h = x + 1", "    h = x + 1\n    return h"), ("x + 1", "    return x + 1"), (
    "return x + 1", None)])
def test_a_function_without_a_return_is_written(remark, tmp_path, body, mended):
    text = f"def f(x):\n    {body}\nloss = f(x)\nloss.backward()\n"
    code = compile(text, str(tmp_path / "train.py"), "exec").co_consts[0]
    found = remark("in_python", "'NoneType' object has no attribute 'backward'", text, 4,
                   names={"f": FunctionType(code, {}), "loss": None})
    assert [*(found.lines.values() if found else ())] == [mended] * bool(mended)
