"""What `python -m benchmarks` measures, with measurements that are made up."""

import subprocess
import sys

from benchmarks import __main__ as main
from benchmarks.programs import PASSES, PROGRAMS
from benchmarks.turns import Outcome

FIGURES = {
    "median": 2.0,
    "first": 0.5,
    "until_first": 1.5,
    "peak": 300.0,
    "megabytes": 10.0,
    "nodes": 7.0,
    "steps_a_second": 500.0,
}


def made_up(measured):
    return {job: Outcome([FIGURES]) for job in measured.jobs()}


def test_programs_without_a_form_in_torch_have_no_figure_there():
    measured = main.Measured(["linear", "tagger"], ["everflow", "torch"])
    assert [(job.module, job.program) for job in measured.jobs()] == [
        ("everflow", "linear"),
        ("torch", "linear"),
        ("everflow", "tagger"),
    ]
    text = measured.text(made_up(measured))
    assert "| `linear` | 2 (2 to 2) | – | 2 (2 to 2) | – | 1.00 |" in text
    assert "| geometric mean |  |  |  | – | 1.00 |" in text


def test_scaling_goes_through_all_sizes():
    measured = main.Measured(["scaling"], ["everflow", "tensorflow", "torch"])
    text = measured.text(made_up(measured))
    rows = [job for jobs in main.SCALING.values() for job in jobs if job.program == "perceptron"]
    assert text.count("| `perceptron` |") == len(rows)
    assert "| `perceptron` | 4 threads | 7 | 500 | 500 |" in text
    assert "| `perceptron` | 1 threads | 7 | 2 (2 to 2) | 2 (2 to 2) |" in text


def test_bandwidth_has_every_stream():
    measured = main.Measured(["bandwidth"], ["everflow"])
    text = measured.text(made_up(measured))
    assert all(f"| `{name}` |" in text for name in PASSES)


def test_the_page_has_all_programs_and_all_parts(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{main.tables.BEGIN}\nold\n{main.tables.END}\nafter\n")
    monkeypatch.setattr(main, "PAGE", page)
    monkeypatch.setattr(main, "PICTURE", page.with_suffix(".svg"))
    measured = main.Measured([*PROGRAMS, *main.PARTS], ["everflow", "tensorflow", "torch"])
    main.write(measured, made_up(measured), 1.0)
    text = page.read_text()
    assert text.startswith("before") and text.endswith("after\n") and "old" not in text
    assert "1 rounds of 1 s each" in text and "(page.svg)" in text and page.with_suffix(".svg").exists()
    assert all(f"| `{name}` |" in text for name in (*PROGRAMS, *PASSES))


def test_a_program_that_is_not_there_is_told():
    done = subprocess.run([sys.executable, "-m", "benchmarks", "no_such"], capture_output=True, text=True)
    assert done.returncode == 2 and "there is no no_such" in done.stderr
