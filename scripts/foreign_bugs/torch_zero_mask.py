"""Zero; line 15; mul|zero|0|mask; a.weight."""
import torch
from torch import nn

torch.manual_seed(0)

a = nn.Linear(4, 4)

b = nn.Linear(4, 1)
keep = torch.tensor([3, 4, 5, 6])
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
x = torch.randn(8, 4)
for _ in range(4):
    mask = (keep > 7).float()
    h = a(x) * mask
    loss = (b(h) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
