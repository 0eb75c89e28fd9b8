"""What asks for a TPU where there is none, and what does without."""

import pytest

import everflow as tf
from everflow.tpu import inference
from everflow.tpu.async_checkpoint import AsyncCheckpointSaverHook
from everflow.tpu.datasets import StreamingFilesDataset
from everflow.tpu.error_handling import ErrorRendezvous
from everflow.tpu.session_support import CoordinatorResetError, GracefulShutdownHook, ResetComputation
from everflow.tpu.tensor_tracer import TensorTracer
from tests.tpu.drawn import drawn, placeholder


def test_no_tpu():
    with pytest.raises(IndexError):
        tf.distribute.experimental.TPUStrategy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.tpu.experimental.initialize_tpu_system()
    with pytest.raises(Exception, match="no TPU"):
        tf.contrib.tpu.keras_to_tpu_model(tf.keras.Sequential())


def test_strategies_of_both_versions():
    from everflow.legacy.inner.distribute import tpu_names as tpu_strategy

    assert tpu_strategy.TPUStrategyV1 is tf.distribute.experimental.TPUStrategy
    assert tpu_strategy.TPUStrategy is tf.compat.v2.distribute.experimental.TPUStrategy
    assert not issubclass(tpu_strategy.TPUStrategyV1, tpu_strategy.TPUStrategy)
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
    assert tpu_strategy.get_tpu_system_metadata(resolver).num_cores == 0


def test_serving_reads_variables_as_constants():
    def build():
        inference.rewrite_for_inference(lambda a: a * tf.get_variable("v", [4]), [placeholder(4)])
        inference.validate_inference_rewrite_for_variables(tf.get_default_graph())

    assert "mul Mul(replicated_input_0, v/GuaranteeConst) cluster" in drawn(build)
    assert not inference.under_tpu_inference_context()
    with pytest.raises(RuntimeError):
        inference.validate_inference_rewrite_for_variables(tf.Graph())


def test_bfloat16_variables_are_kept_in_float32():
    with tf.Graph().as_default(), tf.tpu.bfloat16_scope():
        read = tf.get_variable("w", [3], dtype=tf.bfloat16)
        assert (read.dtype, read.op.type, read.op.inputs[0].dtype) == (tf.bfloat16, "Cast", tf.float32)
        assert tf.get_variable("v", [3]).dtype.base_dtype == tf.float32


def test_checkpoints_are_written_in_the_background(tmp_path):
    with tf.Graph().as_default():
        increment = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        hook = AsyncCheckpointSaverHook(str(tmp_path), save_steps=2)
        with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
            for _ in range(5):
                session.run(increment)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")


def test_files_are_read_in_turn(tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n")
    (tmp_path / "b.txt").write_text("3\n")
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = StreamingFilesDataset(str(tmp_path / "*.txt"), filetype="text", num_epochs=1)
        value = dataset.make_one_shot_iterator().get_next()
        assert sorted(session.run(value) for _ in range(3)) == [b"1", b"2", b"3"]
        with pytest.raises(ValueError):
            StreamingFilesDataset(str(tmp_path), filetype="unknown")
        with pytest.raises(ValueError):
            StreamingFilesDataset(str(tmp_path), filetype=3)


def test_the_error_that_matters_is_raised():
    rendezvous = ErrorRendezvous(2)
    with rendezvous.catch_errors("reader"):
        raise tf.errors.CancelledError(None, None, "because the other failed")
    with rendezvous.catch_errors("trainer"):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        rendezvous.raise_errors()
    fine = ErrorRendezvous(1)
    with fine.catch_errors("all"):
        pass
    fine.raise_errors()


def test_one_worker_is_not_watched(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.train.get_or_create_global_step()
        with tf.train.SingularMonitoredSession(hooks=[GracefulShutdownHook(str(tmp_path))]) as session:
            session.run(tf.train.get_global_step(graph))


def test_resetting_is_an_abortion():
    class Workers:
        def shutdown(self):
            self.ended = True

    workers = Workers()
    with pytest.raises(CoordinatorResetError) as raised:
        ResetComputation()(None, workers, workers)
    assert isinstance(raised.value, tf.errors.AbortedError) and workers.ended


@pytest.mark.parametrize(
    ("flags", "enabled"), [("", False), ("--enable=1", True), ("--enable=0", False), ("--x=2", False)]
)
def test_traces_are_asked_for_in_the_environment(monkeypatch, flags, enabled):
    monkeypatch.setenv("TENSOR_TRACER_FLAGS", flags)
    assert TensorTracer.is_enabled() is enabled
