"""What `python -m benchmarks` measures, with measurements that are made up."""

import subprocess
import sys

from benchmarks import __main__ as main
from benchmarks.programs import PASSES
from benchmarks.turns import Outcome

FIGURES = {"median": 2.0, "first": 0.5, "megabytes": 10.0, "nodes": 7.0, "steps_a_second": 500.0}


def made_up(jobs):
    return {job: Outcome([FIGURES]) for job in jobs}


def test_programs_without_a_form_in_torch_have_no_figure_there():
    text, outcomes = main.programs(["linear", "tagger"], ["everflow", "torch"], made_up)
    assert [(job.module, job.program) for job in outcomes] == [
        ("everflow", "linear"),
        ("torch", "linear"),
        ("everflow", "tagger"),
    ]
    assert "| `linear` | 2 (2 to 2) | – | 2 (2 to 2) | – | 1.00 |" in text


def test_scaling_goes_through_all_sizes():
    text = main.scaling(["everflow", "tensorflow"], made_up)
    assert text.count("| `perceptron` |") == len(main.SCALING["batch"]) + len(main.SCALING["callers"])
    assert "| `perceptron` | 4 threads | 7 | 500 | 500 |" in text


def test_bandwidth_has_every_stream():
    text = main.bandwidth(["everflow"], made_up)
    assert all(f"| `{name}` |" in text for name in PASSES)


def test_a_program_that_is_not_there_is_told():
    done = subprocess.run([sys.executable, "-m", "benchmarks", "no_such"], capture_output=True, text=True)
    assert done.returncode == 2 and "there is no no_such" in done.stderr
