"""Programs written by hand in torch take their steps, and stand beside one of ours each."""

import pytest
import torch

from benchmarks.by_hand import BY_HAND
from benchmarks.programs import PROGRAMS


def test_each_stands_beside_a_program():
    assert set(BY_HAND) - {"plain_copy"} <= set(PROGRAMS)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_program_takes_a_step(name):
    step = BY_HAND[name]()
    step()
    step()


@pytest.mark.parametrize("name", ["linear", "perceptron", "actor_critic", "attentive_gru"])
def test_losses_fall(name):
    torch.manual_seed(1)
    step = BY_HAND[name]()
    losses = [step() for _ in range(20)]
    assert losses[-1] < losses[0]
