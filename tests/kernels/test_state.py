"""Variables' buffers: who sees a write, parts that are written, and what is said where nothing was assigned."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels.state import Buffer, unique_rounds
from tests.kernels.feeding import fed


def made(sess, value, resource, name="v"):
    variable = tf.get_variable(name, initializer=tf.constant(value), use_resource=resource, validate_shape=False)
    sess.run(variable.initializer)
    return variable


def test_an_assignment_of_one_shape_stays_in_the_buffer():
    buffer = Buffer(dtypes.float32)
    buffer.assign(torch.tensor([1.0, 2.0]))
    held = buffer.value
    buffer.assign(torch.tensor([3.0, 4.0]))
    assert held.tolist() == [3, 4]
    buffer.assign(torch.tensor([[5.0]]))
    assert held.tolist() == [3, 4] and buffer.value.tolist() == [[5]]


def test_a_view_of_the_buffer_may_be_assigned_to_it():
    buffer = Buffer(dtypes.float32)
    buffer.assign(torch.arange(4.0).reshape(2, 2))
    buffer.assign(buffer.value.t())
    assert buffer.value.tolist() == [[0, 2], [1, 3]]


def test_a_reader_keeps_what_it_read_after_unsharing():
    buffer = Buffer(dtypes.float32)
    buffer.assign(torch.zeros(2))
    alone = buffer.value.data_ptr()
    buffer.unshare()
    assert buffer.value.data_ptr() == alone
    reader = buffer.value[:1]
    buffer.unshare()
    buffer.value += 1
    assert reader.tolist() == [0] and buffer.value.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("indices", "rounds"), [([3, 1, 2], 1), ([1, 1, 2, 1], 3), ([10**9, 5, 10**9], 2), ([], 1), ([7], 1)]
)
def test_rounds_have_each_index_once(indices, rounds):
    positions = torch.tensor(indices, dtype=torch.int64)
    found = unique_rounds(positions)
    assert len(found) == rounds
    if found != [None]:
        assert sorted(torch.cat(found).tolist()) == list(range(len(indices)))
        assert all(len(set(positions[r].tolist())) == len(r) for r in found)


OPERATIONS = {
    "update": lambda old, new: new,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_rows_that_come_twice_are_changed_twice(sess, resource, name):
    start, updates = np.float64([[1, 2], [3, 4], [5, 6]]), np.float64([[2, 8], [4, 4], [8, 2]])
    variable = made(sess, start, resource)
    sess.run(getattr(tf, f"scatter_{name}")(variable, fed([2, 0, 2]), fed(updates)))
    wanted = start.copy()
    for row, update in zip([2, 0, 2], updates):
        wanted[row] = OPERATIONS[name](wanted[row], update)
    np.testing.assert_allclose(sess.run(variable), wanted)


@pytest.mark.parametrize("resource", [False, True])
def test_one_value_for_all_rows_and_places_in_several_axes(sess, resource):
    variable = made(sess, np.zeros([3, 2]), resource)
    sess.run(tf.scatter_update(variable, fed([0, 2]), fed(7.0, tf.float64)))
    assert sess.run(variable).tolist() == [[7, 7], [0, 0], [7, 7]]
    sess.run(tf.scatter_nd_add(variable, fed([[0, 1], [0, 1], [1, 0]]), fed(np.ones(3))))
    assert sess.run(variable).tolist() == [[7, 9], [1, 0], [7, 7]]


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: tf.scatter_add(v, fed([3]), fed([[1.0, 1.0]], tf.float64)), r"indices\[0\] = 3 is not in \[0, 3\)"),
        (
            lambda v: tf.scatter_add(v, fed([-1]), fed([[1.0, 1.0]], tf.float64)),
            r"indices\[0\] = -1 is not in \[0, 3\)",
        ),
        (lambda v: tf.scatter_add(v, fed([0]), fed([1.0], tf.float64)), "Must have updates.shape = indices.shape"),
        (lambda v: tf.scatter_nd_add(v, fed([[0, 2]]), fed([1.0], tf.float64)), "does not index into shape"),
        (lambda v: tf.scatter_nd_add(v, [[0, 1, 0]], fed([1.0], tf.float64)), r"shape \[1,3\] address 3 axes"),
        (lambda v: tf.assign_add(v, fed([1.0], tf.float64)), None),
    ],
)
def test_changes_that_do_not_fit_change_nothing(sess, resource, change, message):
    variable = made(sess, np.zeros([3, 2]), resource)
    update = change(variable)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(update)
    assert not sess.run(variable).any()


@pytest.mark.parametrize("resource", [False, True])
def test_slices_are_assigned_backwards_too(sess, resource):
    variable = made(sess, np.zeros(6), resource)
    sess.run(variable[4:1:-2].assign([1.0, 2.0]))
    sess.run(variable[0].assign(9.0))
    assert sess.run(variable).tolist() == [9, 0, 2, 0, 1, 0]


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda v: v.read_value(), tf.errors.FailedPreconditionError),
        (lambda v: v.assign_add([1.0]), (tf.errors.FailedPreconditionError, tf.errors.NotFoundError)),
        (lambda v: tf.scatter_add(v, [0], [1.0]), (tf.errors.FailedPreconditionError, tf.errors.NotFoundError)),
    ],
)
@pytest.mark.parametrize("resource", [False, True])
def test_nothing_was_assigned_yet(sess, resource, use, error):
    variable = tf.get_variable("v", initializer=[1.0], use_resource=resource)
    with pytest.raises(error):
        sess.run(use(variable))


@pytest.mark.parametrize("resource", [False, True])
def test_counters_stop_at_their_limit(sess, resource):
    variable = made(sess, 3, resource)
    count = (
        tf.raw_ops.ResourceCountUpTo(resource=variable.handle, limit=5, T=tf.int32)
        if resource
        else tf.count_up_to(variable, 5)
    )
    assert [int(sess.run(count)) for _ in range(2)] == [3, 4]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 5"):
        sess.run(count)
    assert sess.run(variable) == 5


def test_a_destroyed_variable_is_gone(sess):
    variable = made(sess, [1.0], True)
    sess.run(tf.raw_ops.DestroyResourceOp(resource=variable.handle))
    assert not sess.run(tf.is_variable_initialized(variable))
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(tf.raw_ops.DestroyResourceOp(resource=variable.handle, ignore_lookup_error=False))


def test_variables_of_words(sess):
    variable = made(sess, np.array([["a", "b"], ["c", "d"]]), True)
    sess.run(tf.scatter_update(variable, fed([1]), fed([["x", "y"]])))
    assert sess.run(tf.gather(variable, fed([1, 0]))).tolist() == [[b"x", b"y"], [b"a", b"b"]]
    assert sess.run(tf.gather_nd(variable, fed([[1, 0]]))).tolist() == [b"x"]


def test_temporary_variables_end_with_their_destruction(sess):
    temporary = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="t")
    filled = tf.assign(temporary, [1.0, 2.0])
    total = tf.assign_add(filled, [1.0, 1.0])
    assert sess.run(tf.raw_ops.DestroyTemporaryVariable(ref=total, var_name="t")).tolist() == [2, 3]


def test_new_variables_filled_with_zeros(sess):
    zero = tf.contrib.framework.zero_initializer
    ref, resource = tf.Variable([1.0, 2.0]), tf.Variable([3.0], use_resource=True)
    sess.run(zero(ref))
    sess.run(zero(resource).op)
    assert [v.tolist() for v in sess.run([ref, resource])] == [[0.0, 0.0], [0.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="has a value already"):
        sess.run(zero(ref))


def test_two_temporary_variables_of_one_name():
    with tf.Graph().as_default(), tf.Session() as sess:
        made = [tf.raw_ops.TemporaryVariable(shape=[1], dtype=tf.float32, var_name="a") for _ in range(2)]
        with pytest.raises(tf.errors.AlreadyExistsError):
            sess.run([tf.assign(each, [1.0]) for each in made])


def test_one_row_of_a_vector_is_a_number(sess):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)
    sess.run(v.initializer)
    assert sess.run(tf.gather(v, 1)) == 2.0
    assert sess.run(tf.nn.embedding_lookup(v, 2)) == 3.0


def test_a_part_of_a_variable_may_be_written_with_another_part(sess):
    def run(write):
        numbers = tf.Variable([1, 2, 3, 4, 5], use_resource=False)
        update = write(numbers)
        sess.run(numbers.initializer)
        sess.run(update)
        return sess.run(numbers).tolist()

    assert run(lambda v: v[:3].assign(v[2:])) == [3, 4, 5, 4, 5]
    assert run(lambda v: v[1:].assign(v[:4])) == [1, 1, 2, 3, 4]
    assert run(lambda v: tf.scatter_update(v, [0, 1], v[1:3])) == [2, 3, 3, 4, 5]
    assert run(lambda v: tf.scatter_nd_update(v, [[1], [2]], v[:2])) == [1, 1, 2, 4, 5]
    assert run(lambda v: tf.scatter_add(v, [1, 2], v[:2])) == [1, 3, 5, 4, 5]
