"""Compiled loops are made once they are worth it, and not where they can't be."""

import threading
import time

import numpy as np
import pytest

from everflow.native.background import BACKGROUND
from everflow.native.loops import library
from everflow.native.loops.library import ENOUGH, Library


@pytest.fixture
def jobs(monkeypatch):
    found = []
    monkeypatch.setattr(BACKGROUND, "submit", found.append)
    monkeypatch.setattr(library, "_MODE", "auto")
    return found


def test_a_file_is_asked_for_once(jobs):
    hashes = Library("hashes", cost=1)
    for run in range(1, 30):
        assert hashes.ready(ENOUGH // 10) is None
        assert len(jobs) == (run >= 10)
    jobs[0]()
    assert hashes.ready(1) is hashes.code is not None


def test_switched_off(jobs, monkeypatch):
    monkeypatch.setattr(library, "_MODE", "off")
    assert Library("hashes", cost=1).ready(ENOUGH) is None and jobs == []


def test_made_at_once_where_that_is_wanted(jobs, monkeypatch):
    monkeypatch.setattr(library, "_MODE", "always")
    assert Library("hashes", cost=1).ready(1) is not None and jobs == []


def test_without_a_compiler(jobs, monkeypatch):
    monkeypatch.setattr(library, "is_possible", lambda: False)
    library.is_supported.cache_clear()
    try:
        assert Library("hashes", cost=1).ready(ENOUGH) is None and jobs == []
    finally:
        library.is_supported.cache_clear()


@pytest.fixture(scope="module")
def hashes():
    made = Library("hashes", cost=1)
    made.make()
    return made.code


@pytest.mark.parametrize("other", ["text", None, np.bytes_(b"a"), 5])
def test_cells_that_hold_no_bytes(hashes, other):
    array = np.array([b"a", other, b"b"], object)
    out = np.empty(3, np.int64)
    assert hashes.fingerprints(id(array), 3, out.ctypes.data, 10) < 0


def test_others_run_while_a_loop_leaves_the_lock(hashes):
    """A thread that counts gets on while another is in a loop that takes long."""
    array = np.full(2_000_000, b"x" * 200, object)
    out = np.empty(array.size, np.int64)
    marks, over = [], threading.Event()

    def watch():
        while not over.is_set():
            marks.append(time.perf_counter())
            time.sleep(0)

    thread = threading.Thread(target=watch)
    thread.start()
    while not marks:
        time.sleep(0)
    start = time.perf_counter()
    hashes.free.siphashes(id(array), array.size, out.ctypes.data, 10, 1, 2)
    end = time.perf_counter()
    over.set()
    thread.join()
    assert any(start < mark < end for mark in marks)
