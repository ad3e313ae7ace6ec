"""Nan; line 12; pow."""
import torch
from torch import nn


class GeM(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = nn.Parameter(torch.tensor(p))

    def forward(self, x):
        return x.pow(self.p).mean(dim=(-2, -1)).pow(1.0 / self.p)


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), GeM(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(4, 1, 7, 7), torch.randn(4, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
