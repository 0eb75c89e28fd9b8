"""tf.contrib.checkpoint: containers and arrays in checkpoints, and looking into them."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import checkpoint

pytestmark = pytest.mark.usefixtures("own_graph")


class Model(checkpoint.Checkpointable):
    def __init__(self):
        self.items = checkpoint.List([tf.Variable(1.0), tf.Variable(2.0)])
        self.named = checkpoint.Mapping(x=tf.Variable(3.0))
        self.state = checkpoint.NumpyState()
        self.state.seen = np.ones([2])
        self.hidden = checkpoint.NoDependency([tf.Variable(9.0)])
        self.tracker = checkpoint.UniqueNameTracker()
        for value in (4.0, 5.0):
            self.tracker.track(tf.Variable(value), "base")


def test_saving_and_restoring(tmp_path):
    model = Model()
    group = tf.train.Checkpoint(model=model)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = group.save(str(tmp_path / "ck"), session=session)
        session.run(model.named["x"].assign(0.0))
        model.state.seen = np.zeros([2])
        group.restore(path).run_restore_ops(session)
        assert session.run(model.named["x"]) == 3.0
    np.testing.assert_array_equal(model.state.seen, np.ones([2]))
    names = {name.partition("/.ATTRIBUTES")[0] for name, _ in tf.train.list_variables(path)}
    assert names >= {
        "model/items/0",
        "model/items/1",
        "model/named/x",
        "model/state/seen",
        "model/tracker/base",
        "model/tracker/base_1",
    }
    assert not any("hidden" in name for name in names)
    assert 'label="tracker"' in checkpoint.dot_graph_from_checkpoint(path)
    assert [child.local_name for child in checkpoint.object_metadata(path).nodes[0].children] == [
        "model",
        "save_counter",
    ]
    assert model in checkpoint.list_objects(group)


def test_containers_only_grow():
    model = Model()
    assert isinstance(model.hidden, list)
    assert model.items.variables == list(model.items) and len(model.tracker.variables) == 2
    model.items.append(tf.Variable(7.0))
    assert len(model.items) == 3
    with pytest.raises(ValueError, match="append-only"):
        model.named["x"] = tf.Variable(1.0)
    with pytest.raises(ValueError, match="trackable"):
        model.items.append(3)


def test_halves_of_a_variable_are_saved_apart_and_restored_together(tmp_path):
    checkpoint = tf.contrib.checkpoint

    def halves(v):
        def fill(parts):
            parts["first"], parts["second"] = v[:1], v[1:]

        def consume(parts):
            return v.assign(tf.concat([parts["first"], parts["second"]], 0)).op

        return checkpoint.split_dependency(("first", "second"), [tf.float32] * 2, fill, consume, device="")

    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0, 2.0, 3.0])
        saved = tf.train.Checkpoint(**halves(v))
        sess.run(v.initializer)
        path = saved.save(str(tmp_path / "x"), session=sess)
        assert tf.train.load_variable(path, "second/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [2.0, 3.0]
        sess.run(v.assign([7.0, 8.0, 9.0]))
        saved.restore(path).assert_consumed().run_restore_ops(sess)
        assert sess.run(v).tolist() == [1.0, 2.0, 3.0]


def test_templates_hang_together(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        inner = []

        def function():
            inner.append(tf.make_template("in", lambda: tf.get_variable("q", [1])))
            return inner[0]() + tf.get_variable("a", [1])

        template = tf.make_template("out", function)
        template()
        with tf.variable_scope(template.variable_scope), tf.contrib.checkpoint.capture_dependencies(template=template):
            tf.get_variable("b", [1])
        assert [name for name, _ in template._checkpoint_dependencies] == ["in", "a", "b"]
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(t=template).write(str(tmp_path / "x"), session=sess)
        names = tf.train.load_checkpoint(path).get_variable_to_shape_map()
        assert "t/in/q/.ATTRIBUTES/VARIABLE_VALUE" in names and "t/b/.ATTRIBUTES/VARIABLE_VALUE" in names
