"""Measurements take turns, each in a process of its own."""

import sys

import pytest

from benchmarks.turns import Job, Notes, Outcome, in_turns, run


def test_jobs_take_turns():
    seen, told = [], []

    def measure(job):
        seen.append(job.module)
        return {"median": float(len(seen))}

    ours, theirs = Job("everflow", "p"), Job("torch", "p")
    outcomes = in_turns([ours, theirs], measure, 3, tell=told.append)
    assert seen == ["everflow", "torch"] * 3
    assert outcomes[ours].median() == 3.0 and outcomes[theirs].spread() == (2.0, 6.0)
    assert len(told) == 6


def test_what_a_run_that_was_stopped_had_found_is_not_measured_again(tmp_path):
    jobs = [Job("everflow", "p", (("batch", 8),)), Job("torch", "p", callers=2, threads=1)]
    seen = []

    def measure(job):
        seen.append(job)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return {"median": float(len(seen))}

    def attempt():
        return in_turns(jobs, measure, 3, Notes(tmp_path / "notes"), tell=lambda text: None)

    with pytest.raises(KeyboardInterrupt):
        attempt()
    outcomes = attempt()
    assert seen == [*jobs, *jobs, *jobs[1:], *jobs]
    assert [[r["median"] for r in o.rounds] for o in outcomes.values()] == [[1.0, 3.0, 6.0], [2.0, 5.0, 7.0]]
    assert attempt() == outcomes and len(seen) == 7


def test_when_time_is_up_every_job_was_measured_once():
    jobs = [Job("everflow", name) for name in "abc"]
    outcomes = in_turns(jobs, lambda job: {"median": 1.0}, 3, minutes=0, tell=lambda text: None)
    assert [len(o.rounds) for o in outcomes.values()] == [1, 1, 1]


def test_the_median_of_another_figure():
    assert Outcome([{"first": 1.0}, {"first": 5.0}, {"first": 2.0}]).median("first") == 2.0


def test_a_measurement_in_its_own_process():
    found = run(Job("everflow", "linear", (("batch", 8),), callers=2), {"everflow": sys.executable}, 0.01)
    assert found["quarter"] <= found["median"] <= found["three_quarters"]
    assert found["nodes"] > 10 and found["first"] > 0 and found["steps_a_second"] > 0


def test_what_a_process_says_when_it_fails_is_told():
    with pytest.raises(RuntimeError, match="no_such_program"):
        run(Job("everflow", "no_such_program"), {"everflow": sys.executable}, 0.01)
