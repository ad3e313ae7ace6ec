"""Silent; line 13|25; sigmoid|logits."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return torch.sigmoid(self.net(x)).squeeze(1)


torch.manual_seed(0)
model = Classifier()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
X = torch.randn(96, 8)
Y = (X[:, 0] > 0).float()
for _ in range(4):
    for xb, yb in DataLoader(TensorDataset(X, Y), batch_size=24, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
