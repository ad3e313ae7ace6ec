"""Zero; line 12; not finite|float16|half|too large; lin.weight."""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d, dtype=torch.half))

    def forward(self, x):
        ms = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(ms + 1e-5)).half()


torch.manual_seed(0)
lin = nn.Linear(16, 16).half()
norm = RMSNorm(16)
head = nn.Linear(16, 1).half()
opt = torch.optim.SGD([*lin.parameters(), *norm.parameters(), *head.parameters()], lr=1e-3)
x = (torch.randn(8, 16) * 900).half()
for _ in range(12):
    h = norm(lin(x) * 2)
    loss = (head(h) - head(h).detach() * 0.5).float().square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
