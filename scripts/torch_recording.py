"""What recording costs a PyTorch step: a small CNN, plain and recorded; and whether both compute the same bits.

Run it where torch is installed: python scripts/torch_recording.py
"""
from __future__ import annotations

import contextlib
import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))

from autodiff.foreign.torch.habits import Habits  # noqa: E402
from autodiff.foreign.torch.record import Calls, Recorder  # noqa: E402
from autodiff.ops.common.instead import instead  # noqa: E402

STEPS = 20


def train() -> tuple[str, float]:
    """A digest of all losses and of the trained parameters, and the median of a step's seconds."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.2),
                          nn.Linear(32 * 64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    digest, seconds = hashlib.sha1(), []
    for _ in range(STEPS):
        began = time.perf_counter()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - began)
        digest.update(loss.detach().numpy().tobytes())
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    return digest.hexdigest(), sorted(seconds)[STEPS // 2]


@contextlib.contextmanager
def recorded() -> Any:
    """Record as the door does, up to each backward, without building graphs."""
    recorder, real = Recorder(is_bounded=True), torch.Tensor.backward

    def backward(tensor: Any, *args: Any, **kwargs: Any) -> None:
        recorder.paused = True
        real(tensor, *args, **kwargs)
        recorder.paused = False
        recorder.turn()

    with instead([(torch.Tensor, "backward", backward)]), Calls(recorder), Habits(recorder), recorder:
        yield


def main() -> None:
    """Print both."""
    torch.set_num_threads(1)
    train()
    plain = train()
    with recorded():
        other = train()
    print(f"a step: {1e3 * plain[1]:.1f} ms plain, {1e3 * other[1]:.1f} ms recorded: {other[1] / plain[1]:.2f} times; "
          f"{'the same bits' if plain[0] == other[0] else 'OTHER BITS'}")


if __name__ == "__main__":
    main()
