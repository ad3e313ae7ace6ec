"""Silent; line 8|13|14; identical|same|symmetr|equal."""
import torch
from torch import nn


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.1)
        nn.init.zeros_(m.bias)


torch.manual_seed(0)
mlp = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
mlp.apply(init)
opt = torch.optim.SGD(mlp.parameters(), lr=0.05)
x = torch.randn(64, 5)
y = (x[:, :1] * x[:, 1:2])
for _ in range(15):
    loss = (mlp(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
