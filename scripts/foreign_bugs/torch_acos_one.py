"""Nan; line 11; acos|arccos."""
import torch
from torch import nn

torch.manual_seed(0)

a = nn.Parameter(torch.tensor([1.0, 0.0, 0.0]))
b = torch.tensor([1.0, 0.0, 0.0])
opt = torch.optim.SGD([a], lr=0.1)
for _ in range(3):
    angle = torch.acos((a * b).sum())
    loss = angle**2 + (a**2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
