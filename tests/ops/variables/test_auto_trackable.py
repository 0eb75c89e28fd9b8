"""Objects that say what hangs on them, which checkpoints then follow."""

import pytest

import everflow as tf
from everflow.contrib.checkpoint import List
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.trackable import NoDependency, Trackable


def names(thing):
    return [reference.name for reference in thing._checkpoint_dependencies]


def test_attributes_hang_on_an_object_unless_it_is_told_otherwise():
    root = AutoTrackable()
    root.leaf, root.hidden = AutoTrackable(), NoDependency(AutoTrackable())
    root.leaf = root.leaf
    assert names(root) == ["leaf"] and isinstance(root.hidden, AutoTrackable)
    assert root._lookup_dependency("leaf") is root.leaf and root._lookup_dependency("hidden") is None
    root.hidden = root.hidden  # nothing new, so it stays hidden
    assert names(root) == ["leaf"]
    root.hidden, root.other = AutoTrackable(), root.hidden  # now it isn't any more
    del root.leaf
    assert names(root) == ["hidden", "other"]


def test_an_object_under_a_name():
    root, leaf, other = Trackable(), Trackable(), Trackable()
    assert root._track_trackable(leaf, "leaf") is leaf and root._track_trackable(leaf, "leaf") is leaf
    with pytest.raises(ValueError, match="'leaf'"):
        root._track_trackable(other, "leaf")
    assert root._track_trackable(other, "leaf", overwrite=True) is other
    assert root._checkpoint_dependencies == [("leaf", other)]
    with pytest.raises(TypeError, match="int"):
        root._track_trackable(3, "number")


def test_a_variable_under_a_name_is_saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        root = Trackable()
        v = root._add_variable_with_custom_getter("v", shape=[], getter=tf.get_variable, use_resource=True)
        with tf.variable_scope("again"), pytest.raises(ValueError, match="'v'"):
            root._add_variable_with_custom_getter("v", shape=[], getter=tf.get_variable)
        sess.run(v.initializer)
        path = tf.train.Checkpoint(root=root).save(str(tmp_path / "model"))
    assert ("root/v/.ATTRIBUTES/VARIABLE_VALUE", []) in tf.train.list_variables(path)


def test_lists_multiply_as_pythons_do():
    held = List([AutoTrackable()])
    assert len(held * 2) == len(2 * held) == 2 and len(held * 0) == 0
    held *= 3
    assert names(held) == ["0", "1", "2"]
    with pytest.raises(ValueError, match="only supports append"):
        held *= 0


class Measured(tf.Module):
    @property
    def size(self):
        return "large"


def test_a_property_without_a_setter_takes_what_it_shows():
    thing = Measured()
    thing.size = thing.size
    with pytest.raises(AttributeError):
        thing.size = "small"
    layer = tf.keras.layers.Dense(3)
    with pytest.raises(AttributeError):  # layers set whatever they are given
        layer.name = layer.name
