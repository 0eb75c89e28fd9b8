"""The thread that waits for the compiler."""

import sys

from everflow.native import background as background_module
from everflow.native.background import Ending, _Background, is_possible


def test_the_background_does_one_thing_after_the_other():
    background, seen = _Background(), []
    for number in range(5):
        background.submit(lambda number=number: seen.append(number))
    background._jobs.put(None)
    background._thread.join()
    assert seen == [0, 1, 2, 3, 4]


def test_a_job_that_fails_is_told_and_the_next_is_done(caplog):
    background, seen = _Background(), []

    def fail():
        raise RuntimeError("no code today")

    background.submit(fail)
    background.submit(lambda: seen.append(1))
    background._jobs.put(None)
    background._thread.join()
    assert seen == [1] and "could not be compiled" in caplog.text


def test_a_program_of_its_own_has_no_compiler(monkeypatch):
    assert is_possible()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not is_possible()


def test_code_that_a_program_which_ends_was_waiting_for_is_nothing_to_tell(caplog):
    def end():
        raise Ending

    _Background().attempt(end)
    assert not caplog.text


def test_a_long_job_leaves_the_lock_to_others_unless_somebody_waits_for_it(monkeypatch):
    rests = []
    monkeypatch.setattr(background_module, "_AT_A_STRETCH", 0.0)
    monkeypatch.setattr(background_module.time, "sleep", rests.append)
    background = _Background()
    background.breathe()  # not in the background: nothing to rest from
    assert not rests

    def work():
        background.breathe()
        with background.hurrying():
            background.breathe()

    background.submit(work)
    background._jobs.put(None)
    background._thread.join()
    assert len(rests) == 1
