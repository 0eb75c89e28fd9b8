"""What may be fetched, in which structures, and what is refused."""

import collections
import types

import pytest

import everflow as tf
from everflow.runtime import fetches


def test_structures_come_back_as_they_were_asked():
    Pair = collections.namedtuple("Pair", "first second")
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.Session() as sess:
        got = sess.run({"pair": Pair(a, [b, (a, b.op)]), "ordered": collections.OrderedDict(z=a)})
    assert got == {"pair": Pair(1.0, [2.0, (1.0, None)]), "ordered": collections.OrderedDict(z=1.0)}
    assert type(got["pair"]) is Pair and type(got["ordered"]) is collections.OrderedDict


def test_the_same_fetch_structures_again_and_other_kinds_of_it():
    a = tf.constant(1.0)
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run([a]) == [1.0] and sess.run((a,)) == (1.0,) and sess.run(a) == 1.0


def test_fetches_by_name():
    tf.constant(3.0, name="three")
    with tf.Session() as sess:
        assert sess.run("three:0") == 3.0
        assert sess.run("three") is None
        for name in ("zzz", "zzz:0"):
            with pytest.raises(ValueError, match="names nothing that this graph could give"):
                sess.run(name)


@pytest.mark.parametrize("fetch", [None, 3, {1, 2}, [None]])
def test_what_cannot_be_fetched_is_a_type_error(fetch):
    tf.constant(1.0)
    with tf.Session() as sess, pytest.raises(TypeError, match="Fetch argument"):
        sess.run(fetch)


def test_fetch_of_another_graph():
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    tf.constant(1.0)
    with tf.Session() as sess, pytest.raises(ValueError, match="is not an element of this graph"):
        sess.run(other)


def test_nested_fetches_are_told_apart():
    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run([a, [b]]) == [1.0, [2.0]]
            assert sess.run([a, (b,)]) == [1.0, (2.0,)]
            assert sess.run([[a], b]) == [[1.0], 2.0]
            assert sess.run({"x": a, "y": [b]}) == {"x": 1.0, "y": [2.0]}
            assert sess.run({"x": a, "z": [b]}) == {"x": 1.0, "z": [2.0]}
            assert sess.run({"x": b, "z": [a]}) == {"x": 2.0, "z": [1.0]}
        changing = [a, [b]]
        assert sess.run(changing) == [1.0, [2.0]]
        changing[1].append(a)
        assert sess.run(changing) == [1.0, [2.0, 1.0]]


def test_classes_of_ones_own():
    class Squared:
        def __init__(self, x):
            self.x = x

    kept = list(fetches._conversions)
    fetches.register_session_run_conversion_functions(
        Squared, lambda s: ([s.x], lambda values: values[0] ** 2), lambda s, value: [(s.x, value)], lambda s: [s.x]
    )
    try:
        x = tf.placeholder(tf.float32, [])
        with tf.Session() as sess:
            assert sess.run(Squared(x), {Squared(x): 3.0}) == 9.0
        with pytest.raises(ValueError, match="already been registered"):
            fetches.register_session_run_conversion_functions(Squared, None)
    finally:
        fetches._conversions[:] = kept


def test_composites_come_back_as_values():
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    whole = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3]))
    with tf.Session() as sess:
        sparse, part, full = sess.run([tf.SparseTensor([[0]], [1.0], [1]), slices, whole])
    assert isinstance(sparse, tf.SparseTensorValue) and sparse.values.tolist() == [1.0]
    assert part.dense_shape is None and full.dense_shape.tolist() == [3] and part._fields == full._fields


def test_classes_of_attrs_and_mappings_keep_their_kind():
    class Pair:
        """As `attr.s` would make it."""

        __attrs_attrs__ = (types.SimpleNamespace(name="first"), types.SimpleNamespace(name="second"))

        def __init__(self, first, second):
            self.first, self.second = first, second

    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.Session() as sess:
        pair = sess.run(Pair(a, [b]))
        assert type(pair) is Pair and (pair.first, pair.second) == (1.0, [2.0])
        found = sess.run(collections.UserDict(x=a))
        assert found == {"x": 1.0} and type(found) is collections.UserDict


def test_empty_structures_and_the_same_tensor_twice():
    a = tf.constant(1.0)
    with tf.Session() as sess:
        for nothing in ([], (), {}):
            assert sess.run(nothing) == nothing
        assert sess.run([a, a, a.op]) == [1.0, 1.0, None]
        assert fetches.FetchPlan(sess, [a, {"k": a}]).elements == [a]


def test_what_is_inside_of_a_branch_is_not_fetched_where_it_was_marked():
    a = tf.constant(1.0, name="a")
    tf.get_default_graph().prevent_fetching(a.op)
    with tf.Session() as sess, pytest.raises(ValueError, match="'a:0' is not fetchable"):
        sess.run(a)


def test_a_tensor_that_stays_in_the_session_is_fetched_as_a_handle():
    handle = tf.get_session_handle(tf.constant(3.0) * 2.0)
    with tf.Session() as sess:
        kept = sess.run([handle, tf.constant(1.0)])[0]
        assert kept.eval() == 6.0


def test_what_a_composite_is_made_of():
    s = tf.SparseTensor([[0]], [1.0], [1])
    assert fetches.composite_parts(s) == [s.indices, s.values, s.dense_shape]
    assert fetches.composite_parts(tf.constant(1)) is None and fetches.conversion_of(s) is None
