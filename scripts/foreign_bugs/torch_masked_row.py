"""Nan; line 14; softmax|masked_fill|-inf|inf."""
import torch
from torch import nn

torch.manual_seed(0)

q, k = nn.Linear(6, 6), nn.Linear(6, 6)
x = torch.randn(2, 5, 6)
mask = torch.ones(2, 5, dtype=torch.bool)
mask[1] = False
opt = torch.optim.SGD([*q.parameters(), *k.parameters()], lr=0.1)
for _ in range(3):
    score = q(x) @ k(x).transpose(1, 2)
    score = score.masked_fill(~mask[:, None, :], float("-inf"))
    att = score.softmax(-1)
    loss = (att @ x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
