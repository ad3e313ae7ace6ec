"""Nan; line 11; learning rate|diverg|lr|grow|exp|overflow|larger."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

net = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 1))
x = torch.randn(64, 20) * 5
y = x.sum(1, keepdim=True)
opt = torch.optim.SGD(net.parameters(), lr=1.0)
for _ in range(40):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
