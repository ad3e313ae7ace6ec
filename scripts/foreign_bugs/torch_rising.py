"""Silent; line 15; sign|maxim|rise|rising|ris|grow|up."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)

policy = nn.Linear(4, 3)
opt = torch.optim.Adam(policy.parameters(), lr=0.05)
s0 = torch.randn(50, 4)
a = torch.randint(0, 3, (50,))
r = torch.rand(50) + 1
for _ in range(15):
    logp = F.log_softmax(policy(s0), 1)[torch.arange(50), a]
    loss = (logp * r).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
