"""How Python values become tensors, and who is asked in which order."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import conversion

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def registered():
    """Whatever a test registers is gone afterwards."""
    functions = {priority: list(pairs) for priority, pairs in conversion._functions.items()}
    priorities = list(conversion._priorities)
    yield
    conversion._functions.clear()
    conversion._functions.update(functions)
    conversion._priorities[:] = priorities
    conversion._by_type.clear()


def slices(dtype=tf.float32):
    return tf.IndexedSlices(tf.zeros([1], dtype), tf.constant([0]))


def test_lower_priorities_are_asked_first_and_may_decline(registered):
    class Base:
        pass

    class Derived(Base):
        pass

    asked = []

    def answers(name, answer):
        def convert(value, dtype=None, name_=None, as_ref=False, **_):
            asked.append(name)
            return answer()

        return convert

    assert tf.convert_to_tensor(1).dtype == tf.int32  # what was looked up before is looked up again
    tf.register_tensor_conversion_function(Base, answers("second", lambda: tf.constant(7)), 60)
    tf.register_tensor_conversion_function((int, Base), answers("first", lambda: NotImplemented), 50)
    tf.register_tensor_conversion_function(Base, answers("never", lambda: tf.constant(8)), 60)
    assert tf.convert_to_tensor(Derived()).op.get_attr("value").int_val == [7]
    assert asked == ["first", "second"]


@pytest.mark.parametrize(("base", "function"), [("x", lambda: None), ((int, 3), lambda: None), (int, 3)])
def test_what_can_not_be_registered(base, function):
    with pytest.raises(TypeError):
        tf.register_tensor_conversion_function(base, function)


@pytest.mark.parametrize(
    ("answer", "arguments", "error"),
    [
        (lambda: 3, {}, RuntimeError),
        (lambda: tf.constant(1), {"dtype": tf.float32}, RuntimeError),
        (lambda: tf.constant(1), {"preferred_dtype": tf.float32}, TypeError),
    ],
)
def test_a_conversion_that_gives_something_else(registered, answer, arguments, error):
    class Mine:
        pass

    tf.register_tensor_conversion_function(Mine, lambda value, **_: answer(), 50)
    with pytest.raises(error):
        tf.convert_to_tensor(Mine(), **arguments)


@pytest.mark.parametrize(
    ("value", "arguments", "dtype"),
    [
        ([1.5], {"preferred_dtype": tf.int32}, tf.float32),  # a preference gives way
        ([1], {"preferred_dtype": tf.float64}, tf.float64),
        ([1], {"dtype_hint": "float64"}, tf.float64),
        (1, {"dtype": "float64"}, tf.float64),
        (np.zeros(2), {}, tf.float64),
        ("a", {}, tf.string),
        (True, {}, tf.bool),
        ([[]], {}, tf.float32),
    ],
)
def test_types_that_come_out(value, arguments, dtype):
    assert tf.convert_to_tensor(value, **arguments).dtype == dtype


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (lambda: None, None, ValueError),
        (object, None, TypeError),
        (lambda: tf.constant(1), tf.float32, ValueError),
        (lambda: [1.5], tf.int32, TypeError),
        (lambda: [[1], [1, 2]], None, ValueError),
    ],
)
def test_values_that_are_refused(value, dtype, error):
    with pytest.raises(error):
        tf.convert_to_tensor(value(), dtype)


def test_a_tensor_is_itself():
    x = tf.constant(1)
    assert tf.convert_to_tensor(x) is x is tf.convert_to_tensor(x, tf.int32)


def test_several_values():
    assert [t.op.name for t in conversion.convert_n_to_tensor([1, 2], name="k")] == ["k_0", "k_1"]
    with pytest.raises(TypeError, match="sequence"):
        conversion.convert_n_to_tensor(3)
    found = conversion.convert_n_to_tensor_or_indexed_slices([None, 1, slices()])
    assert [type(v).__name__ for v in found] == ["NoneType", "Tensor", "IndexedSlices"]
    with pytest.raises(TypeError, match="iterable"):
        conversion.convert_n_to_tensor_or_indexed_slices(3)


def test_slices_and_sparse_tensors_stay_what_they_are():
    made = slices()
    assert conversion.convert_to_tensor_or_indexed_slices(made, tf.float32) is made
    with pytest.raises(ValueError, match="float32 already"):
        conversion.convert_to_tensor_or_indexed_slices(made, tf.int32)
    assert conversion.convert_to_tensor_or_composite(made) is made
    value = tf.SparseTensorValue([[0]], [1.0], [1])
    assert isinstance(tf.convert_to_tensor_or_sparse_tensor(value), tf.SparseTensor)
    assert isinstance(conversion.convert_to_tensor_or_composite(value), tf.SparseTensor)
    assert tf.convert_to_tensor_or_sparse_tensor([1]).dtype == tf.int32
    with pytest.raises(RuntimeError, match="float32 was given where int32"):
        tf.convert_to_tensor_or_sparse_tensor(value, tf.int32)


def test_a_conversion_to_several_tensors(registered):
    class Pair:
        pass

    tf.register_tensor_conversion_function(Pair, lambda *_, **__: tf.SparseTensor([[0]], [1.0], [3]))
    assert isinstance(conversion.convert_to_tensor_or_composite(Pair()), tf.SparseTensor)
    with pytest.raises(RuntimeError):
        tf.convert_to_tensor(Pair())
