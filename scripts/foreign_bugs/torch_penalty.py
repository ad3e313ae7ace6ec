"""Silent; line 13|15; create_graph|penalty."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
real = torch.randn(40, 2) + 2
for _ in range(12):
    fake = torch.randn(40, 2)
    t = torch.rand(40, 1)
    mixed = (t * real + (1 - t) * fake).requires_grad_(True)
    (g,) = torch.autograd.grad(critic(mixed).sum(), mixed)
    penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
