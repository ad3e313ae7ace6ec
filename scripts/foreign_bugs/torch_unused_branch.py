"""None; line 12; not used|nothing .* uses|never used; b.weight."""
import torch
from torch import nn

torch.manual_seed(0)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(self.a(x) + self.a(x))


net = Two()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(12, 4)
for _ in range(4):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
