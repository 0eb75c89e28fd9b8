"""Objects that say what hangs on them, and what can hang on others."""

import pytest

import everflow as tf
from everflow.ops.variables.trackable import Trackable, is_trackable


def test_what_hangs_on_an_object_is_told_by_name():
    with tf.Graph().as_default():
        thing, v = Trackable(), tf.Variable(1.0)
        assert thing._track_trackable(v, "v") is v
        assert [(child.name, child.ref) for child in thing._checkpoint_dependencies] == [("v", v)]
        with pytest.raises(ValueError, match="already"):
            thing._track_trackable(tf.Variable(2.0), "v")
        with pytest.raises(TypeError, match="can't follow"):
            thing._track_trackable(3, "three")


def test_optimizers_and_python_states_are_trackable():
    class State(tf.train.experimental.PythonState):
        def serialize(self):
            return ""

        def deserialize(self, string_value):
            pass

    assert is_trackable(tf.train.AdamOptimizer()) and is_trackable(State()) and not is_trackable(State)


def test_a_class_may_make_what_is_looked_up():
    class Growing(Trackable):
        def _lookup_dependency(self, name):
            found = super()._lookup_dependency(name)
            if found is None:
                found = self._unconditional_dependency_names[name] = Trackable()
            return found

    root = Growing()
    made = root._lookup_dependency("leaf")
    assert root._lookup_dependency("leaf") is made and dict(root._checkpoint_dependencies) == {"leaf": made}
