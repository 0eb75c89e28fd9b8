"""Slices of tensors and variables, and indices that are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "slice": (lambda x: tf.slice(x, [0, 1, 0], [-1, 2, 3]), lambda a: a[:, 1:3, :3]),
    "getitem": (lambda x: x[1, ::-2, None, ..., 1:], lambda a: a[1, ::-2, None, ..., 1:]),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


EMPTY = {
    "slice": (lambda: tf.ones([3, 2])[1:1], (0, 2)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]


RUN_TIME_ERRORS = {
    r"Expected size\[1\] in \[0, 1\]": lambda: tf.slice(fed(B), [0, 2], [1, 4]),
    "slice index 5 of dimension 0 out of bounds": lambda: fed(B)[5],
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


BUILD_ERRORS = {
    "slice": lambda: tf.slice(tf.zeros([3]), [4], [-1]),
    "index": lambda: tf.zeros([3])[4],
    "too many indices": lambda: tf.zeros([3])[0, 0],
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()


@pytest.mark.parametrize("index", [1.0, "a", np.array([0, 1])])
def test_indices_of_other_kinds_are_type_errors(index):
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.zeros([3])[index]


def test_slices_of_variables_can_be_assigned():
    v = tf.Variable([1, 2, 3, 4])
    change = v[1:3].assign([7, 8])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(change)
        assert session.run(v).tolist() == [1, 7, 8, 4]
    with pytest.raises(ValueError, match="only supported for variables"):
        tf.zeros([3])[1:].assign([1.0])


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_slices_are_numpys(data):
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    bound = st.none() | st.integers(-5, 5)
    entry = st.builds(slice, bound, bound, st.none() | st.sampled_from([-2, -1, 1, 2])) | st.none() | st.just(Ellipsis)
    key = data.draw(st.lists(entry, max_size=len(shape)).filter(lambda k: k.count(Ellipsis) < 2))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    with tf.Graph().as_default():
        tensor = tf.constant(array)[tuple(key)]
        value, gradient = run(
            tensor,
            tf.raw_ops.StridedSliceGrad(
                shape=shape,
                begin=tensor.op.inputs[1],
                end=tensor.op.inputs[2],
                strides=tensor.op.inputs[3],
                dy=tensor,
                **{m: tensor.op.get_attr(m) for m in tensor.op.node_def.attr if m.endswith("_mask")},
            ),
        )
    wanted = array[tuple(key)]
    assert value.shape == wanted.shape == tuple(tensor.shape.as_list()) and (value == wanted).all()
    back = np.zeros_like(array)
    back[tuple(key)] = wanted
    assert (gradient == back).all()
