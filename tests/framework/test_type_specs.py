"""Types of values without the values."""

import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.framework.type_specs import TypeSpec, register_type_spec_from_value_converter, type_spec_from_value

Spec = tf.TensorSpec


@pytest.mark.parametrize(
    ("spec", "other", "fits"),
    [
        (Spec([None, 2]), lambda: Spec([3, 2]), True),
        (Spec([3, 2]), lambda: Spec([None, 2]), True),
        (Spec([1]), lambda: Spec([2]), False),
        (Spec([1], tf.int32), lambda: Spec([1], tf.float32), False),
        (Spec(None, tf.int32), lambda: tf.constant(3), True),
        (Spec([]), lambda: tf.Variable(1.0), True),
        (Spec([2], tf.float64), lambda: np.zeros(2), True),
        (Spec([2], tf.float64), lambda: [1.0, 2.0], True),
        (Spec([2]), lambda: tf.SparseTensorSpec([2]), False),
    ],
)
def test_what_fits(spec, other, fits):
    with tf.Graph().as_default():
        assert spec.is_compatible_with(other()) is fits


def test_specs_are_equal_where_all_they_say_is():
    spec = Spec([None, 2], tf.int32, "n")
    assert spec == Spec([None, 2], tf.int32, "n") == pickle.loads(pickle.dumps(spec))
    assert hash(spec) == hash(Spec([None, 2], tf.int32, "n"))
    assert all(spec != other for other in (Spec([None, 2], tf.int32), Spec([2, 2], tf.int32, "n"), "spec"))
    assert repr(spec) == "TensorSpec(shape=(?, 2), dtype=tf.int32, name='n')"


@pytest.mark.parametrize(("one", "other", "both"), [([1, 2], [3, 2], [None, 2]), ([1, 2], [3], None), ([1], [1], [1])])
def test_the_tightest_that_both_fit_in(one, other, both):
    found = Spec(one).most_specific_compatible_type(Spec(other))
    assert found == Spec(both)


@pytest.mark.parametrize("other", [Spec([1], tf.int32), tf.SparseTensorSpec([1])])
def test_none_that_both_fit_in(other):
    with pytest.raises(ValueError, match="No TypeSpec is compatible"):
        Spec([1]).most_specific_compatible_type(other)


def test_where_specs_come_from():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.int32, [None], name="x")
        assert Spec.from_tensor(x) == Spec([None], tf.int32, "x")
        assert Spec.from_tensor(x, "mine").name == "mine"
        assert type_spec_from_value(x) == Spec([None], tf.int32)
        assert type_spec_from_value(tf.SparseTensor([[0]], [1.0], [1])) == tf.SparseTensorSpec([1])
    assert Spec.from_spec(Spec([1], name="a")).name == "a" and Spec.from_spec(Spec([1], name="a"), "b").name == "b"
    assert type_spec_from_value([1.5]) == Spec([1], tf.float64)
    assert Spec([1]).is_fully_defined and not Spec([None]).is_fully_defined and Spec([1]).value_type is tf.Tensor


def test_a_spec_of_ones_own_has_to_say_what_it_is():
    with pytest.raises(NotImplementedError, match="value_type"):
        TypeSpec().value_type  # noqa: B018
    with pytest.raises(NotImplementedError, match="_serialize"):
        repr(TypeSpec())


class Pair(TypeSpec):
    def __init__(self, spec, mark):
        self.spec, self.mark = spec, mark

    _component_specs = property(lambda self: {"a": self.spec, "b": [self.spec]})

    def _serialize(self):
        return self.spec, self.mark


def test_specs_with_arrays_and_specs_inside():
    def pair(size, mark=(1, 2), name=None):
        return Pair(tf.TensorSpec([size], tf.float32, name), np.array(mark))

    assert pair(2) == pair(2) and hash(pair(2)) == hash(pair(2)) and pair(2) != pair(2, (1, 3)) and pair(2) != pair(3)
    assert pair(2)._flat_tensor_specs == [tf.TensorSpec([2], tf.float32)] * 2
    assert pair(2, name="x").most_specific_compatible_type(pair(3, name="y")) == pair(None)
    with pytest.raises(ValueError, match="both"):
        pair(2).most_specific_compatible_type(pair(2, (1, 3)))
    named = tf.TensorSpec([2], tf.float32, "n")
    assert named.most_specific_compatible_type(tf.TensorSpec([3], tf.float32, "n")).name == "n"


def test_values_as_lists_of_tensors():
    class Pair(TypeSpec):
        def __init__(self, first, second):
            self.first, self.second = first, second

        value_type = property(lambda self: tuple)
        _component_specs = property(lambda self: (Spec(self.first), {"rest": Spec(self.second)}))

        def _serialize(self):
            return self.first, self.second

        def _to_components(self, value):
            return value[0], {"rest": value[1]}

        def _from_components(self, parts):
            return parts[0], parts[1]["rest"]

    class Value:
        pass

    pair = Pair([1], [2])
    value = tf.zeros([1]), tf.zeros([2])
    assert pair._to_tensor_list(value) == list(value) and pair._from_tensor_list(list(value)) == value
    for wrong in ([value[0]], [value[1], value[0]]):
        with pytest.raises(ValueError, match="tensors|says"):
            pair._from_tensor_list(wrong)
    with pytest.raises(TypeError, match="no TypeSpec"):
        type_spec_from_value(Value())
    register_type_spec_from_value_converter(Value, lambda value: Spec([9]))
    assert type_spec_from_value(Value()) == Spec([9]) and type_spec_from_value([1, 2]).dtype == tf.int32
    with pytest.raises(ValueError, match="wants a tensor"):
        Spec.from_tensor(3)


def test_specs_inside_of_a_spec_are_compatible_whatever_their_names():
    class Holding(tf.TypeSpec):
        value_type = property(lambda self: tf.Tensor)
        _component_specs = _from_components = _to_components = None

        def __init__(self, inner):
            self._inner = inner

        def _serialize(self):
            return (self._inner,)

    one, other = (Holding(tf.TensorSpec([4], name=name)) for name in "ab")
    assert one.is_compatible_with(other) and one != other
    assert not one.is_compatible_with(Holding(tf.TensorSpec([5])))
