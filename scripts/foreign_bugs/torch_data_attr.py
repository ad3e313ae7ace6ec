"""None; line 12; [.]data|detach; emb.weight."""
import torch
from torch import nn

torch.manual_seed(0)

emb, top = nn.Linear(3, 6), nn.Linear(6, 1)
opt = torch.optim.SGD([*emb.parameters(), *top.parameters()], lr=0.1)
x = torch.randn(9, 3)
for _ in range(4):
    h = torch.sigmoid(emb(x))
    z = h.data * 2
    loss = (top(z) - 1).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
