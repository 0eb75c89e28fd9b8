"""Settings for all tests."""

import os

# Workers run side by side: one thread each. Set before anything loads torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")


import subprocess

import pytest

import everflow as tf
from tests.chance import steady

_BEFORE = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption(
        "--checked", action="store_true", help="compare what kernels do with what is declared of them, at every call"
    )


def pytest_configure(config):
    if config.getoption("--checked"):
        os.environ["EVERFLOW_EXECUTOR"] = "CHECKED"  # also for the processes that tests start


def pytest_sessionstart(session):
    session.config.stash[_BEFORE] = _files_of_the_project(session)


def pytest_sessionfinish(session):
    """A test that writes outside of its temporary folder fails the run: such files end up in commits."""
    left = _files_of_the_project(session) - session.config.stash[_BEFORE]
    if left:
        print(f"\nTests left files behind in {session.config.rootpath}: {sorted(left)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _files_of_the_project(session):
    """What is in the project's folder, without what tools keep there."""
    return {name for name in os.listdir(session.config.rootpath) if not name.startswith((".", "__pycache__"))}


@pytest.fixture(autouse=True)
def steady_chance(request):
    """Unseeded numbers are the same each time a test runs."""
    steady(request.node.nodeid)


@pytest.fixture
def own_graph():
    """A default graph of the test's own: `pytestmark = pytest.mark.usefixtures("own_graph")` gives one to each test of
    a file.
    """
    with tf.Graph().as_default():
        yield


def pytest_collection_modifyitems(items):
    """Tests that need TensorFlow 1.15.5 are skipped where there is none."""
    if os.environ.get("EVERFLOW_ORACLE"):
        return
    for item in items:
        if item.get_closest_marker("oracle"):
            item.add_marker(pytest.mark.skip(reason="EVERFLOW_ORACLE names no Python with TensorFlow 1.15.5"))


@pytest.fixture
def oracle(tmp_path):
    """Runs a script under TensorFlow 1.15.5, in a temporary folder: `oracle(source)` returns what it printed."""

    def run(source: str) -> str:
        script = tmp_path / "script.py"
        script.write_text(source)
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(
            [os.environ["EVERFLOW_ORACLE"], "-W", "ignore", str(script)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run
