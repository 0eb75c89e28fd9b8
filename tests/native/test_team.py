"""Threads that help with regions."""

import multiprocessing
import threading

import numpy as np
import pytest

from everflow.native import team, toolchain
from everflow.native.codegen import SHARED_WORK, Writer
from everflow.native.values import input_value, product

pytestmark = pytest.mark.skipif(not toolchain.can_share(), reason="threads can't share here")

RANDOM = np.random.RandomState(0)


class Shared:
    """A region that is shared: sums of squares, row by row."""

    def __init__(self):
        rows = SHARED_WORK // 64
        writer, x = Writer(), input_value(0, "f4", [rows, 64])
        entry = writer.add([(x * x).reduce("sum", [1])], 1)
        assert entry.is_shared
        self.x = RANDOM.randint(-9, 9, [rows, 64]).astype("f4")
        self.expected = (self.x * self.x).sum(1)
        self.call = toolchain.Loaded(toolchain.object_code(writer.text()), [entry.name]).function(entry.name)

    def run(self, threads):
        out = np.full(len(self.x), np.nan, "f4")
        self.call(self.x.ctypes.data, out.ctypes.data, 0, threads)
        return out


@pytest.fixture(scope="module")
def shared():
    return Shared()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_all_rows_are_there_whoever_comes(shared, threads):
    toolchain.gather_helpers(threads)
    for _ in range(50):
        np.testing.assert_array_equal(shared.run(threads), shared.expected)


def test_who_finds_the_team_busy_goes_alone(shared):
    toolchain.gather_helpers(3)
    wrong = []

    def run():
        wrong.extend(i for i in range(50) if (shared.run(3) != shared.expected).any())

    callers = [threading.Thread(target=run) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_helpers_are_started_once(shared):
    toolchain.gather_helpers(3)
    count = team.HELPERS.count
    assert count >= 2
    toolchain.gather_helpers(2)
    assert team.HELPERS.count == count


def _in_child(shared, answer):
    right = [(shared.run(2) == shared.expected).all() for _ in range(3)]
    alone = team.HELPERS.count
    toolchain.gather_helpers(2)
    right += [(shared.run(2) == shared.expected).all() for _ in range(3)]
    answer.send((alone, all(right)))


def test_a_forked_process_has_no_helpers_and_may_have_its_own(shared):
    toolchain.gather_helpers(2)
    shared.run(2)
    there, here = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=(shared, there))
    child.start()
    assert here.poll(60) and here.recv() == (0, True)
    child.join()


@pytest.mark.skipif(not toolchain.can_multiply(), reason="there is no BLAS at hand")
def test_threads_that_stay_meet_wherever_one_needs_another(shared):
    toolchain.gather_helpers(2)
    writer, x = Writer(), input_value(0, "f4", [128, 128])
    value = x
    for _ in range(12):
        value = product(value, x) * 0.0 + value
    entry = writer.add([value], 1)
    assert entry.is_shared
    call = toolchain.Loaded(toolchain.object_code(writer.text()), [entry.name]).function(entry.name)
    given, out = RANDOM.randint(-3, 3, [128, 128]).astype("f4"), np.empty([128, 128], "f4")
    scratch = np.full(entry.scratch + 1, 0xAA, "u1")
    for _ in range(20):
        out[:] = np.nan
        call(given.ctypes.data, out.ctypes.data, scratch.ctypes.data, 2)
        np.testing.assert_array_equal(out, given)
