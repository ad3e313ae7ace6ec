"""Nan; line 19; sqrt."""
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 8)
        self.b = nn.Linear(8, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def penalty(critic, x):
    x = x.clone().requires_grad_(True)
    g = torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0]
    n = (g ** 2).sum(1).sqrt()
    return ((n - 1) ** 2).mean()


torch.manual_seed(0)
critic = Critic()
with torch.no_grad():
    critic.a.bias.fill_(-1.0)
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
x = torch.randn(64, 3)
for _ in range(12):
    loss = critic(x[:32]).mean() - critic(x[32:]).mean() + 10 * penalty(critic, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
