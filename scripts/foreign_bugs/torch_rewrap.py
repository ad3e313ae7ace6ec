"""None; line 13; torch.tensor|numpy|new tensor|leaf|copied|outside; policy.weight."""
import torch
from torch import nn

torch.manual_seed(0)
policy, value = nn.Linear(4, 2), nn.Linear(4, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)
obs = torch.randn(8, 4)
returns = torch.randn(8)
for _ in range(4):
    logp = torch.log_softmax(policy(obs), -1)[:, 0]
    adv = returns - value(obs).squeeze(-1)
    pg = torch.stack([torch.tensor([float(p)]) for p in logp]).squeeze(-1)
    loss = -(pg * adv.detach()).mean() + adv.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
