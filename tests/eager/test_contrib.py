"""tf.contrib.eager's metrics, callbacks and test decorators; tf.contrib.summary without a session."""

import glob
import unittest

import numpy as np
import pytest

import everflow as tf

tfe = tf.contrib.eager
cs = tf.contrib.summary


def test_metrics_add_up():
    mean = tfe.metrics.Mean("the loss")
    mean(3.0)
    mean(tf.constant([1.0, 2.0]))
    mean(10.0, weights=0.5)
    assert mean.result().numpy() == pytest.approx(11.0 / 3.5)
    assert [v.name for v in mean.variables] == ["the_loss/numer:0", "the_loss/denom:0"]
    mean.init_variables()
    assert np.isnan(mean.result().numpy())
    accuracy = tfe.metrics.Accuracy()
    accuracy([1, 2, 3], [1, 2, 0])
    assert accuracy.result().numpy() == pytest.approx(2 / 3)
    with pytest.raises(tf.errors.InvalidArgumentError):
        accuracy(tf.constant([1, 2]), tf.constant([1]))


@pytest.mark.parametrize(
    ("metric", "labels", "predictions", "wanted"),
    [
        (lambda: tfe.metrics.CategoricalAccuracy(), [[0, 1], [1, 0]], [[0.2, 0.8], [0.4, 0.6]], 0.5),
        (lambda: tfe.metrics.SparseAccuracy(), [1, 0], [[0.2, 0.8], [0.4, 0.6]], 0.5),
        (lambda: tfe.metrics.BinaryAccuracy(0.5), [[1], [0]], [[0.9], [0.5]], 1.0),
    ],
)
def test_accuracies(metric, labels, predictions, wanted):
    made = metric()
    made(tf.constant(labels), tf.constant(predictions))
    assert made.result().numpy() == wanted


def test_metrics_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        mean = tfe.metrics.Mean()
        update = mean(tf.constant([1.0, 2.0]))
        result = mean.result()
        session.run(mean.init_variables())
        session.run([update])
        session.run([update])
        assert session.run(result) == 1.5


def test_callbacks_see_operations():
    seen = []
    tfe.add_execution_callback(
        lambda op_type, inputs, attrs, outputs, name: seen.append((op_type, len(inputs), len(outputs)))
    )
    try:
        tf.matmul([[1.0]], [[2.0]])
    finally:
        tfe.clear_execution_callbacks()
    tf.matmul([[1.0]], [[2.0]])
    assert seen == [("MatMul", 2, 1)]


def test_infinities_and_nans():
    zero = tf.constant(0.0)
    assert tfe.seterr() == {"inf_or_nan": tfe.ExecutionCallback.IGNORE}
    with tfe.errstate(inf_or_nan="raise"):
        with pytest.raises(tfe.InfOrNanError, match=r"RealDiv .* contains 1 inf\(s\) among 1"):
            1.0 / zero
        with pytest.raises(tfe.InfOrNanError, match=r"1 nan\(s\)"):
            zero / zero
    assert np.isinf((1.0 / zero).numpy())
    with pytest.raises(ValueError):
        tfe.seterr(inf_or_nan="sometimes")


def test_modes_and_devices():
    with tfe.execution_mode(tfe.ASYNC):
        assert (tf.constant(1) + 1).numpy() == 2
    tfe.async_wait()
    assert tfe.num_gpus() == 0
    assert tfe.list_devices()[0].endswith("CPU:0")
    assert tfe.in_eager_mode()


