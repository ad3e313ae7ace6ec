"""Silent; line 13; softmax|axis|dim|batch."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(64, 8)
y = torch.randint(0, 4, (64,))
for _ in range(12):
    logp = torch.log_softmax(model(x), dim=0)
    loss = F.nll_loss(logp, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
