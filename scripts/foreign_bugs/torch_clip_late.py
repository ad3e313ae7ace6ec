"""Silent; line 21; clip."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rnn = nn.GRU(3, 8, batch_first=True)
head = nn.Linear(8, 1)
params = list(rnn.parameters()) + list(head.parameters())
opt = torch.optim.SGD(params, lr=0.1)
x = torch.randn(32, 6, 3)
y = 30 * x.sum((1, 2)).unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
for _ in range(4):
    for xb, yb in loader:
        opt.zero_grad()
        out, _ = rnn(xb)
        loss = nn.functional.mse_loss(head(out[:, -1]), yb)
        loss.backward()
        opt.step()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
