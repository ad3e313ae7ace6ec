"""Between the steps of a script: networks that it copies, which way round; layers whose time is the batch."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from .mini_torch import installed


class Net:
    """A network of one weight."""

    def __init__(self, value: float) -> None:
        import torch
        self.weight = torch.tensor([value], requires_grad=True)

    def parameters(self):
        return [self.weight]

    def state_dict(self):
        return {"weight": self.weight}


@pytest.mark.parametrize("to, of, in_loss, changes, found", [
    ("policy", "target", True, False, ["copied the wrong way"]), ("target", "policy", True, False, []),
    ("policy", "target", False, False, []), ("policy", "target", True, True, [])])
def test_a_target_that_overwrites_what_is_trained_is_copied_the_wrong_way(to, of, in_loss, changes, found):
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.between import Between
        nets = {"policy": Net(1.0), "target": Net(2.0)}
        looked = Between({}, lambda tensor: tensor, lambda: {id(nets["policy"].weight)})
        for step in range(3):
            looked._asked(None, nets[of])
            looked._load(None, nets[to], nets[of].state_dict())
            assert not looked.findings() or step == 2  # what is copied before the training is where it begins
            looked._steps["loss"] = step, 1
            looked._in_loss |= {id(nets["target"].weight)} if in_loss else set()
            nets["target"].weight.array[:] += changes
        assert [f.kind for f in looked.findings()] == found


@pytest.mark.parametrize("batch_first, labels, line", [
    (False, (5,), 2), (False, (5, 1), 2), (False, (3,), 0), (False, (5, 3), 0), (True, (5,), 0)])
def test_attention_across_the_examples_of_the_labels_is_told_where_the_layer_is_made(batch_first, labels, line,
                                                                                    tmp_path):
    (file := tmp_path / "train.py").write_text("def f():\n    n = TransformerEncoderLayer(4, 2)\n    left(n, (), x)\n")
    linecache.checkcache()
    with installed("autodiff.foreign.torch"):
        import torch

        from autodiff.foreign.torch.between import Between
        layer = torch.nn.TransformerEncoderLayer()
        layer.self_attn = torch.nn.MultiheadAttention()
        layer.self_attn.batch_first = batch_first
        looked = Between({}, SimpleNamespace(modules=[None], value_of=lambda tensor: tensor), set)
        scope = {"left": looked.left, "TransformerEncoderLayer": lambda *_: layer,
                 "x": torch.tensor(np.zeros((5, 3, 4)), requires_grad=True)}
        exec(compile(file.read_text(), str(file), "exec"), scope)
        scope["f"]()
        looked._for_labels(labels)
        assert [f.place.line for f in looked.findings()] == [line] * bool(line)
