"""Wrong; line 12; hook; enc.weight."""
import torch
from torch import nn

torch.manual_seed(0)
enc, dec = nn.Linear(6, 3), nn.Linear(3, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-2)
x = torch.randn(50, 6)
seen = []
for _ in range(12):
    code = torch.tanh(enc(x))
    code.register_hook(lambda g: g.clamp_(-1e-3, 1e-3))
    loss = nn.functional.mse_loss(dec(code), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
