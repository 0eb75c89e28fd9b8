"""Groups of processes on gloo; here each process is a thread, which is all the same to gloo."""

import datetime
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.distributed as dist

from everflow.framework import errors
from everflow.kernels import process_group
from everflow.kernels.process_group import BROADCAST, GATHER, REDUCE, ProcessGroup, Request, Store

_SOON = datetime.timedelta(seconds=20)


@pytest.fixture(params=[2, 3])
def groups(request):
    store = Store(dist.HashStore(), "here")
    with ThreadPoolExecutor(request.param) as pool:
        made = list(
            pool.map(lambda rank: ProcessGroup(store, rank, request.param, timeout=_SOON), range(request.param))
        )
    yield made
    for group in made:
        if not group.is_broken:
            group.close()


def _submit(group, key, kind, value, **options):
    return group.submit(Request(key, kind, torch.as_tensor(value), **options))


def test_requests_meet_whatever_their_order(groups):
    keys = list(range(60))  # more than one message has room for
    futures = []
    for group in groups:
        order = keys if group.rank % 2 else keys[::-1]
        made = {key: _submit(group, key, REDUCE, [float(key), group.rank]) for key in order}
        futures.append([made[key] for key in keys])
    total = sum(g.rank for g in groups)
    for made in futures:
        assert [f.result(20).tolist() for f in made] == [[float(key * len(groups)), total] for key in keys]


@pytest.mark.parametrize("bucket", [0, 64, 1 << 20])
def test_buckets_change_nothing(groups, bucket, monkeypatch):
    monkeypatch.setattr(process_group, "BUCKET", bucket)
    shapes = [(3,), (), (2, 2), (0,), (5,)]
    made = [
        [_submit(group, i, REDUCE, torch.full(shape, group.rank + 1.0)) for i, shape in enumerate(shapes)]
        for group in groups
    ]
    wanted = sum(g.rank + 1.0 for g in groups)
    for futures in made:
        for shape, future in zip(shapes, futures, strict=True):
            assert torch.equal(future.result(20), torch.full(shape, wanted))


def test_what_may_be_merged(groups):
    values = [torch.tensor([2.0, -1.0]) * (g.rank + 1) for g in groups]
    wanted = {
        "Add": torch.stack(values).sum(0),
        "Mul": torch.stack(values).prod(0),
        "Min": torch.stack(values).min(0).values,
        "Max": torch.stack(values).max(0).values,
    }
    for key, (merge, result) in enumerate(wanted.items()):
        futures = [_submit(g, key, REDUCE, v, merge=merge) for g, v in zip(groups, values, strict=True)]
        assert all(torch.equal(f.result(20), result) for f in futures)


def test_rows_of_different_number_are_gathered(groups):
    futures = [_submit(g, 5, GATHER, torch.full((g.rank, 2), g.rank)) for g in groups]
    wanted = torch.cat([torch.full((g.rank, 2), g.rank) for g in groups])
    assert all(torch.equal(f.result(20), wanted) for f in futures)


def test_one_sends_and_the_input_stays(groups):
    given = [torch.tensor([float(g.rank)]) for g in groups]
    futures = [_submit(g, 1, BROADCAST, v, is_source=g.rank == 1) for g, v in zip(groups, given, strict=True)]
    assert [f.result(20).item() for f in futures] == [1.0] * len(groups)
    assert [v.item() for v in given] == [float(g.rank) for g in groups]


def test_unlike_requests_fail_alone(groups):
    bad = [_submit(g, 1, REDUCE, torch.zeros(g.rank + 1)) for g in groups]
    good = [_submit(g, 2, REDUCE, [1]) for g in groups]
    for future in bad:
        with pytest.raises(errors.InvalidArgumentError, match="Shape mismatch"):
            future.result(20)
    assert [f.result(20).item() for f in good] == [len(groups)] * len(groups)


def test_what_was_taken_back_is_not_waited_for(groups):
    request = Request(1, REDUCE, torch.tensor([5.0]))
    groups[0].submit(request)
    assert groups[0].withdraw(request) and not groups[0].withdraw(request)
    futures = [_submit(g, 1, REDUCE, [1.0]) for g in groups]
    assert [f.result(20).item() for f in futures] == [len(groups)] * len(groups)


