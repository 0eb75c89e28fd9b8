"""everflow doctor, new, plot and completion."""

import shutil
import subprocess
import sys

import pytest

import everflow as tf
from everflow.cli import COMMANDS, doctor, main


@pytest.fixture
def logs(tmp_path):
    for run, slope in (("a", 1), ("b", -1)):
        with tf.summary.FileWriter(str(tmp_path / run)) as writer:
            for step in range(20):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=slope * step)]), step)
    return tmp_path


def test_plot_in_the_terminal(logs, capsys):
    assert main(["plot", str(logs), "--width", "40", "--height", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "loss" and lines[1].startswith("       19 │") and lines[5].startswith("      -19 │")
    assert lines[-2:] == ["           a: 19 at step 19", "           b: -19 at step 19"]
    assert all(len(line) <= 40 for line in lines)


def test_plot_smooths_without_a_bias(logs, capsys):
    assert main(["plot", str(logs / "a"), "--smooth", "0.5", "--tag", "^loss$"]) == 0
    expected = sum(0.5 ** (20 - step) * step for step in range(20)) / (1 - 0.5**20)
    assert f"{expected:.6g} at step 19" in capsys.readouterr().out


def test_plot_to_a_file(logs, capsys):
    pytest.importorskip("matplotlib")
    assert main(["plot", str(logs), "--to", str(logs / "curves.png")]) == 0
    assert (logs / "curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("arguments", [["nothing"], [".", "--tag", "("], [".", "--smooth", "1"], ["."]])
def test_plot_says_what_is_wrong_in_a_line(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    assert main(["plot", *arguments]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_new_writes_a_program_that_trains(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "digits.py"]) == 0
    assert main(["new", "digits.py"]) == 1
    done = subprocess.run(
        [sys.executable, "-m", "everflow", "run", "digits.py", "--steps=100"], capture_output=True, text=True
    )
    assert "accuracy on unseen digits: 0.9" in done.stdout, done.stderr
    capsys.readouterr()
    assert main(["plot", "logs"]) == 0
    assert capsys.readouterr().out.count("at step 100") == 2
    assert main(["inspect", "logs"]) == 0


def test_doctor(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for text in ("Python ", "torch ", "Cores ", "Memory ", "works  a session"):
        assert text in out
    assert "\x1b" not in out


def test_doctor_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "OPTIONAL", [("no_such_package", 'pydot (or "everflow[plot]")', "pictures")])
    assert main(["doctor", "--no-test"]) == 0
    assert 'pip install pydot (or "everflow[plot]")' in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    for word in (*COMMANDS, "tf0", "sys-prefix", "smooth"):
        assert word in out


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(capsys):
    assert main(["completion", "bash"]) == 0
    script = (
        capsys.readouterr().out
        + '\nCOMP_WORDS=(everflow inspect --js); COMP_CWORD=2; _everflow; echo "${COMPREPLY[@]}"'
    )
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout == "--json\n"
