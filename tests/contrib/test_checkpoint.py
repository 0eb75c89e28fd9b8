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