def test_a_lost_process_ends_the_others(groups):
    future = _submit(groups[0], 1, REDUCE, [1.0])
    groups[1].close()
    with pytest.raises(errors.UnavailableError, match="lost"):
        future.result(20)
    assert groups[0].is_broken
    with pytest.raises(errors.UnavailableError):
        _submit(groups[0], 1, REDUCE, [1.0])


def test_one_that_hangs_ends_the_others_in_time(monkeypatch):
    monkeypatch.setenv("EVERFLOW_COLLECTIVE_TIMEOUT", "0.5")
    store = Store(dist.HashStore(), "here")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda rank: ProcessGroup(store, rank, 2), range(2))
    with pytest.raises(errors.UnavailableError, match="took too long"):
        _submit(first, 1, REDUCE, [1.0]).result(20)
    second.close()


def test_stores_are_found_by_their_address():
    kept = Store.serve("localhost")
    found = Store.at(kept.address)
    kept.part("a").store.set("word", "yes")
    found.part("b").store.set("word", "no")
    assert found.part("a").store.get("word") == b"yes" and found.address.startswith("localhost:")
    with pytest.raises(errors.UnavailableError, match="host:port"):
        Store.at("nowhere")


def test_what_nobody_waits_for_comes_together(monkeypatch):
    """Each agreement costs messages between all, so requests gather until somebody needs one."""
    monkeypatch.setattr(process_group, "_GATHERING", 60.0)
    told, tell = [], ProcessGroup._tell

    def noting(self, mine):
        told.append(len(mine))
        return tell(self, mine)

    monkeypatch.setattr(ProcessGroup, "_tell", noting)
    group = ProcessGroup(Store(dist.HashStore(), "here"), 0, 1)
    requests = [Request(key, "reduce", torch.ones(2)) for key in range(5)]
    futures = [group.submit(request) for request in requests]
    assert not any(future.done() for future in futures)
    group.hurry(requests[0])
    assert [future.result(timeout=30).tolist() for future in futures] == [[1.0, 1.0]] * 5
    assert told == [5]
    group.close()


def _step(groups, values, keys=(1, 2, 3)):
    """What each process gets for its tensors of a step."""
    requests = [[Request(key, REDUCE, value * key) for key in keys] for value in values]
    for group, made in zip(groups, requests, strict=True):
        for request in made:
            group.submit(request)
    for group, made in zip(groups, requests, strict=True):
        group.hurry(made[0])
    return [[request.future.result(20) for request in made] for made in requests]


def test_steps_that_are_alike_need_no_agreement(groups, monkeypatch):
    told, tell = [], ProcessGroup._tell
    monkeypatch.setattr(ProcessGroup, "_tell", lambda self, mine: (told.append(self.rank), tell(self, mine))[1])
    held = None
    for number in range(30):
        values = [torch.full((4, 2), float(g.rank + number)) for g in groups]
        results = _step(groups, values)
        for made in results:
            assert all(torch.equal(result, sum(values) * key) for key, result in zip((1, 2, 3), made, strict=True))
        if number == 20:
            told.clear()
            held = results[0][1]
            wanted = held.clone()
    assert not told
    assert torch.equal(held, wanted)  # memory that somebody holds is not used again


def test_something_else_than_expected(groups):
    """A process that comes with something new is heard, and the others' requests are served when it has theirs."""
    values = [torch.full((3,), float(g.rank)) for g in groups]
    for _ in range(10):
        _step(groups, values)
    early = [Request(key, REDUCE, values[0] * key) for key in (1, 2, 3)]
    for request in early:
        groups[0].submit(request)
    for group in groups[1:]:
        other = Request(9, REDUCE, torch.ones(5))
        group.submit(other)
        group.hurry(other)
    last = Request(9, REDUCE, torch.ones(5))
    groups[0].submit(last)
    groups[0].hurry(last)
    assert last.future.result(20).tolist() == [float(len(groups))] * 5
    rest = [[Request(key, REDUCE, value * key) for key in (1, 2, 3)] for value in values[1:]]
    for group, made in zip(groups[1:], rest, strict=True):
        for request in made:
            group.submit(request)
            group.hurry(request)
    assert [r.future.result(20).tolist() for r in early] == [(sum(values) * key).tolist() for key in (1, 2, 3)]
    for _ in range(20):  # and it is learnt anew
        assert torch.equal(_step(groups, values)[0][0], sum(values))
