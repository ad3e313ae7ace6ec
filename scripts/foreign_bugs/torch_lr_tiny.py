"""Silent; line 9; learning rate|lr|small|barely|too low."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-8)
x = torch.randn(64, 6)
y = x[:, :1] * 3
for _ in range(12):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
