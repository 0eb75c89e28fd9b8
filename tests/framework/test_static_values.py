"""Values and shapes known before running: by a short look at the graph, and by evaluating what is constant."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.framework import raw_ops as raw
from everflow.framework import static_values
from everflow.framework.static_values import (
    EVALUATORS,
    SPLITTERS,
    constant_value,
    constant_value_as_shape,
)

pytestmark = pytest.mark.usefixtures("own_graph")


def open_shape(*sizes):
    return tf.placeholder(tf.float32, sizes)


SHORT_LOOK = {
    "constant": (lambda: tf.constant([1, 2]), [1, 2]),
    "rank": (lambda: raw.Rank(input=open_shape(None, 3)), 2),
    "shape": (lambda: raw.Shape(input=open_shape(2, 3)), [2, 3]),
    "open shape": (lambda: raw.Shape(input=open_shape(None, 3)), None),
    "size": (lambda: raw.Size(input=open_shape(2, 3)), 6),
    "range": (lambda: tf.range(3), [0, 1, 2]),
    "cast": (lambda: tf.cast(tf.constant([1.7]), tf.int32), [1]),
    "concatenation": (lambda: tf.concat([tf.constant([1]), tf.constant([2])], 0), [1, 2]),
    "stack": (lambda: raw.Pack(values=[tf.constant(1), tf.constant(2)]), [1, 2]),
    "stack along another axis": (lambda: raw.Pack(values=[tf.constant([1, 2])] * 2, axis=1), None),
    "stack of open parts": (lambda: raw.Pack(values=[tf.constant(1), tf.placeholder(tf.int32, [])]), None),
    "fill": (lambda: tf.fill([2], 7), [7, 7]),
    "fill with an open value": (lambda: tf.fill([2], tf.placeholder(tf.int32, [])), None),
    "equality": (lambda: tf.equal(tf.constant([1, 2]), tf.constant([1, 3])), [True, False]),
    "inequality": (lambda: tf.not_equal(tf.constant([1, 2]), tf.constant([1, 3])), [False, True]),
    "sum": (lambda: tf.constant(1) + tf.constant(2), None),
    "identity": (lambda: tf.identity(tf.constant(1)), None),
    "text": (lambda: tf.constant(["a"]), [b"a"]),
    "offset": (lambda: raw.ConcatOffset(concat_dim=1, shape=[tf.constant([2, 3]), tf.constant([2, 4])])[1], [0, 3]),
}


@pytest.mark.parametrize("case", SHORT_LOOK)
def test_what_a_short_look_shows(case):
    build, expected = SHORT_LOOK[case]
    tensor = build()
    found = constant_value(tensor)
    assert (None if found is None else found.tolist()) == expected
    # What decided something must not be fed over.
    assert tensor.graph.is_feedable(tensor) is (expected is None)


def test_parts_that_are_known():
    stack = raw.Pack(values=[tf.constant(1), tf.placeholder(tf.int32, []), tf.constant(3)])
    assert constant_value(stack, partial=True).tolist() == [1, None, 3]
    assert constant_value(raw.Pack(values=[tf.placeholder(tf.int32, [])] * 2), partial=True).tolist() == [None, None]
    assert constant_value(tf.Variable(1.0)) is None


SHAPES = {
    "constant": (lambda: tf.constant([2, -1, 3]), [2, None, 3]),
    "minus one": (lambda: tf.constant(-1), None),
    "nothing": (lambda: tf.constant([], tf.int32), []),
    "shape": (lambda: tf.shape(open_shape(None, 3)), [None, 3]),
    "stack": (lambda: tf.stack([tf.placeholder(tf.int32, []), tf.constant(3), tf.constant(-1)]), [None, 3, None]),
    "concatenation": (lambda: tf.concat([tf.shape(open_shape(None, 3)), [4]], 0), [None, 3, 4]),
    "slice": (lambda: tf.shape(open_shape(None, 3, 5))[1:], [3, 5]),
    "slice of an unknown shape": (lambda: tf.shape(tf.placeholder(tf.float32))[1:], None),
    "cast": (lambda: tf.cast(tf.shape(open_shape(None, 3)), tf.int64), [None, None]),
    "vector": (lambda: tf.placeholder(tf.int32, [3]), [None] * 3),
    "anything": (lambda: tf.placeholder(tf.int32), None),
}


@pytest.mark.parametrize("case", SHAPES)
def test_shapes_that_vectors_hold(case):
    build, expected = SHAPES[case]
    for look in (constant_value_as_shape, static_values.known_shape):
        found = look(build())
        assert (None if found.rank is None else found.as_list()) == expected


def test_single_elements_of_shapes_are_seen_by_the_long_look_only():
    def build():
        return tf.stack([tf.shape(open_shape(2, 3, 5))[1], tf.placeholder(tf.int32, [])])

    assert constant_value_as_shape(build()).as_list() == [None, None]
    assert static_values.known_shape(build()).as_list() == [3, None]


@pytest.mark.parametrize(
    "build", [lambda: tf.constant(2), lambda: tf.placeholder(tf.int32, []), lambda: tf.constant([[1]])]
)
def test_what_holds_no_shape(build):
    with pytest.raises(ValueError):
        constant_value_as_shape(build())


# --- the long look -----------------------------------------------------------------------------

MATRIX = np.array([[3, 1, 2], [6, 5, 4]], np.int32)


def matrix():
    return tf.constant(MATRIX)


EVALUATED = {
    "Neg Add Mul": lambda: -matrix() * 2 + 1,
    "floor division": lambda: tf.constant([7, -7]) // tf.constant([2, 2]),
    "remainder": lambda: tf.constant([7, -7]) % tf.constant([3, 3]),
    "truncating division": lambda: raw.Div(x=tf.constant([7, -7]), y=tf.constant([2, 2])),
    "true division": lambda: raw.RealDiv(x=tf.constant([7.0]), y=tf.constant([2.0])),
    "sum": lambda: raw.Sum(matrix(), tf.constant([-1]), keep_dims=True),
    "product of all": lambda: raw.Prod(matrix(), tf.constant([0, 1])),
    "largest": lambda: raw.Max(matrix(), tf.constant(0)),
    "any": lambda: raw.Any(tf.constant([[True, False], [False, False]]), tf.constant([1])),
    "reshape": lambda: tf.reshape(matrix(), [3, -1]),
    "expansion": lambda: tf.expand_dims(matrix(), 1),
    "squeeze": lambda: tf.squeeze(tf.constant([[[1], [2]]]), [0]),
    "squeeze of all": lambda: tf.squeeze(tf.constant([[[1], [2]]])),
    "gather": lambda: tf.gather(matrix(), [[1, 0]], axis=1),
    "gather of points": lambda: tf.gather_nd(matrix(), [[0, 1], [1, 2]]),
    "transpose": lambda: raw.Transpose(x=matrix(), perm=tf.constant([1, 0])),
    "tile": lambda: tf.tile(matrix(), [2, 1]),
    "reverse": lambda: tf.reverse(matrix(), [1]),
    "select": lambda: raw.Select(condition=tf.constant([True, False]), t=matrix(), e=-matrix()),
    "select of elements": lambda: raw.SelectV2(condition=tf.constant([True, False, True]), t=matrix(), e=matrix() * 0),
    "slice": lambda: tf.slice(matrix(), [0, 1], [-1, 2]),
    "strided slice": lambda: matrix()[::-1, tf.newaxis, -1],
    "strided slice with gaps": lambda: matrix()[..., 2:0:-2],
    "broadcast": lambda: tf.broadcast_to(tf.constant([1, 2]), [3, 2]),
    "common shape": lambda: raw.BroadcastArgs(s0=tf.constant([2, 1]), s1=tf.constant([3])),
    "sum of several": lambda: raw.AddN(inputs=[matrix(), matrix(), matrix()]),
    "padding": lambda: tf.pad(matrix(), [[1, 0], [0, 2]], constant_values=7),
    "stitch": lambda: tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]),
    "places": lambda: tf.where(tf.constant([[True, False], [False, True]])),
    "scatter": lambda: tf.scatter_nd([[1], [1], [3]], [1, 2, 5], [4]),
    "one hot": lambda: tf.one_hot([2, 0], 3, axis=0, dtype=tf.int32),
    "largest place": lambda: tf.argmax(matrix(), 1),
    "product of matrices": lambda: raw.MatMul(a=matrix(), b=matrix(), transpose_b=True),
    "even steps": lambda: tf.linspace(0.0, 1.0, 5),
    "split": lambda: tf.split(matrix(), 3, axis=1)[2],
    "split in sizes": lambda: tf.split(matrix(), [1, 2], axis=1)[1],
    "unstack": lambda: tf.unstack(matrix(), axis=1)[1],
    "what one list has alone": lambda: tf.setdiff1d([1, 2, 3, 4], [2, 4])[1],
    "parts": lambda: tf.dynamic_partition([10, 20, 30], [1, 0, 1], 2)[1],
    "distinct": lambda: tf.unique([5, 3, 5, 4])[1],
    "the largest few": lambda: tf.nn.top_k(tf.constant([1.0, 3.0, 3.0, 2.0]), 3)[1],
    "axes of a gradient": lambda: raw.BroadcastGradientArgs(s0=tf.constant([2, 1]), s1=tf.constant([3]))[0],
    "powers": lambda: raw.Pow(x=tf.constant([2, 3]), y=tf.constant([3, 2])),
    "inverse permutation": lambda: tf.math.invert_permutation([2, 0, 1]),
    "sparse reshape": lambda: raw.SparseReshape(
        input_indices=tf.constant([[0, 1], [1, 2]], tf.int64),
        input_shape=tf.constant([2, 3], tf.int64),
        new_shape=tf.constant([3, -1], tf.int64),
    )[0],
}


def test_what_is_evaluated_is_what_a_run_gives():
    tensors = {case: build() for case, build in EVALUATED.items()}
    with tf.Session() as sess:
        computed = sess.run(tensors)
    for case, tensor in tensors.items():
        found = static_values.known_value(tensor)
        assert found is not None, case
        assert found.dtype == computed[case].dtype, case
        np.testing.assert_array_equal(found, computed[case], case)


def test_every_op_type_of_the_tables_is_one():
    from everflow.framework import op_defs

    unknown = [name for name in (*EVALUATORS, *SPLITTERS) if op_defs.find(name) is None]
    assert not unknown
    assert not [name for name in EVALUATORS if len(op_defs.get(name).outputs) != 1]


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.constant([1]) // tf.constant([0]),
        lambda: tf.constant([1]) % tf.constant([0]),
        lambda: raw.Div(x=tf.constant([1]), y=tf.constant([0])),
        lambda: tf.gather(tf.constant([1, 2]), tf.constant([5])),
        lambda: tf.fill([1 << 17], 0) + 1,
        lambda: tf.random_uniform([2]),
        lambda: tf.placeholder(tf.int32, []) + 1,
    ],
)
def test_what_is_left_to_the_run(build):
    """It may fail there, be too large, or come out differently each time."""
    assert static_values.known_value(build()) is None


def test_a_deep_graph_is_given_up():
    x = tf.constant(1)
    for _ in range(100):
        x = x + 1
    assert static_values.known_value(x) is None
    assert static_values.known_value("no tensor") is None


def test_what_is_a_tensor():
    yes = [
        tf.constant(1),
        tf.Variable(1.0),
        tf.SparseTensor([[0]], [1], [1]),
        tf.IndexedSlices(tf.ones([1]), tf.ones([1])),
    ]
    no = [1, np.array(1), tf.TensorShape([])]
    assert [tf.is_tensor(x) for x in yes + no] == [True] * len(yes) + [False] * len(no)


def test_rows_of_ranges_counts_and_segments():
    made = raw.RaggedRange(starts=tf.constant([0, 5]), limits=tf.constant([3, 5]), deltas=tf.constant(1))
    assert [static_values.known_value(t).tolist() for t in made] == [[0, 3, 3], [0, 1, 2]]
    broken = raw.RaggedRange(starts=tf.constant([0]), limits=tf.constant([3]), deltas=tf.constant(0))
    assert [static_values.known_value(t) for t in broken] == [None, None]
    known = {
        tf.math.bincount(tf.constant([1, 1, 3])): [0, 2, 0, 1],
        tf.math.bincount(tf.constant([1, 1, 3]), maxlength=2): [0, 2],
        tf.math.unsorted_segment_sum(tf.constant([1, 2, 3]), tf.constant([1, -1, 1]), 2): [0, 4],
        tf.reduce_max(tf.constant([], tf.int32), keepdims=True): [-(2**31)],
    }
    for tensor, value in known.items():
        assert static_values.known_value(tensor).tolist() == value


def test_what_a_body_captures_is_a_known_shape_to_functions_that_set_it():
    seen = []

    def body():
        seen.extend([tf.zeros(sizes).shape, tf.reshape(tf.range(6), sizes).shape, tf.random_normal(sizes).shape])
        seen.append(tf.random_gamma(sizes, [1.0, 2.0]).shape)
        return tf.constant(1)

    sizes = tf.stack([2, tf.placeholder(tf.int32, [])])
    tf.function(body, autograph=False).get_concrete_function()
    assert [s.as_list() for s in seen] == [[2, None]] * 3 + [[2, None, 2]]
    with pytest.raises(ValueError):
        tf.fill([-2], 1)


def test_small_eager_values_are_constants_to_a_body():
    with eager_mode():
        found = []
        small, large = tf.constant([2, 3]), tf.range(129)
        tf.function(lambda: found.extend(map(constant_value, (small + 0, large + 0))) or 1.0, autograph=False)()
        tf.function(lambda: found.append(tf.broadcast_to(1.0, small).shape.as_list()) or 1.0, autograph=False)()
        assert found[0] is None and found[1] is None and found[2] == [2, 3]


def test_a_reshape_of_nothing_has_no_elements_whatever_is_open():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 0, 3])
        assert tf.reshape(x, [-1]).shape.as_list() == [0]
        assert tf.reshape(x, [2, -1]).shape.as_list() == [2, 0]


def test_a_rolled_permutation_is_known():
    x = tf.placeholder(tf.float32, [2, 3, 4])
    assert tf.transpose(x, tf.roll(tf.range(3), -1, 0)).shape.as_list() == [3, 4, 2]


def test_a_split_whose_rest_is_meant_by_minus_one_is_known():
    x = tf.zeros([2, 5])
    batch, rest = tf.split(tf.shape(x), [-1, 0])
    assert tf.reshape(x, tf.concat([batch, [-1]], 0)).shape.as_list() == [2, 5, 1]
    assert tf.reshape(x, tf.concat([rest, [-1]], 0)).shape.as_list() == [10]


def test_the_shape_of_constants_is_known_through_any_ops():
    image = tf.image.resize_bilinear(tf.ones([2, 4, 4, 3]), [8, 8])
    channels = tf.shape_n([image, image])[0][-1]
    assert tf.tile(tf.ones([5, 1]), [1, channels]).shape.as_list() == [5, 3]
    fed = tf.image.resize_bilinear(tf.placeholder(tf.float32, [2, 4, 4, 3]), [8, 8])
    assert tf.tile(tf.ones([5, 1]), [1, tf.shape_n([fed, fed])[0][-1]]).shape.as_list() == [5, None]
