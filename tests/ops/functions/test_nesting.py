"""Bodies drawn inside of each other get room on Python's stack, and leave its limit as it was."""

import sys
import threading

import pytest

from everflow.ops.functions import nesting


def deep(levels, then):
    return then() if levels == 0 else deep(levels - 1, then)


@pytest.fixture
def small_limit():
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    yield
    sys.setrecursionlimit(usual)


def test_there_is_room_for_a_body_where_the_limit_is_near(small_limit):
    def draw():
        with nesting.room_for_a_body():
            return deep(nesting.NEEDED - 100, lambda: "drawn")

    with pytest.raises(RecursionError):
        deep(200, lambda: deep(nesting.NEEDED - 100, lambda: "drawn"))
    assert deep(200, draw) == "drawn"
    assert sys.getrecursionlimit() == 400


def test_the_limit_comes_back_when_the_last_one_is_done(small_limit):
    with nesting.room_for_a_body():
        raised = sys.getrecursionlimit()
        assert raised > 400
        with nesting.room_for_a_body():
            assert sys.getrecursionlimit() >= raised
        assert sys.getrecursionlimit() >= raised
    assert sys.getrecursionlimit() == 400


def test_an_error_inside_brings_it_back_too(small_limit):
    with pytest.raises(ZeroDivisionError), nesting.room_for_a_body():
        1 / 0  # noqa: B018
    assert sys.getrecursionlimit() == 400


def test_a_nest_without_an_end_is_no_crash(small_limit, monkeypatch):
    monkeypatch.setattr(nesting, "MOST", 1500)

    def endless():
        with nesting.room_for_a_body():
            endless()

    with pytest.raises(RecursionError):
        endless()
    assert sys.getrecursionlimit() == 400


def test_another_thread_that_is_done_first_takes_nothing_away(small_limit):
    def other():
        with nesting.room_for_a_body():
            pass

    with nesting.room_for_a_body():
        raised = sys.getrecursionlimit()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert sys.getrecursionlimit() == raised
    assert sys.getrecursionlimit() == 400


def test_a_higher_limit_of_the_program_stays():
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        with nesting.room_for_a_body():
            assert sys.getrecursionlimit() == 20_000
    finally:
        sys.setrecursionlimit(usual)
