"""Nan; line 13|19; / 0|temperature|division|zero."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
router = nn.Linear(5, 3)
experts = nn.ModuleList(nn.Linear(5, 1) for _ in range(3))
opt = torch.optim.Adam([*router.parameters(), *experts.parameters()], lr=1e-3)
x, y = torch.randn(20, 5), torch.randn(20, 1)
temperature = 1.0
for _ in range(12):
    gates = F.softmax(router(x) / temperature, dim=-1)
    mix = (gates.unsqueeze(1) * torch.stack([e(x) for e in experts], -1)).sum(-1)
    loss = F.mse_loss(mix, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    temperature = round(temperature - 0.25, 2)
