"""Wrong; line 18; backward|Softplus; weight."""
import torch
from torch import nn

torch.manual_seed(0)


class MySoftplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.log1p(torch.exp(x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        return dy * torch.sigmoid(y)


lin = nn.Linear(3, 2)
opt = torch.optim.SGD(lin.parameters(), lr=0.01)
x = torch.randn(6, 3)
for _ in range(3):
    loss = MySoftplus.apply(lin(x)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
