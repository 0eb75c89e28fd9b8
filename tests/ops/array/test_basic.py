"""Shapes and sizes, and tensors made from them: reshapes, broadcasts, zeros and ones."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "reshape": (lambda x: tf.reshape(x, [4, -1]), lambda a: a.reshape(4, -1)),
    "expand_dims": (lambda x: tf.expand_dims(x, -2), lambda a: a[:, :, None]),
    "squeeze": (lambda x: tf.squeeze(x[:1], 0), lambda a: a[0]),
    "broadcast_to": (lambda x: tf.broadcast_to(x[:, :1], [2, 3, 4]), lambda a: np.broadcast_to(a[:, :1], a.shape)),
    "fill": (lambda x: tf.fill([2, 2], x[0, 0, 1]), lambda a: np.full((2, 2), a[0, 0, 1], a.dtype)),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    "Input to reshape is a tensor with 6 values, but the requested shape has 4": lambda: tf.reshape(fed(B), [4]),
    "Only one input size may be -1": lambda: tf.reshape(fed(B), fed([-1, -1])),
    "requires a multiple of 4": lambda: tf.reshape(fed(B), fed([-1, 4])),
    "Can not squeeze": lambda: tf.squeeze(fed(B), 0),
    "Dimension -1 must be >= 0": lambda: tf.fill(fed([-1]), 1),
    "Incompatible shapes": lambda: tf.broadcast_to(fed(B), fed([2, 2])),
    "is not compatible with expected shape": lambda: tf.ensure_shape(fed(B), [None, 4]),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


BUILD_ERRORS = {
    "reshape": lambda: tf.reshape(tf.zeros([6]), [4, -1]),
    "expand_dims": lambda: tf.expand_dims(tf.zeros([2]), 5),
    "expand_dims without axis": lambda: tf.expand_dims(tf.zeros([2])),
    "both names": lambda: tf.squeeze(tf.zeros([1]), 0, squeeze_dims=[0]),
    "squeeze": lambda: tf.squeeze(tf.zeros([2, 3]), 0),
    "fill": lambda: tf.fill([-1], 0),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()


def test_sizes_that_are_known_become_constants():
    x = tf.placeholder(tf.float32, [2, 3])
    open_ = tf.placeholder(tf.float32, [None, 3])
    assert [t.op.type for t in (tf.shape(x), tf.size(x), tf.rank(x), tf.rank(open_))] == ["Const"] * 4
    assert [t.op.type for t in (tf.shape(open_), tf.size(open_), tf.rank(tf.placeholder(tf.float32)))] == [
        "Shape",
        "Size",
        "Rank",
    ]
    assert tf.stack([1, 2]).op.type == "Const" and tf.concat([x], 0).op.type == "Identity"
    assert (
        tf.zeros([2, 3]).op.type == "Const"
        and tf.zeros([2000]).op.type == "Fill"
        and tf.zeros_like(open_).op.type == "ZerosLike"
    )


def test_shapes_of_what_constants_make_are_measured_where_they_are_reckoned_with():
    different = tf.unique([1, 1, 2])[0]  # its static shape is unknown, its value is not
    shape, anything = tf.shape(different), tf.placeholder(tf.float32)

    def reshaped(to):
        return tf.reshape(anything, to).shape.as_list()

    assert (
        reshaped(shape + 1) == [3]
        and reshaped(tf.stack([shape[0], 2])) == [2, 2]
        and reshaped([tf.size(different) + 1]) == [3]
    )
    # Shapes that are only put together are read from the static ones, piece by piece.
    assert (
        reshaped(shape) == [None]
        and reshaped(tf.concat([shape, [2]], 0)) == [None, 2]
        and reshaped(shape[:1]) == [None]
    )


@pytest.mark.parametrize(
    ("have", "wanted", "known"),
    [
        ([None, 2, 3], [3], [None, 2, 3]),
        ([2, 3], [3], [None, 2, 3]),
        ([1, 3], [2], [None, 3]),
        (None, [2], [None, None]),
        ([2, 3], [None], None),
    ],
)
def test_what_is_known_of_a_broadcast_to_an_unknown_shape(have, wanted, known):
    made = tf.broadcast_to(tf.placeholder(tf.float32, have), tf.placeholder(tf.int32, wanted))
    assert (made.shape.as_list() if known else made.shape.rank) == known
