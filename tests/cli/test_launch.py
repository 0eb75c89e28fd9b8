"""`everflow launch`: the tasks it plans, what it prints, and how it ends."""

import json
import subprocess
import sys

from everflow.cli import launch
from everflow.cli.launch import plan_tasks


def _launch(*words):
    command = [sys.executable, "-m", "everflow", "launch", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_workers_have_ranks():
    first, second = plan_tasks(2)
    assert (first.name, second.name) == ("worker 0", "worker 1")
    config = json.loads(second.environment["TF_CONFIG"])
    assert config["task"] == {"type": "worker", "index": 1} and len(config["cluster"]["worker"]) == 2
    assert (second.environment["RANK"], second.environment["WORLD_SIZE"]) == ("1", "2")


def test_workers_share_the_processors(monkeypatch):
    monkeypatch.setattr(launch, "_usable_processors", lambda: 9)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [t.environment.get("OMP_NUM_THREADS") for t in plan_tasks(4)] == ["2"] * 4
    assert plan_tasks(20)[0].environment["OMP_NUM_THREADS"] == "1"
    assert "OMP_NUM_THREADS" not in plan_tasks(1)[0].environment
    monkeypatch.setenv("OMP_NUM_THREADS", "3")  # whoever chooses keeps the choice
    assert "OMP_NUM_THREADS" not in plan_tasks(4)[0].environment


def test_parameter_servers_come_with_a_chief():
    tasks = plan_tasks(2, 1, evaluator=True)
    assert [t.name for t in tasks] == ["chief 0", "worker 0", "ps 0", "evaluator 0"]
    assert [t.environment.get("RANK") for t in tasks] == ["0", "1", None, None]
    assert [t.serves for t in tasks] == [False, False, True, False]
    cluster = tasks[0].cluster
    words = tasks[1].filled(["--job={job}", "--index={index}", "--ps={ps}", "--other={x}"])
    assert words == ["--job=worker", "--index=0", f"--ps={cluster['ps'][0]}", "--other={x}"]


def test_lines_have_names_and_servers_end_with_the_workers(tmp_path):
    script = tmp_path / "task.py"
    script.write_text(
        "import sys, time, os\nprint('hello from', sys.argv[1])\nif sys.argv[1] == 'ps':\n    time.sleep(100)\n"
    )
    done = _launch("-n", "2", "--ps", "1", str(script), "{job}")
    assert done.returncode == 0, done.stdout
    assert {"[chief 0] hello from chief", "[worker 0] hello from worker"} <= set(done.stdout.splitlines())


def test_the_first_failure_ends_all(tmp_path):
    script = tmp_path / "task.py"
    script.write_text("import os, time\nif os.environ['RANK'] == '1':\n    raise SystemExit(3)\ntime.sleep(100)\n")
    done = _launch("-n", "2", str(script))
    assert done.returncode == 3 and "worker 1 failed with exit code 3" in done.stdout
    assert _launch().returncode == 2
