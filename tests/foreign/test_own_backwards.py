"""Backwards of Functions that leave out what arrives."""

from types import SimpleNamespace

import pytest

from .mini_torch import installed


class _Without:
    @staticmethod
    def backward(context, arrived):
        slope = context.slope
        return slope, None


class _With:
    @staticmethod
    def backward(context, arrived):
        return arrived * context.slope, None


@pytest.mark.parametrize("function, is_told", [(_Without, True), (_With, False)])
def test_a_gradient_that_arrives_and_is_not_used_is_told_at_the_return(function, is_told):
    with installed("autodiff.foreign.torch") as torch:
        from autodiff.foreign.torch.functions import left_out
        dy, slope, made = (torch.tensor([float(i)]) for i in range(3))
        call = SimpleNamespace(backward=lambda: function.backward, dys=(dy,), slopes=(slope if is_told else made, None))
        used = [] if is_told else [SimpleNamespace(given=(dy, slope))]
        found = left_out(SimpleNamespace(op=call), used)
        assert (found is not None) is is_told
        if found is not None:
            assert found.place.line == 14 and "backward never uses arrived, the gradient that arrives" in found.text
            assert (found.remedy, found.lines) == ("multiply what it returns by arrived", {})
