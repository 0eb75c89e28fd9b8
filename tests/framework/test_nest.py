"""tf.nest and tensorflow.python.util.nest."""

import collections

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import everflow as tf
from everflow.framework import nest

Point = collections.namedtuple("Point", "x y")


class Attrs:
    """What an attrs class looks like from outside."""

    __attrs_attrs__ = tuple(collections.namedtuple("Attribute", "name")(name) for name in ("a", "b"))

    def __init__(self, a, b):
        self.a, self.b = a, b


def test_flatten_orders_dicts_by_key():
    assert nest.flatten({"b": 1, "a": [2, (3, Point(4, 5))]}) == [2, 3, 4, 5, 1]
    assert nest.flatten(collections.OrderedDict([("b", 1), ("a", 2)])) == [2, 1]
    with pytest.raises(TypeError):
        nest.flatten({"a": 1, 1: 2})


@pytest.mark.parametrize("leaf", [3, "ab", b"ab", None, {1, 2}])
def test_leaves(leaf):
    assert nest.flatten(leaf) == [leaf]


def test_arrays_are_leaves():
    array = np.zeros(2)
    assert nest.flatten(array)[0] is array
    assert not nest.is_sequence(array)


def test_pack_keeps_the_kinds():
    assert list(nest.pack_sequence_as(collections.OrderedDict([("b", 1), ("a", 2)]), [10, 20]).items()) == [
        ("b", 20),
        ("a", 10),
    ]
    assert nest.pack_sequence_as(Point(0, [0]), [1, 2]) == Point(1, [2])
    packed = nest.pack_sequence_as(Attrs(1, [2, 3]), [4, 5, 6])
    assert (packed.a, packed.b) == (4, [5, 6])
    factory = nest.pack_sequence_as(collections.defaultdict(list, {"a": 1}), [2])
    assert factory["new"] == [] and factory["a"] == 2
    assert nest.pack_sequence_as(3, [5]) == 5


@pytest.mark.parametrize(
    "structure, flat, error", [(3, [5, 6], ValueError), ([1, 2], [5], ValueError), ([1, 2], 5, TypeError)]
)
def test_pack_errors(structure, flat, error):
    with pytest.raises(error):
        nest.pack_sequence_as(structure, flat)


@pytest.mark.parametrize(
    "a, b, check_types, error",
    [
        ([1, 2], [1, [2]], True, ValueError),
        ([1, 2], (1, 2), True, TypeError),
        ([1, 2], (1, 2), False, None),
        (Point(1, 2), collections.namedtuple("Point", "x y")(1, 2), True, None),
        (Point(1, 2), (1, 2), True, TypeError),
        ([1, 2], [1], True, ValueError),
        ({"a": 1}, {"b": 1}, True, ValueError),
        ({"a": 1}, {"b": 1}, False, None),
        ({"a": 1}, collections.OrderedDict(a=1), True, None),
    ],
)
def test_same_structure(a, b, check_types, error):
    if error is None:
        nest.assert_same_structure(a, b, check_types)
    else:
        with pytest.raises(error):
            nest.assert_same_structure(a, b, check_types)


def test_map_structure():
    assert nest.map_structure(lambda a, b: a + b, [1, (2,)], [3, (4,)]) == [4, (6,)]
    assert nest.map_structure(lambda a, b: a + b, [1], (2,), check_types=False) == [3]
    for args, kwargs, error in [
        ((3, [1]), {}, TypeError),
        ((len,), {}, ValueError),
        ((len, [1]), {"foo": 2}, ValueError),
    ]:
        with pytest.raises(error):
            nest.map_structure(*args, **kwargs)


def test_up_to():
    assert nest.flatten_up_to([0, 0], [[1, 2], {"a": 3}]) == [[1, 2], {"a": 3}]
    assert nest.flatten_up_to([1], [1, 2], check_subtrees_length=False) == [1]
    assert nest.map_structure_up_to([0, 0], lambda a, b: (a, b), [[1, 2], 3], [4, [5]]) == [([1, 2], 4), (3, [5])]
    for shallow, deep, error in [
        ([1, [2]], [1, 2], TypeError),
        ([1, 2], [1], ValueError),
        ([1], (1,), TypeError),
        ({"a": 1}, {"b": 2}, ValueError),
    ]:
        with pytest.raises(error):
            nest.flatten_up_to(shallow, deep)


