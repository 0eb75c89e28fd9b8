"""tf.train.Checkpoint, CheckpointManager, checkpoints_iterator: keys, matching, what is restored."""

from __future__ import annotations

import os

import numpy as np
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def _model():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v))
    layer = tf.layers.Dense(2, name="dense")
    layer(tf.ones([1, 2]))
    checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer, layer=layer)
    return v, train, checkpoint


def test_keys_follow_the_objects(tmp_path):
    v, train, checkpoint = _model()
    checkpoint.items = [v, {"a/b": tf.get_variable("inner", initializer=3.0)}]
    with tf.Session() as sess:
        checkpoint.save_counter  # noqa: B018
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "ckpt"), session=sess)
    assert path == str(tmp_path / "ckpt-1")
    assert [name.replace("/.ATTRIBUTES/VARIABLE_VALUE", "") for name, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "items/1/a.Sb",
        "layer/bias",
        "layer/kernel",
        "optimizer/beta1_power",
        "optimizer/beta2_power",
        "save_counter",
        "v",
        "v/.OPTIMIZER_SLOT/optimizer/m",
        "v/.OPTIMIZER_SLOT/optimizer/v",
    ]
    assert tf.train.latest_checkpoint(str(tmp_path)) == path


def test_training_goes_on_where_it_was(tmp_path):
    v, train, checkpoint = _model()
    with tf.Session() as sess:
        checkpoint.save_counter  # noqa: B018
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = checkpoint.save(str(tmp_path / "ckpt"), session=sess)
        sess.run(train)
        expected = sess.run(v)
    with tf.Session() as sess:
        checkpoint.restore(path).assert_consumed().run_restore_ops(sess)
        before = len(tf.get_default_graph().get_operations())
        checkpoint.restore(path).run_restore_ops(sess)
        assert len(tf.get_default_graph().get_operations()) == before
        sess.run(train)
        np.testing.assert_array_equal(sess.run(v), expected)


def test_objects_that_come_later_are_restored_too(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.get_variable("v", initializer=[1.0, 2.0]))
    with tf.Session() as sess:
        checkpoint.save_counter  # noqa: B018
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "ckpt"), session=sess)
        other = tf.train.Checkpoint()
        status = other.restore(path)
        with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).v"):
            status.assert_consumed()
        other.v = tf.get_variable("other", initializer=[0.0, 0.0])
        other.new = tf.get_variable("new", initializer=5.0)
        with pytest.raises(AssertionError, match="not bound"):
            status.assert_existing_objects_matched()
        status.initialize_or_restore(sess)
        assert sess.run([other.v, other.new])[1] == 5.0
        np.testing.assert_array_equal(sess.run(other.v), [1, 2])


def test_nothing_to_restore():
    checkpoint = tf.train.Checkpoint(v=tf.get_variable("v", initializer=1.0))
    status = checkpoint.restore(None)
    with pytest.raises(AssertionError):
        status.assert_consumed()
    with tf.Session() as sess:
        status.initialize_or_restore(sess)
        assert sess.run(checkpoint.v) == 1.0
    with pytest.raises(ValueError):
        tf.train.Checkpoint(v=3)


def test_names_and_objects_read_each_other(tmp_path):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    checkpoint = tf.train.Checkpoint(branch=v)
    with tf.Session() as sess:
        checkpoint.save_counter  # noqa: B018
        sess.run(tf.global_variables_initializer())
        by_object = checkpoint.save(str(tmp_path / "o"), session=sess)
        by_name = tf.train.Saver().save(sess, str(tmp_path / "n"))
        for restore in (
            lambda: tf.train.Saver([v]).restore(sess, by_object),
            lambda: checkpoint.restore(by_name).run_restore_ops(sess),
        ):
            sess.run(v.assign([0.0, 0.0]))
            restore()
            np.testing.assert_array_equal(sess.run(v), [1, 2])
        extra = tf.get_variable("extra", initializer=0.0)
        with pytest.raises(tf.errors.NotFoundError, match="Existing variables not in the checkpoint: extra"):
            tf.train.Saver([v, extra]).restore(sess, by_object)


def test_manager_keeps_the_newest(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.get_variable("v", initializer=1.0))
    folder = str(tmp_path / "m")
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    with tf.Session() as sess:
        checkpoint.save_counter  # noqa: B018
        sess.run(tf.global_variables_initializer())
        paths = [manager.save() for _ in range(3)]
    assert manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[2]
    assert not any(name.startswith("ckpt-1.") for name in os.listdir(folder))
    assert tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2).checkpoints == paths[1:]
    assert next(tf.train.checkpoints_iterator(folder)) == paths[2]
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == []


def test_python_state(tmp_path):
    class Note(tf.train.experimental.PythonState):
        text = "first"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value.decode()

    note = Note()
    checkpoint = tf.train.Checkpoint(note=note)
    with tf.Session() as sess:
        path = checkpoint.write(str(tmp_path / "c"), session=sess)
        note.text = "second"
        checkpoint.restore(path)
    assert note.text == "first"


def test_a_manager_starts_the_count_of_checkpoints(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", [], use_resource=True)
        sess.run(v.initializer)
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(tmp_path), max_to_keep=2)
        assert [manager.save() for _ in range(3)][-1] == str(tmp_path / "ckpt-3")
        assert manager.checkpoints == [str(tmp_path / "ckpt-2"), str(tmp_path / "ckpt-3")]


def test_a_manager_leaves_checkpoints_of_others_alone(tmp_path):
    folder = str(tmp_path)
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0, use_resource=True))
        sess.run(tf.global_variables_initializer())
        checkpoint.save(f"{folder}/other", session=sess)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
        assert manager.checkpoints == [] and manager.latest_checkpoint == f"{folder}/other-1"
        kept = [manager.save() for _ in range(3)][-1:]
        assert manager.checkpoints == kept and tf.train.checkpoint_exists(f"{folder}/other-1")


def test_a_checkpoint_by_names_is_consumed_where_it_has_all_variables(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v, w = (tf.get_variable(name, initializer=4.0, use_resource=True) for name in "vw")
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver([v]).save(sess, str(tmp_path / "named"))
        status = tf.train.Checkpoint(v=v).restore(path)
        assert status.assert_consumed() is status
        with pytest.raises(AssertionError, match="w"):
            tf.train.Checkpoint(v=v, w=w).restore(path).assert_consumed()
