"""Silent; line 8|17; lr|learning rate|update."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.1)
x = torch.randn(40, 5)
y = x @ torch.ones(5, 1)
for _ in range(3):
    for i in range(0, 40, 8):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[i:i + 8]), y[i:i + 8])
        loss.backward()
        opt.step()
        sched.step()  # per batch
