"""Nan; line 16; norm|/ 0|divi."""
import torch
from torch import nn

torch.manual_seed(1)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 6, padding_idx=0)
        self.proj = nn.Linear(6, 6, bias=False)

    def encode(self, tokens):
        v = self.proj(self.emb(tokens)).mean(1)
        return v / v.norm(dim=-1, keepdim=True)

    def forward(self, a, b):
        return (self.encode(a) * self.encode(b)).sum(-1)


net = Siamese()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
a = torch.tensor([[1, 2, 3, 0], [0, 0, 0, 0], [4, 5, 0, 0]])
b = torch.tensor([[1, 2, 0, 0], [7, 8, 9, 0], [6, 0, 0, 0]])
target = torch.tensor([1.0, 0.0, 0.0])
for _ in range(4):
    sim = net(a, b)
    loss = ((sim - target) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
