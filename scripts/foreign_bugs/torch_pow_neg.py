"""Nan; line 13; pow|[*][*]|negative."""
import torch
from torch import nn

torch.manual_seed(0)

gamma = nn.Parameter(torch.tensor(2.2))
lin = nn.Linear(3, 3)
img = torch.rand(8, 3)
opt = torch.optim.SGD([gamma, *lin.parameters()], lr=0.1)
for _ in range(3):
    out = lin(img)
    bright = out**gamma
    loss = (bright - 0.5).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
