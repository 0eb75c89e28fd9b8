"""tf.Module: what it finds in its attributes, its name and scope."""

import pytest

import everflow as tf


class Inner(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.z = tf.Variable(1.0, name="z")
        self.b = [
            tf.Variable(2.0, name="b", trainable=False),
            {"k": tf.Variable(3.0, name="k"), "a": tf.Variable(4.0, name="a")},
        ]
        self.again = self.z

    @tf.Module.with_name_scope
    def __call__(self):
        return tf.identity(self.z)


class OuterNet2D(tf.Module):
    def __init__(self):
        super().__init__()
        with self.name_scope:
            self.second = Inner()
            self.first = [Inner("other")]
        self.me = self


@pytest.fixture
def net():
    with tf.Graph().as_default():
        yield OuterNet2D()


def test_variables_come_by_attribute_then_by_module(net):
    names = [v.op.name.split("/")[-1] for v in net.second.variables]
    assert names == ["z", "b", "a", "k"]
    assert [v.op.name.split("/")[-1] for v in net.second.trainable_variables] == ["z", "a", "k"]
    assert len(net.variables) == 8 and net.variables[:4] == net.first[0].variables
    assert [m.name for m in net.submodules] == ["other", "inner"]


def test_names_and_scopes(net):
    assert net.name == "outer_net2_d"
    assert net.second().name == "outer_net2_d/inner/Identity:0"
    assert net.second().name == "outer_net2_d/inner/Identity_1:0"
    with pytest.raises(ValueError, match="'a b' is not a valid module name"):
        tf.Module("a b")


def test_layers_and_linear_operators_are_modules(net):
    variable = tf.Variable([1.0, 2.0])
    net.operator = tf.linalg.LinearOperatorDiag(variable)
    layer = net.layer = tf.layers.Dense(2)
    layer(tf.ones([1, 2]))
    assert net.operator.variables == (variable,)
    assert layer.kernel in net.variables and variable in net.variables
    assert layer in net.submodules and net.operator in net.submodules


def test_leaves_with_their_paths():
    class Pair(tf.Module):
        def __init__(self, depth):
            super().__init__()
            self.z = tf.Variable(1.0)
            self.held = [5, {"k": tf.Variable(2.0)}]
            if depth:
                self.child = Pair(depth - 1)

    def is_variable(leaf):
        return isinstance(leaf, tf.Variable)

    pair = Pair(1)
    own = [pair.held[1]["k"], pair.z]
    assert list(pair._flatten(recursive=False, predicate=is_variable)) == own
    paths = [path for path, _ in pair._flatten(predicate=is_variable, with_path=True)]
    assert paths == [("held", 1, "k"), ("z",), ("child", "held", 1, "k"), ("child", "z")]
    last_first = pair._flatten(False, is_variable, attribute_traversal_key=lambda name: -ord(name[0]))
    assert list(last_first) == own[::-1]
    assert list(pair._flatten(predicate=lambda leaf: isinstance(leaf, int))) == [5]
