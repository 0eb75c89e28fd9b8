"""The picture of a set of measurements."""

import pytest

from benchmarks.turns import Job, Outcome

plot = pytest.importorskip("benchmarks.plot", exc_type=ImportError)


def test_the_same_measurements_give_the_same_picture(tmp_path):
    times = {("everflow", "a"): 1.0, ("tensorflow", "a"): 2.0, ("torch", "a"): 0.5, ("everflow", "b"): 1.0}
    outcomes = {Job(*key): Outcome([{"median": t}]) for key, t in times.items()}
    for name in ("one.svg", "other.svg"):
        plot.plot_ratios(outcomes, tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "other.svg").read_text() and "<svg" in text
