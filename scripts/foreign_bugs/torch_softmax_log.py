"""Nan; line 15; softmax|log|underflow|exp|0."""
import torch
from torch import nn

torch.manual_seed(0)

net = nn.Linear(10, 4)
with torch.no_grad():
    net.weight.mul_(900)
x = torch.randn(16, 10)
y = torch.randint(0, 4, (16,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    p = torch.softmax(net(x), 1)
    picked = torch.log(p)[torch.arange(16), y]
    loss = -picked.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
