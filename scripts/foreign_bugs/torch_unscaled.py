"""Silent; line 13; scale|unscaled|0 to 255|range|255|normal."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

net = nn.Sequential(nn.Linear(49, 16), nn.Tanh(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
images = torch.randint(0, 256, (64, 49)).float()
labels = torch.randint(0, 3, (64,))
for _ in range(12):
    loss = F.cross_entropy(net(images), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
