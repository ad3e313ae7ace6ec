"""Nan; line 12; norm|sqrt|divi|0/0."""
import torch
from torch import nn

torch.manual_seed(0)

w = nn.Parameter(torch.zeros(5))
x = torch.randn(7, 5)


def unit(v):
    return v / v.norm()


opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = (x @ unit(w)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