def test_paths():
    structure = {"a": [1, 2], "b": Point(3, 4)}
    assert nest.flatten_with_joined_string_paths(structure) == [("a/0", 1), ("a/1", 2), ("b/x", 3), ("b/y", 4)]
    assert nest.flatten_with_tuple_paths(structure)[2] == (("b", "x"), 3)
    assert list(nest.yield_flat_paths(1)) == [()]
    assert nest.map_structure_with_paths(lambda path, a: (path, a), {"a": [1]}) == {"a": [("a/0", 1)]}
    assert nest.map_structure_with_tuple_paths_up_to({"a": 0}, lambda path, a: (path, a), {"a": [1]}) == {
        "a": (("a",), [1])
    }


def test_traverse_and_dict_items():
    assert nest.get_traverse_shallow_structure(lambda s: isinstance(s, list), [1, [2, {"a": 3}]]) == [
        False,
        [False, False],
    ]
    assert nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d"))}) == {4: "a", 5: "b", 6: "c", 8: "d"}
    for wrong, error in [({(4, 5): ("a",)}, ValueError), ([1], TypeError), ({("a", "b"): (1, 2), "a": 3}, ValueError)]:
        with pytest.raises(error):
            nest.flatten_dict_items(wrong)


_structures = st.recursive(
    st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_structures)
def test_packing_what_was_flattened_gives_it_back(structure):
    assert nest.pack_sequence_as(structure, nest.flatten(structure)) == structure
    nest.assert_same_structure(structure, nest.map_structure(str, structure))


def test_views_of_dicts_and_ranges_are_structures():
    numbers = {"b": 1, "a": 2}
    assert nest.flatten(numbers.values()) == [1, 2] and nest.flatten(numbers.keys()) == ["b", "a"]
    assert nest.flatten(numbers.items()) == ["b", 1, "a", 2]
    assert nest.map_structure(lambda x: x + 1, range(3)) == [1, 2, 3]
    assert [nest.is_nested(v) for v in ([], {}, range(2), collections.deque(), {1}, "a", b"a", None)] == [True] * 4 + [
        False
    ] * 4


def test_values_of_several_tensors_are_leaves_unless_they_are_to_be_taken_apart():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0]], [1.0], [1])
        assert nest.flatten([sparse]) == [sparse]
        assert nest.flatten([sparse], expand_composites=True) == [sparse.indices, sparse.values, sparse.dense_shape]
        again = nest.map_structure(lambda t: t, {"k": sparse}, expand_composites=True)["k"]
        assert isinstance(again, tf.SparseTensor) and again.values is sparse.values
        spec = tf.SparseTensorSpec([1], tf.int32)
        assert len(nest.flatten(spec, expand_composites=True)) == 3 and nest.flatten(spec) == [spec]
        assert nest.is_sequence_or_composite(sparse) and not nest.is_sequence(sparse)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: nest.map_structure(lambda: 1), ValueError),
        (lambda: nest.map_structure(3, [1]), TypeError),
        (lambda: nest.map_structure(lambda a, b: a, [1], [1, 2]), ValueError),
        (lambda: nest.map_structure(lambda a, b: a, [1], (1,)), TypeError),
        (lambda: nest.map_structure(lambda a: a, [1], no_such=1), ValueError),
        (lambda: nest.map_structure_with_tuple_paths_up_to([1], lambda p, a: a), ValueError),
    ],
)
def test_maps_that_are_refused(call, error):
    with pytest.raises(error):
        call()


def test_structures_of_answers_say_where_to_go_on():
    structure = {"a": [1, 2], "b": [3, 4]}
    go_on = lambda part: {"a": True, "b": False} if isinstance(part, dict) else isinstance(part, list)  # noqa: E731
    assert nest.get_traverse_shallow_structure(go_on, structure) == {"a": [False, False], "b": False}
    with pytest.raises(TypeError, match="for non-structure"):
        nest.get_traverse_shallow_structure(lambda part: [True], 3)
    with pytest.raises(TypeError, match="True or False of each part"):
        nest.get_traverse_shallow_structure(lambda part: {"a": [True, True], "b": False}, structure)
