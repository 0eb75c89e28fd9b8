"""Checkpoints of objects: keys, slots, matching, numbered files."""

import pytest

import everflow as tf
from everflow.train.object_graph import described


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_keys_follow_the_shortest_path():
    v = tf.get_variable("v", initializer=1.0)
    opt = tf.train.MomentumOptimizer(0.1, 0.9)
    opt.minimize(v * v)
    inner = tf.train.Checkpoint(a=v)
    root = tf.train.Checkpoint(inner=inner, opt=opt)
    root.things = [v, {"a.b/c": tf.Variable(2.0, name="w")}]
    _, saved = described(root)
    assert [key for key, _ in saved] == [
        "inner/a/.ATTRIBUTES/VARIABLE_VALUE",
        "things/1/a..b.Sc/.ATTRIBUTES/VARIABLE_VALUE",
        "inner/a/.OPTIMIZER_SLOT/opt/momentum/.ATTRIBUTES/VARIABLE_VALUE",
    ]


@pytest.mark.parametrize("use_resource", [False, True])
def test_round_trip(tmp_path, use_resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    opt = tf.train.AdamOptimizer()
    train = opt.minimize(tf.reduce_sum(v * v))
    checkpoint = tf.train.Checkpoint(v=v, opt=opt)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(checkpoint.save_counter.initializer)
        sess.run(train)
        before = sess.run([v, opt.get_slot(v, "m")])
        path = checkpoint.save(str(tmp_path / "c"), session=sess)
        assert path.endswith("c-1") and tf.train.latest_checkpoint(str(tmp_path)) == path
        sess.run(train)
        checkpoint.restore(path).assert_consumed().run_restore_ops(sess)
        after = sess.run([v, opt.get_slot(v, "m")])
        assert [a.tolist() for a in after] == [b.tolist() for b in before]
        partial = tf.train.Checkpoint(v=v).restore(path)
        partial.assert_existing_objects_matched()
        with pytest.raises(AssertionError):
            partial.assert_consumed()
        with pytest.raises(AssertionError):
            tf.train.Checkpoint(other=v).restore(path).assert_existing_objects_matched()


def test_manager_keeps_the_newest(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
        paths = [manager.save() for _ in range(3)]
        assert manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[-1]
        assert not tf.train.checkpoint_exists(paths[0])
        assert tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2).checkpoints == paths[1:]


def test_only_trackable_objects():
    with pytest.raises(ValueError, match="trackable"):
        tf.train.Checkpoint(a=3)
    root = tf.train.Checkpoint()
    root.v = tf.Variable(1.0)
    root.v = 3
    assert root._checkpoint_dependencies == []
