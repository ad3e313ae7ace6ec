"""None; line 14; detach; online.weight."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
online, predictor = nn.Linear(6, 4), nn.Linear(4, 4)
target = nn.Linear(6, 4)
target.load_state_dict(online.state_dict())
opt = torch.optim.SGD([*online.parameters(), *predictor.parameters()], lr=0.1)
x = torch.randn(16, 6)
for _ in range(12):
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    p = predictor(online(a).detach())
    z = target(b)
    loss = 2 - 2 * F.cosine_similarity(p, z, dim=-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for q, k in zip(online.parameters(), target.parameters()):
            k.mul_(0.99).add_(q, alpha=0.01)
