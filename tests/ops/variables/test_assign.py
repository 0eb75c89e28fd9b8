"""Functions that change variables."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize("use_resource", [False, True])
def test_assignments(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v.assign_add([1.0, 1.0])).tolist() == [2.0, 3.0]
        assert sess.run(v.assign_sub([0.5, 0.5])).tolist() == [1.5, 2.5]
        assert sess.run(v.assign([7.0, 8.0], read_value=False)) is None
        assert sess.run(v).tolist() == [7.0, 8.0]
        assert sess.run(v[1:].assign([9.0])).tolist() == [7.0, 9.0]
        v.load([0.0, 1.0], sess)
        assert v.eval(session=sess).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "kind, expected",
    [
        ("add", [[2.0, 2.0], [6.0, 6.0]]),
        ("sub", [[0.0, 0.0], [-2.0, -2.0]]),
        ("mul", [[1.0, 1.0], [8.0, 8.0]]),
        ("div", [[1.0, 1.0], [0.5, 0.5]]),
        ("update", [[1.0, 1.0], [2.0, 2.0]]),
        ("max", [[1.0, 1.0], [2.0, 2.0]]),
        ("min", [[1.0, 1.0], [2.0, 2.0]]),
    ],
)
def test_scatters_apply_repeated_rows_in_order(use_resource, kind, expected):
    v = tf.Variable([[1.0, 1.0], [2.0, 2.0]], use_resource=use_resource)
    updates = tf.constant([[1.0, 1.0], [2.0, 2.0], [2.0, 2.0]])
    op = getattr(tf, f"scatter_{kind}")(v, [0, 1, 1], updates)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(op)
        assert sess.run(v).tolist() == expected


def test_count_up_to():
    v = tf.Variable(0)
    up = v.count_up_to(2)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(up), sess.run(up)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(up)
