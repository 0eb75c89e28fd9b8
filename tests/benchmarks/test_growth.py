"""The model of how steps grow: what must hold whatever the constants are."""

import pytest

from benchmarks import growth
from benchmarks.growth import GIGABIT, Model, Network, ring_step, server_step

SLOW, FAST = Network("slow", 10 * GIGABIT), Network("fast", 100 * GIGABIT)


@pytest.mark.parametrize("network", [SLOW, FAST])
def test_steps_grow_with_the_workers(network):
    model = Model()
    for step in (lambda n: ring_step(n, model, network), lambda n: server_step(n, 16, model, network)):
        times = [step(n) for n in growth.WORKERS]
        assert times == sorted(times) and times[0] >= model.compute


def test_a_faster_line_is_no_slower_and_more_servers_neither():
    for n in growth.WORKERS:
        assert ring_step(n, Model(), FAST) <= ring_step(n, Model(), SLOW)
        assert server_step(n, 16, Model(), SLOW) <= server_step(n, 4, Model(), SLOW)


def test_a_ring_sends_the_gradients_twice_however_many_there_are():
    costs = growth.Costs(0, 0, 0, 0, 0)
    model, network = Model(1e9, 0.0, 0.0), Network("line", 1e9, 0.0)
    assert ring_step(256, model, network, costs) == pytest.approx(2.0, rel=0.01)
    assert server_step(256, 256, model, network, costs) == pytest.approx(2.0)


def test_the_table_and_the_picture_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    growth.draw(tmp_path / "a.svg")
    growth.draw(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert growth.text().count("\n") == 7
