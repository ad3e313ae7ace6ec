"""Layers that nothing uses in a PyTorch script: which are used in their places, and the lines that are to use them."""
import linecache

import pytest

from autodiff.foreign.idle_layers import idle_on

HEAD = "class Net(Module):|  def __init__(self):|    self.a_h = Linear(4, 2)|    self.b_h = Linear(4, 2)|"
OUT = "    self.a_o = Linear(2, 1)|    self.b_o = Linear(2, 1)|"


@pytest.mark.parametrize("rest, line, new", [
    ("  def forward(self, x):|    return self.a_h(x), self.a_h(x)", 6, {6: "    return self.a_h(x), self.b_h(x)"}),
    (OUT + "  def forward(self, x):|    s = self.a_o(self.a_h(x))|    m = self.a_h(x)|    return s, self.a_o(m)", 9,
     {9: "    m = self.b_h(x)", 10: "    return s, self.b_o(m)"}),
    ("    self.c_h = Linear(4, 2)|  def forward(self, x):|    return self.a_h(x), self.c_h(x)", 4, {4: ""}),
    ("    self.c_h = Linear(4, 2)|  def forward(self, x):|    x = self.a_h(x) + self.a_h(x)|"
     "    return self.c_h(x) + self.c_h(x)", 4, {4: ""}),
    ("  def forward(self, x):|    return self.a_h(x), getattr(self, 'b_h')(x)", None, {}),
    ("  def forward(self, x):|    return self.a_h(x), self.b_h(x)", None, {})])
def test_a_layer_that_nothing_uses_has_another_in_its_place(rest, line, new, tmp_path):
    file = tmp_path / "train.py"
    file.write_text((HEAD + rest).replace("|", "\n") + "\n")
    linecache.checkcache()
    found = idle_on(str(file), 4)
    assert (found and found.place.line, {at: text for (_, at), text in found.lines.items()} if found else {}) == (
        line, new)
    assert found is None or "nothing uses b_h" in found.text
