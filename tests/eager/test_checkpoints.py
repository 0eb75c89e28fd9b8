"""`tf.train.Checkpoint` when executing eagerly: values come at once, and to objects that are made later."""

import numpy as np
import pytest

import everflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.layers.Dense(2, kernel_initializer="ones")
        self.blocks = [tf.keras.layers.Dense(1, kernel_initializer="ones")]

    def call(self, x):
        return self.blocks[0](self.inner(x))


def _step(net, optimizer):
    x = tf.ones([1, 3])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.variables), net.variables))


def test_restored_at_once(tmp_path):
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v, group=tf.train.Checkpoint(w=tf.Variable([2.0])))
    path = checkpoint.save(str(tmp_path / "ck"))
    assert path.endswith("ck-1")
    v.assign(5.0)
    checkpoint.restore(path).assert_consumed()
    assert v.numpy() == 1.0
    assert tf.train.latest_checkpoint(str(tmp_path)) == path


def test_restored_when_an_object_comes(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(3.0), inner=tf.train.Checkpoint(w=tf.Variable(4.0))).save(
        str(tmp_path / "ck")
    )
    late = tf.train.Checkpoint()
    status = late.restore(path)
    with pytest.raises(AssertionError):
        status.assert_consumed()
    late.v = tf.Variable(0.0)
    assert late.v.numpy() == 3.0
    late.v.assign(9.0)
    module = tf.Module()
    module.w = tf.Variable(0.0)
    late.inner = module
    assert module.w.numpy() == 4.0
    assert late.v.numpy() == 9.0, "what is restored is left alone"
    status.assert_consumed()


@pytest.mark.parametrize(
    "make", [lambda: tf.train.AdamOptimizer(0.1), lambda: tf.keras.optimizers.Adam(0.1)], ids=["train", "keras"]
)
def test_models_and_optimizers_go_on(make, tmp_path):
    net, optimizer = Net(), make()
    _step(net, optimizer)
    path = tf.train.Checkpoint(net=net, optimizer=optimizer).save(str(tmp_path / "ck"))
    _step(net, optimizer)
    wanted = [v.numpy() for v in net.variables]
    net, optimizer = Net(), make()
    status = tf.train.Checkpoint(net=net, optimizer=optimizer).restore(path)
    _step(net, optimizer)
    for found, value in zip(net.variables, wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), value, rtol=1e-6)
    status.assert_existing_objects_matched()


def test_a_manager_counts_and_deletes(tmp_path):
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path), max_to_keep=2)
    paths = [manager.save() for _ in range(3)]
    assert manager.checkpoints == paths[1:]
    assert manager.save(checkpoint_number=42).endswith("ckpt-42")


def test_another_shape(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(str(tmp_path / "ck"))
    with pytest.raises(ValueError, match="shape|Shape"):
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).restore(path)


@pytest.mark.parametrize("make", [tf.keras.optimizers.Adam, tf.train.AdamOptimizer])
def test_slots_come_before_the_first_step_and_of_two_restores_the_later_counts(make, tmp_path):
    root = tf.train.Checkpoint(v=tf.Variable(1.0))
    optimizer = make(0.1)
    optimizer.apply_gradients([(tf.constant(1.0), root.v)])
    root.v.assign(12.0)
    without = root.write(str(tmp_path / "without"))
    root.optimizer = optimizer
    root.v.assign(13.0)
    optimizer.get_slot(root.v, "m").assign(14.0)
    both = root.write(str(tmp_path / "both"))

    fresh = tf.train.Checkpoint()
    fresh.restore(both)
    fresh.restore(without)
    fresh.v = tf.Variable(0.0)
    fresh.optimizer = make(0.1)
    assert fresh.v.numpy() == 12.0
    assert fresh.optimizer.get_slot(fresh.v, "m").numpy() == 14.0


def test_a_function_writes_when_it_is_called(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    write = tf.function(lambda: checkpoint.write(str(tmp_path / "ck")))
    for value in (2.0, 3.0):
        checkpoint.v.assign(value)
        path = write().numpy().decode()
        assert tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE") == value
