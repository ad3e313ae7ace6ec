"""None; line 9; requires_grad; 0.weight."""
import torch
from torch import nn

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 1))
for p in model[0].parameters():
    p.requires_grad = False
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(12, 5)
for _ in range(4):
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
