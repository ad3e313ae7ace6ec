"""None; line 17; no_grad; features.weight."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(5, 5)
        self.head = nn.Linear(5, 2)

    def embed(self, x):
        with torch.no_grad():
            return torch.relu(self.features(x))

    def forward(self, x):
        return self.head(self.embed(x))


model = Net()
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(12, 5), torch.randint(0, 2, (12,))
for _ in range(4):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
