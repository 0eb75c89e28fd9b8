"""Values that leave for another task and come from one: by whoever the run says carries them."""

from types import SimpleNamespace

import pytest
import torch

from everflow.kernels.facts import Waits
from everflow.kernels.registry import function_of, lookup
from everflow.kernels.rendezvous import CARRIER


class Carrier:
    def __init__(self):
        self.held = {}

    def send(self, name, value):
        self.held[name] = value

    def recv(self, name):
        return self.held.pop(name)


def test_what_was_sent_is_received_under_its_name():
    step = SimpleNamespace(container={CARRIER: Carrier()})
    for name, value in (("a", torch.ones(2)), ("b", torch.zeros(1))):
        function_of("_Send")(value, node=SimpleNamespace(name=name), step=step)
    found = function_of("_Recv")(node=SimpleNamespace(name="a"), step=step)
    assert found.tolist() == [1, 1] and list(step.container[CARRIER].held) == ["b"]


def test_a_run_without_a_carrier_can_not_send():
    with pytest.raises(KeyError):
        function_of("_Send")(torch.ones(1), node=SimpleNamespace(name="a"), step=SimpleNamespace(container={}))


def test_receiving_waits_for_others():
    assert lookup("_Recv").facts.waits is Waits.OUTSIDE and lookup("_Send").facts.waits is Waits.NEVER
