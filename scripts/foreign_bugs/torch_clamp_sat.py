"""Zero; line 13; clamp; weight."""
import torch
from torch import nn

torch.manual_seed(0)

net = nn.Linear(4, 1)
with torch.no_grad():
    net.bias.fill_(30.0)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 4)
for _ in range(4):
    rate = net(x).clamp(0, 6)
    loss = (rate - 2).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
