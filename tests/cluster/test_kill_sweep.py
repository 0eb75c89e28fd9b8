"""A few kills of each way; `python -m tests.cluster.kill_sweep` makes a hundred."""

import os
import subprocess
import sys

import pytest

from tests.cluster import kill_sweep


@pytest.mark.slow
@pytest.mark.parametrize("way", kill_sweep.WAYS)
def test_members_are_killed_and_training_ends_right(way, tmp_path):
    assert kill_sweep.sweep(way, 3, 0, tmp_path) == []


@pytest.mark.slow
def test_four_workers_and_a_parameter_server(tmp_path):
    words = ["launch", "-n", "4", "--ps", "1", kill_sweep.PROGRAM, "monitored", str(tmp_path / "model"), "500"]
    (tmp_path / "model").mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "everflow", *words], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "[launch] chief 0 is done" in done.stdout and "[launch] worker 2 is done" in done.stdout
    kill_sweep.check_model("monitored", tmp_path / "model", workers=4)
