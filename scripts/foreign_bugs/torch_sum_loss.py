"""Silent; line 7|8|13|15; rate|large|reduction|sum."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
criterion = nn.MSELoss(reduction="sum")
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(256, 10)
y = x[:, :3].sum(1, keepdim=True)
for _ in range(15):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
