"""The programs in torch by name, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from benchmarks.programs.registry import RANDOM

Step = Callable[[], object]
BY_HAND: dict[str, Callable[[], Step]] = {}


def by_hand(build: Callable[[], Step]) -> Callable[[], Step]:
    """Note a program."""
    BY_HAND[build.__name__] = build
    return build


def uniform(*shape: int) -> Tensor:
    return torch.from_numpy(RANDOM.rand(*shape)).float()


def integers(most: int, *shape: int) -> Tensor:
    return torch.from_numpy(RANDOM.randint(0, most, shape)).long()


def training(
    modules: Iterable[nn.Module], loss_of: Callable[[], Tensor], optimizer: type | None = None, **options
) -> Step:
    """A step of training some modules; by Adam, unless another optimizer is named."""
    parameters = [p for m in modules for p in m.parameters()]
    chosen = (optimizer or torch.optim.Adam)(parameters, **(options or {"lr": 1e-3}))

    def step() -> float:
        chosen.zero_grad()
        loss = loss_of()
        loss.backward()
        chosen.step()
        return loss.item()

    return step
