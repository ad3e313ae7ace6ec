"""None; line 12; item|torch.tensor|number|new tensor|constant; enc.weight."""
import torch
from torch import nn

torch.manual_seed(0)

enc, dec = nn.Linear(4, 4), nn.Linear(4, 1)
x = torch.randn(8, 4)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
for _ in range(4):
    h = enc(x)
    penalty = torch.tensor(h.pow(2).mean().item())
    loss = dec(x).pow(2).mean() + penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
