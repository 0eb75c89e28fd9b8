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


@pytest.mark.parametrize("use_resource", [False, True])
def test_functions_take_both_kinds(use_resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    with tf.Session() as sess:
        assert not sess.run(tf.is_variable_initialized(v))
        sess.run(v.initializer)
        assert sess.run(tf.is_variable_initialized(v))
        for change, expected in ((tf.assign, [5, 5]), (tf.assign_add, [10, 10]), (tf.assign_sub, [5, 5])):
            assert sess.run(change(v, [5.0, 5.0])).tolist() == expected


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.scatter_nd_update, [[0, 9], [2, 3]]),
        (tf.scatter_nd_add, [[0, 10], [2, 3]]),
        (tf.scatter_nd_sub, [[0, -8], [2, 3]]),
    ],
)
def test_single_elements(function, expected, use_resource):
    v = tf.get_variable("v", initializer=[[0.0, 1.0], [2.0, 3.0]], use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(function(v, [[0, 1]], [9.0]))
        assert sess.run(v).tolist() == expected


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_inside_of_batches(use_resource):
    v = tf.get_variable("v", initializer=tf.zeros([2, 3]), use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(tf.batch_scatter_update(v, [[0, 2], [1, 1]], [[1.0, 2.0], [3.0, 4.0]]))
        assert sess.run(v).tolist() == [[1, 0, 2], [0, 4, 0]]
    with pytest.raises(ValueError):
        tf.batch_scatter_update(v, tf.placeholder(tf.int32), [[1.0]])


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "build",
    [
        lambda v: tf.assign(v, [1.0, 2.0, 3.0]),
        lambda v: tf.assign_add(v, [1.0, 2.0, 3.0]),
        lambda v: tf.scatter_update(v, [0], [1.0, 2.0]),
        lambda v: tf.scatter_nd_update(v, [[0]], [1.0, 2.0]),
    ],
)
def test_shapes_that_do_not_fit(build, use_resource):
    v = tf.get_variable("v", [2], use_resource=use_resource)
    with pytest.raises(ValueError):
        build(v)


def test_a_scalar_goes_to_all_rows():
    v = tf.get_variable("v", initializer=tf.zeros([3, 2]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(tf.scatter_update(v, [0, 2], 5.0)).tolist() == [[5, 5], [0, 0], [5, 5]]


def test_only_slices_scatter():
    v = tf.get_variable("v", [2])
    with pytest.raises(TypeError):
        v.scatter_add(tf.constant([1.0, 2.0]))


def test_a_shape_may_change_where_it_is_not_validated():
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    grown = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    assert grown.shape.as_list() == [3]
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(grown).tolist() == [1, 2, 3] and sess.run(v).tolist() == [1, 2, 3]
