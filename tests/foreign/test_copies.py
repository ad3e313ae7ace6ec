"""Networks that a script copies between its steps: which way round."""

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
