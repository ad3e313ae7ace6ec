"""Wrong; line 17; backward|Scale; weight."""
import torch
from torch import nn

torch.manual_seed(0)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x, k)
        return x * k

    @staticmethod
    def backward(ctx, dy):
        x, k = ctx.saved_tensors
        return dy, (dy * x).sum()


lin = nn.Linear(3, 2)
k = nn.Parameter(torch.tensor(1.7))
opt = torch.optim.SGD([*lin.parameters(), k], lr=0.01)
x = torch.randn(6, 3)
for _ in range(3):
    loss = Scale.apply(lin(x), k).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
