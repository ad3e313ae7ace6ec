"""Zero; line 15; sigmoid|satur; gate.weight."""
import torch
from torch import nn

torch.manual_seed(0)

gate = nn.Linear(4, 4)

out = nn.Linear(4, 1)
with torch.no_grad():
    gate.bias.fill_(-200.0)
opt = torch.optim.SGD([*gate.parameters(), *out.parameters()], lr=0.1)
x = torch.randn(8, 4)
for _ in range(4):
    h = torch.sigmoid(gate(x))
    loss = (out(h * x) - 2).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
