"""Nan; line 14; log|0."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

net = nn.Linear(6, 3)
x = torch.randn(10, 6)
target = torch.eye(3)[torch.randint(0, 3, (10,))]
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    p = F.softmax(net(x), -1)
    loss = (target * (target.log() - p.log())).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
