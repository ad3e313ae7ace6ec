"""Silent; line 13; sigmoid."""
import torch
from torch import nn

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(64, 8)
y = (x[:, :1] > 0).float()
for _ in range(12):
    prob = torch.sigmoid(model(x))
    loss = crit(prob, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
