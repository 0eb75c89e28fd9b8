"""Objects that a Saver saves: tensors by name, and how they are taken back."""

import pytest

import everflow as tf
from everflow.ops.variables.saveables import SaveableObject, SaveSpec

pytestmark = pytest.mark.usefixtures("own_graph")


def test_what_a_spec_knows():
    with tf.device("/cpu:1"):
        x = tf.constant([1, 2])
    spec = SaveSpec(x, "", "x")
    assert spec.tensor is x and spec.dtype == tf.int32 and spec.device == "/device:CPU:1"
    assert SaveSpec(x, "", "x", device="/cpu:0").device == "/cpu:0"


def test_a_function_is_asked_when_saving():
    asked = []
    spec = SaveSpec(lambda: asked.append(1) or "tensor", "", "x", dtype=tf.int32, device="/cpu:0")
    assert asked == [] and spec.tensor == "tensor" and asked == [1]
    for given in ({}, {"dtype": tf.int32}, {"device": ""}):
        with pytest.raises(AssertionError):
            SaveSpec(lambda: None, "", "x", **given)


def test_an_object_says_how_it_is_restored():
    saved = SaveableObject(None, [SaveSpec(tf.constant(1), "", "x")], "x")
    assert saved.optional_restore is False and saved.device == ""
    with pytest.raises(ValueError):
        saved.restore([], None)


class Doubled(SaveableObject):
    """A variable that is saved as twice its value."""

    def __init__(self, variable, name):
        super().__init__(variable, [SaveSpec(variable * 2.0, "", name)], name)

    def restore(self, restored_tensors, restored_shapes):
        return self.op.assign(restored_tensors[0] / 2.0)


def test_objects_of_a_programs_own(tmp_path):
    v = tf.get_variable("v", initializer=3.0)
    saver = tf.train.Saver([Doubled(v, "twice")])
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(v.assign(0.0))
        saver.restore(sess, path)
        assert sess.run(v) == 3.0
    assert tf.train.load_variable(path, "twice") == 6.0
