"""Members of collective ops meet by group and instance."""

from concurrent.futures import Future

import pytest
import torch

from everflow.framework import errors
from everflow.kernels.exchange import BROADCAST, GATHER, REDUCE, Collective, Exchange, exchange_of, join, leave
from everflow.runtime.state import SessionState, Step

STEP = Step(SessionState(), timeout_in_ms=20_000)


def _start(exchange, kind, values, instance=1, **options):
    collective = Collective(kind, 7, len(values), instance, **options)
    return [exchange.start(collective, f"cpu{i}", torch.as_tensor(v)) for i, v in enumerate(values)]


def _results(members):
    return [m.wait(STEP).tolist() for m in members]


def test_devices_of_a_process_meet():
    exchange = Exchange()
    assert _results(_start(exchange, REDUCE, [[1.0, 2.0], [3.0, 4.0]])) == [[4.0, 6.0]] * 2
    assert _results(_start(exchange, REDUCE, [[2.0], [3.0], [4.0]][:2], merge="Mul")) == [[6.0]] * 2
    assert _results(_start(exchange, REDUCE, [[5], [-8]], divides=True)) == [[-1]] * 2
    assert _results(_start(exchange, GATHER, [[[1]], [[2]]])) == [[[1], [2]]] * 2


def test_the_source_of_a_broadcast_may_be_any():
    exchange, collective = Exchange(), Collective(BROADCAST, 1, 2, 1)
    members = [
        exchange.start(collective, "cpu0", torch.zeros(1)),
        exchange.start(collective, "cpu1", torch.ones(1), True),
    ]
    assert _results(members) == [[1.0]] * 2


def test_results_are_memory_of_their_own():
    given = torch.ones(2)
    members = _start(Exchange(), REDUCE, [given, given])
    first, second = (m.wait(STEP) for m in members)
    first.zero_()
    assert second.tolist() == [2.0, 2.0] and given.tolist() == [1.0, 1.0]


def test_instances_and_their_next_uses_are_apart():
    exchange = Exchange()
    first = Collective(REDUCE, 1, 2, 1)
    other = Collective(REDUCE, 1, 2, 2)
    a = [exchange.start(c, "cpu0", torch.tensor([v])) for c, v in [(first, 1.0), (other, 10.0), (first, 100.0)]]
    b = [exchange.start(c, "cpu1", torch.tensor([v])) for c, v in [(first, 2.0), (first, 200.0), (other, 20.0)]]
    assert _results(a) == [[3.0], [30.0], [300.0]] and _results(b) == [[3.0], [300.0], [30.0]]


def test_members_must_be_alike():
    members = _start(Exchange(), REDUCE, [[1.0], [1.0, 2.0]])
    for member in members:
        with pytest.raises(errors.InvalidArgumentError, match="Shape mismatch"):
            member.wait(STEP)
    exchange = Exchange()
    _start(exchange, REDUCE, [[1.0], [2.0]])
    with pytest.raises(errors.InternalError, match="2 members"):
        exchange.start(Collective(REDUCE, 7, 3, 1), "cpu0", torch.zeros(1))


def test_a_failed_run_takes_back_what_it_brought():
    exchange, collective = Exchange(), Collective(REDUCE, 1, 2, 1)
    exchange.start(collective, "cpu0", torch.tensor([99.0])).release()
    members = [exchange.start(collective, f"cpu{i}", torch.tensor([1.0])) for i in range(2)]
    assert _results(members) == [[2.0]] * 2


def test_waiting_ends_with_the_run():
    member = Exchange().start(Collective(REDUCE, 1, 2, 1), "cpu0", torch.zeros(1))
    with pytest.raises(errors.DeadlineExceededError):
        member.wait(Step(SessionState(), timeout_in_ms=50))


def test_a_group_that_can_not_be_had_ends_its_members():
    asked = Future()
    exchange = Exchange(lambda key, size, device: asked)
    member = exchange.start(Collective(REDUCE, 1, 2, 1), "cpu0", torch.zeros(1))
    asked.set_exception(errors.UnavailableError(None, None, "nobody there"))
    with pytest.raises(errors.UnavailableError, match="nobody there"):
        member.wait(STEP)


def test_each_run_has_an_exchange():
    step = Step(SessionState())
    assert exchange_of(step, 1, "cpu0") == (exchange_of(step, 1, "cpu0")[0], "cpu0")
    assert exchange_of(Step(SessionState()), 1, "cpu0")[0] is not exchange_of(step, 1, "cpu0")[0]


def test_a_process_is_one_member_whatever_runs_in_it():
    class Doubling:
        is_broken = False

        def submit(self, request):
            request.future.set_result(request.tensor * 2)
            return request.future

    join(-5, Doubling())
    try:
        for device in ("cpu0", "cpu1"):
            exchange, name = exchange_of(Step(SessionState()), -5, device)
            member = exchange.start(Collective(REDUCE, -5, 2, 1), name, torch.tensor([3.0]))
            assert member.wait(STEP).tolist() == [6.0]
    finally:
        leave(-5)
    assert exchange_of(Step(SessionState()), -5, "cpu0")[1] == "cpu0"
