"""Silent; line 15; sign|ris|uphill|ascen|wrong direction|adds."""
import torch

torch.manual_seed(0)
X = torch.randn(50, 4)
w_true = torch.tensor([1.0, -1.0, 0.5, 2.0])
y = X @ w_true
w = torch.zeros(4, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.02
for _ in range(15):
    loss = ((X @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w += lr * w.grad
        b += lr * b.grad
        w.grad.zero_()
        b.grad.zero_()
