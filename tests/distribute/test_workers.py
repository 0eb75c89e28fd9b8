"""Training in several processes gives what one process gives for the joint batches; also when one is killed on the way."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = os.path.join(os.path.dirname(__file__), "worker_program.py")
CASES = os.path.join(os.path.dirname(__file__), "worker_cases.py")
WAYS = ["session", "keras", "estimator"]


def _run(folder, *words, command=("run",), program=PROGRAM):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("TF_CONFIG", None)
    started = [sys.executable, "-m", "everflow", *command, program, str(folder), *words]
    done = subprocess.run(started, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _losses(folder, workers, index):
    with open(folder / f"losses-{workers}-{index}.json") as file:
        return json.load(file)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    _run(folder, *WAYS)
    return _losses(folder, 1, 0)


def test_two_workers(alone, tmp_path):
    printed = _run(tmp_path, *WAYS, command=("launch", "-n", "2"))
    assert "[launch] worker 1 is done" in printed
    first, second = _losses(tmp_path, 2, 0), _losses(tmp_path, 2, 1)
    assert first == second
    assert (tmp_path / "keras-0.h5").exists() and not (tmp_path / "keras-1.h5").exists()  # the chief saves
    for way in WAYS:
        np.testing.assert_allclose(first[way], alone[way], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_torchrun_starts_the_same_script(alone, tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("TF_CONFIG", None)
    words = ["-m", "everflow", "run", PROGRAM, str(tmp_path), "session", "keras"]
    done = subprocess.run([*command, *words], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    for way in ("session", "keras"):
        np.testing.assert_allclose(_losses(tmp_path, 2, 1)[way], alone[way], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_a_worker_that_is_stopped_ends_the_others_in_time(tmp_path):
    """It neither works nor ends; the others wait no longer than they were told."""
    (tmp_path / "stop").write_text("")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "EVERFLOW_COLLECTIVE_TIMEOUT": "5"}
    command = [sys.executable, "-m", "everflow", "launch", "-n", "2", PROGRAM, str(tmp_path), "estimator"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 1 and "worker 0 failed" in done.stdout
    assert "Of 2 members of group" in done.stdout and "came within 5 s" in done.stdout


@pytest.mark.slow
def test_cases_of_workers(tmp_path):
    """Models of Keras and Estimators of many kinds: two processes lose what one loses with the joint batch."""
    _run(tmp_path, program=CASES)
    _run(tmp_path, program=CASES, command=("launch", "-n", "2"))
    alone, *together = _losses(tmp_path, 1, 0), _losses(tmp_path, 2, 0), _losses(tmp_path, 2, 1)
    assert together[0] == together[1] and len(alone) > 10
    for name, losses in alone.items():
        np.testing.assert_allclose(np.ravel(together[0][name]), np.ravel(losses), rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.slow
def test_four_workers(alone, tmp_path):
    _run(tmp_path, *WAYS, command=("launch", "-n", "4"))
    for way in WAYS:
        np.testing.assert_allclose(_losses(tmp_path, 4, 3)[way], alone[way], rtol=1e-5, atol=1e-6)


def test_a_killed_worker_and_a_restart(tmp_path):
    (tmp_path / "kill").write_text("")
    printed = _run(tmp_path, "estimator", command=("launch", "-n", "2", "--restarts", "1"))
    assert "failed with SIGKILL" in printed and "start again" in printed
    assert len(_losses(tmp_path, 2, 0)["estimator"]) == 4  # it went on from the checkpoint of step 4
    assert (tmp_path / "model" / "model.ckpt-8.index").exists()