class Tower(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.first = self.track_layer(tf.layers.Dense(2))
        self.rest = [self.track_layer(layer) for layer in (tf.layers.Dense(3, name="mine"), tf.layers.Dense(1))]

    def call(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(x)
        return x


def test_networks_name_their_variables(tmp_path):
    x, net = tf.ones([1, 4]), Tower()
    with pytest.raises(ValueError, match="final name"):
        net.name  # noqa: B018
    y = net(x)
    layers = ["dense", "mine", "dense_1"]
    assert [v.name for v in net.variables] == [
        f"tower/{layer}/{part}:0" for layer in layers for part in ("kernel", "bias")
    ]
    assert [layer.name for layer in net.layers] == layers
    assert net.get_layer("mine") is net.get_layer(index=1)
    path = tfe.save_network_checkpoint(net, str(tmp_path))
    assert ("dense/kernel", [4, 2]) in tf.train.list_variables(path)
    new, old = Tower(), Tower("other")
    tfe.restore_network_checkpoint(new, path)
    old(x)
    tfe.restore_network_checkpoint(old, path)
    np.testing.assert_array_equal(new(x).numpy(), y.numpy())
    np.testing.assert_array_equal(old(x).numpy(), y.numpy())
    assert new.name == "tower_1"
    assert old.variables[0].name == "other/dense/kernel:0"
    with pytest.raises(TypeError):
        net.track_layer(3)


def test_sequential_networks():
    net = tfe.Sequential([tf.layers.Dense(2), lambda x: x * 2.0, tf.layers.Dropout(0.5)])
    assert net(tf.ones([1, 3]), training=True).shape.as_list() == [1, 2]
    assert len(net.trainable_variables) == 2


def _values(folder):
    events = [e for f in sorted(glob.glob(f"{folder}/*")) for e in tf.train.summary_iterator(f)]
    return [(e.step, v.tag, v.WhichOneof("value")) for e in events for v in e.summary.value]


def test_summaries_are_written_at_once(tmp_path):
    step = tf.train.get_or_create_global_step()
    writer = cs.create_file_writer(str(tmp_path))
    with writer.as_default():
        cs.scalar("not recorded", 1.0)
        with cs.record_summaries_every_n_global_steps(2):
            for _ in range(3):
                cs.scalar("loss", 1.0)
                step.assign_add(1)
        with cs.always_record_summaries():
            cs.histogram("h", tf.constant([1.0, 2.0]), step=7)
            cs.image("im", tf.zeros([2, 2, 2, 3]), max_images=1)
            cs.audio("au", tf.zeros([1, 4, 1]), 8000, 2)
            cs.generic("g", tf.constant([1, 2]))
            tf.function(lambda: cs.scalar("traced", 2.0))()
    assert _values(tmp_path) == [
        (0, "loss", "simple_value"),
        (2, "loss", "simple_value"),
        (7, "h", "histo"),
        (3, "im/image", "image"),
        (3, "au/audio/0", "audio"),
        (3, "g", "tensor"),
        (3, "traced", "simple_value"),
    ]
    writer.close()
    with pytest.raises(tf.errors.NotFoundError):
        writer.flush()


def test_summaries_of_a_graph(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        writer = cs.create_file_writer(str(tmp_path))
        with writer.as_default(), cs.record_summaries_every_n_global_steps(2):
            cs.scalar("loss", tf.constant(1.5))
            session.run(step.initializer)
            with pytest.raises(tf.errors.NotFoundError):
                session.run(cs.all_summary_ops())
            cs.initialize(graph=graph, session=session)
            for _ in range(4):
                session.run(cs.all_summary_ops())
                session.run(tf.assign_add(step, 1))
            session.run(writer.flush())
        assert graph.get_operation_by_name("loss").type == "WriteScalarSummary"
    assert _values(tmp_path) == [(0, "loss", "simple_value"), (2, "loss", "simple_value")]


def test_tests_in_both_modes():
    modes = []

    class Both(tf.test.TestCase):
        @tfe.run_test_in_graph_and_eager_modes
        def test_sum(self):
            modes.append(tf.executing_eagerly())
            self.assertEqual(self.evaluate(tf.constant(1) + 1), 2)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Both).run(result)
    assert (modes, result.errors, result.failures) == ([False, True], [], [])
