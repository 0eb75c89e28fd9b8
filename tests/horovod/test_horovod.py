"""Programs that use Horovod, unchanged: in one process and in two."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.horovod import processes
from everflow.horovod import tensorflow as hvd

PROGRAM = os.path.join(os.path.dirname(__file__), "program.py")


def _run(folder, *command):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "everflow", *command, PROGRAM, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _found(folder, rank):
    with open(folder / f"found-{rank}.json") as file:
        return json.load(file)


def test_two_processes_train_as_one(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    _run(tmp_path / "one", "run")
    _run(tmp_path / "two", "launch", "-n", "2")
    alone, first, second = _found(tmp_path / "one", 0), _found(tmp_path / "two", 0), _found(tmp_path / "two", 1)
    np.testing.assert_allclose(first["session"], alone["session"], rtol=1e-5)
    assert first["session"] == second["session"]
    assert first["others"] == [[0, 1, 1], [[2.0] * 6], [[4.0] * 6], [True]]
    assert first["keras"] == second["keras"] and first["weights"] == second["weights"]
    assert first["keras"]["lr"] == pytest.approx([0.015, 0.02, 0.02], abs=1e-3)
    assert first["adasum"] == second["adasum"] == pytest.approx([1.0, 2.0, 1.0, 0.0])
    assert first["arrays"] == second["arrays"] == [0.5, [0, 0, 1], 5.0]
    assert first["loaded"] == "SGD"


@pytest.fixture
def alone(monkeypatch):
    for names in processes._LAUNCHERS:
        for name in names:
            monkeypatch.delenv(name, raising=False)
    yield
    hvd.shutdown()


def test_one_process_is_all_there_is(alone):
    with pytest.raises(ValueError, match="hvd.init"):
        hvd.rank()
    hvd.init()
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (0, 1, 0, 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([1.0, 2.0])
        assert sess.run(hvd.allreduce(x)).tolist() == sess.run(hvd.broadcast(x, 0)).tolist() == [1.0, 2.0]
        small, kind = hvd.Compression.fp16.compress(x)
        assert small.dtype == tf.float16 and hvd.Compression.fp16.decompress(small, kind).dtype == tf.float32
        with pytest.raises(ValueError, match="root_rank"):
            hvd.broadcast(x, 1)
        assert sess.run(hvd.allreduce(x, op=hvd.Adasum)).tolist() == [1.0, 2.0]
        with pytest.raises(NotImplementedError, match="sparse_as_dense"):
            hvd.allreduce(tf.IndexedSlices(x, tf.constant([0, 1])), op=hvd.Adasum)
    hvd.shutdown()
    assert not hvd.is_initialized()


def test_ranks_and_communicators_of_one(alone):
    hvd.init(comm=[0])
    assert (hvd.rank(), hvd.size()) == (0, 1)
    hvd.shutdown()
    with pytest.raises(ValueError, match="comm="):
        hvd.init(comm=[1])

    class OfMpi:
        """What is asked of a communicator of mpi4py."""

        def Get_rank(self):
            return 0

        def Get_size(self):
            return 1

    hvd.init(comm=OfMpi())
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (0, 1, 0, 1)


@pytest.mark.parametrize("passes", [1, 2])
def test_adasum_of_one_is_the_optimizer_itself(alone, passes):
    hvd.init()
    with tf.Graph().as_default(), tf.Session() as sess:
        found = []
        for i, wrap in enumerate(
            (lambda o: o, lambda o: hvd.DistributedOptimizer(o, op=hvd.Adasum, backward_passes_per_step=passes))
        ):
            v = tf.Variable([1.0, -2.0], name=f"v{i}")
            step = tf.Variable(0, trainable=False)
            train = wrap(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(tf.reduce_sum(v * v), global_step=step)
            sess.run(tf.global_variables_initializer())
            for _ in range(4):
                sess.run(train)
            found.append((sess.run(v).tolist(), int(sess.run(step))))
        assert found[1][0] == pytest.approx(found[0][0], rel=1e-6) and found[1][1] == 4


def test_what_an_optimizer_does_not_take(alone):
    hvd.init()
    with pytest.raises(ValueError, match="backward_passes_per_step"):
        hvd.DistributedOptimizer(tf.train.AdamOptimizer(), backward_passes_per_step=2)
    with pytest.raises(ValueError, match="Adasum"):
        hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1), op=hvd.Adasum)
    with pytest.raises(ValueError, match="optimizer"):
        hvd.DistributedOptimizer("sgd")


def test_processes_without_a_place_to_meet_are_told(alone, monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ValueError, match="everflow launch"):
        hvd.init()


def test_a_tape_in_one_process(alone):
    hvd.init()
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        wrapped = hvd.DistributedGradientTape(tape)
        assert sess.run(wrapped.gradient(y, x)) == 6.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sessions", "keras", "estimator", "eager"])
@pytest.mark.parametrize("command", [("run",), ("launch", "-n", "2")], ids=["alone", "two"])
def test_programs_as_its_documentation_shows_them(name, command, tmp_path):
    program = os.path.join(os.path.dirname(__file__), "programs", f"{name}_mnist.py")
    done = subprocess.run(
        [sys.executable, "-m", "everflow", *command, program],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    accuracy = [float(line.split()[-1]) for line in done.stdout.splitlines() if "accuracy is" in line]
    assert accuracy and min(accuracy) > 0.9, done.stdout[-3000:]
