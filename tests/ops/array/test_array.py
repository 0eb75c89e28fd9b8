"""Array functions: values against numpy in many types, and errors where inputs don't fit."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf

A = np.arange(24).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*tensors, feed=None):
    with tf.Session() as session:
        values = session.run(list(tensors), feed)
    return values[0] if len(values) == 1 else values


def fed(value):
    """A tensor about which nothing is known before it runs, so that kernels do the checking."""
    return tf.placeholder_with_default(value, None)


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "reshape": (lambda x: tf.reshape(x, [4, -1]), lambda a: a.reshape(4, -1)),
    "expand_dims": (lambda x: tf.expand_dims(x, -2), lambda a: a[:, :, None]),
    "squeeze": (lambda x: tf.squeeze(x[:1], 0), lambda a: a[0]),
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), lambda a: a.transpose(2, 0, 1)),
    "matrix_transpose": (tf.matrix_transpose, lambda a: a.swapaxes(1, 2)),
    "concat": (lambda x: tf.concat([x, x[:, :1]], 1), lambda a: np.concatenate([a, a[:, :1]], 1)),
    "stack": (lambda x: tf.stack([x, x], -1), lambda a: np.stack([a, a], -1)),
    "unstack": (lambda x: tf.unstack(x, axis=1)[2], lambda a: a[:, 2]),
    "split": (lambda x: tf.split(x, [1, -1], 2)[1], lambda a: a[:, :, 1:]),
    "slice": (lambda x: tf.slice(x, [0, 1, 0], [-1, 2, 3]), lambda a: a[:, 1:3, :3]),
    "getitem": (lambda x: x[1, ::-2, None, ..., 1:], lambda a: a[1, ::-2, None, ..., 1:]),
    "gather": (lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=1), lambda a: np.take(a, [[2, 0], [1, 1]], 1)),
    "gather_nd": (lambda x: tf.gather_nd(x, [[1, 2], [0, 0]]), lambda a: a[[1, 0], [2, 0]]),
    "batch_gather": (
        lambda x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        lambda a: np.stack([a[0][[2, 0]], a[1][[1, 1]]]),
    ),
    "tile": (lambda x: tf.tile(x, [1, 2, 1]), lambda a: np.tile(a, [1, 2, 1])),
    "reverse": (lambda x: tf.reverse(x, [0, -1]), lambda a: a[::-1, :, ::-1]),
    "roll": (lambda x: tf.roll(x, [1, -1], [1, 2]), lambda a: np.roll(a, [1, -1], [1, 2])),
    "reflect": (
        lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 3]], "REFLECT"),
        lambda a: np.pad(a, [[0, 1], [2, 0], [1, 3]], "reflect"),
    ),
    "symmetric": (
        lambda x: tf.pad(x, [[0, 2], [3, 0], [1, 4]], "SYMMETRIC"),
        lambda a: np.pad(a, [[0, 2], [3, 0], [1, 4]], "symmetric"),
    ),
    "pad value": (
        lambda x: tf.pad(x, [[1, 0], [0, 0], [0, 2]], constant_values=x[0, 0, 1]),
        lambda a: np.concatenate(
            [np.full((1, 3, 6), a[0, 0, 1], a.dtype), np.concatenate([a, np.full((2, 3, 2), a[0, 0, 1], a.dtype)], 2)]
        ),
    ),
    "broadcast_to": (lambda x: tf.broadcast_to(x[:, :1], [2, 3, 4]), lambda a: np.broadcast_to(a[:, :1], a.shape)),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, False, True], axis=1), lambda a: a[:, [0, 2]]),
    "where": (lambda x: tf.where([False, True], x, x[::-1]), lambda a: np.stack([a[1], a[1]])),
    "where_v2": (
        lambda x: tf.where_v2([[[True]], [[False]]], x, x[0, 0, 0]),
        lambda a: np.stack([a[0], np.full_like(a[1], a[0, 0, 0])]),
    ),
    "fill": (lambda x: tf.fill([2, 2], x[0, 0, 1]), lambda a: np.full((2, 2), a[0, 0, 1], a.dtype)),
    "dynamic_stitch": (lambda x: tf.dynamic_stitch([[1, 0], [2, 1]], [x, x]), lambda a: np.stack([a[1], a[1], a[0]])),
    "dynamic_partition": (lambda x: tf.dynamic_partition(x, [1, 0], 2)[0], lambda a: a[1:]),
    "scatter_update": (lambda x: tf.tensor_scatter_update(x, [[0], [0]], [x[1], x[0]]), lambda a: a),
    "one_hot": (
        lambda x: tf.one_hot([1, -1], 2, x[0, 0, 1], x[0, 0, 0]),
        lambda a: np.stack([a[0, 0, :2], a[0, 0, [0, 0]]]),
    ),
    "unique": (lambda x: tf.unique(tf.concat([x[0, 0], x[0, 0]], 0))[0], lambda a: a[0, 0]),
    "repeat": (lambda x: tf.repeat(x, [0, 2, 1], axis=1), lambda a: np.repeat(a, [0, 2, 1], 1)),
    "space and batch": (
        lambda x: tf.batch_to_space_nd(tf.space_to_batch_nd(x, [3], [[0, 0]]), [3], [[0, 0]]),
        lambda a: a,
    ),
}
DTYPES = [
    "float16",
    "float32",
    "int8",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "object",
    "bfloat16",
]


def _typed(name):
    if name == "object":
        return np.array([b"s%d" % i for i in range(24)], object).reshape(A.shape)
    return A.astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    function, expected = SAME_AS_NUMPY[name]
    made = {}
    for dtype in DTYPES:
        try:
            made[dtype] = function(tf.constant(_typed(dtype)))
        except TypeError as e:
            assert "must be one of" in str(e)  # the op is not defined for this type
    assert len(made) >= 6
    for dtype, value in zip(made, run(*made.values())):
        wanted = expected(_typed(dtype))
        assert value.dtype == wanted.dtype and value.shape == wanted.shape, dtype
        assert value.tolist() == wanted.tolist(), dtype


EMPTY = {
    "concat": (lambda: tf.concat([tf.zeros([0, 3]), tf.ones([2, 3])], 0), (2, 3)),
    "gather": (lambda: tf.gather(tf.ones([3, 2]), tf.zeros([0], tf.int32)), (0, 2)),
    "tile": (lambda: tf.tile(tf.ones([2, 3]), [0, 1]), (0, 3)),
    "pad": (lambda: tf.pad(tf.zeros([0, 2]), [[1, 0], [0, 0]]), (1, 2)),
    "slice": (lambda: tf.ones([3, 2])[1:1], (0, 2)),
    "where": (lambda: tf.where(tf.zeros([0, 2], tf.bool)), (0, 2)),
    "one_hot": (lambda: tf.one_hot([0, 1], 0), (2, 0)),
    "stitch": (lambda: tf.dynamic_stitch([tf.zeros([0], tf.int32)], [tf.zeros([0, 2])]), (0, 2)),
    "scatter": (lambda: tf.scatter_nd(tf.zeros([0, 1], tf.int32), tf.zeros([0, 2]), [3, 2]), (3, 2)),
    "diag": (lambda: tf.matrix_diag(tf.zeros([2, 0])), (2, 0, 0)),
    "mask": (lambda: tf.boolean_mask(tf.ones([3, 2]), [False] * 3), (0, 2)),
    "gather_nd of nothing": (lambda: tf.gather_nd(tf.ones([3, 2]), tf.zeros([4, 0], tf.int32)), (4, 3, 2)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tensors(name):
    build, shape = EMPTY[name]
    assert run(build()).shape == shape


B = [[1, 2, 3], [4, 5, 6]]
RUN_TIME_ERRORS = {
    "Input to reshape is a tensor with 6 values, but the requested shape has 4": lambda: tf.reshape(fed(B), [4]),
    "Only one input size may be -1": lambda: tf.reshape(fed(B), fed([-1, -1])),
    "requires a multiple of 4": lambda: tf.reshape(fed(B), fed([-1, 4])),
    "Can not squeeze": lambda: tf.squeeze(fed(B), 0),
    "Dimensions of inputs should match": lambda: tf.concat([fed(B), fed([[1]])], 0),
    "Ranks of all input tensors should match": lambda: tf.concat([fed(B), fed([1])], 0),
    "Shapes of all inputs must match": lambda: tf.stack([fed(B), fed([1])]),
    "should evenly divide": lambda: tf.split(fed(B), 2, 1),
    r"Expected size\[1\] in \[0, 1\]": lambda: tf.slice(fed(B), [0, 2], [1, 4]),
    "slice index 5 of dimension 0 out of bounds": lambda: fed(B)[5],
    r"indices\[1\] = 2 is not in \[0, 2\)": lambda: tf.gather(fed(B), [0, 2]),
    r"indices\[0\] = -1 is not in \[0, 2\)": lambda: tf.gather(fed(B), [-1]),
    r"does not index into param shape \[2,3\]": lambda: tf.gather_nd(fed(B), [[2, 0]]),
    r"does not index into shape \[3\]": lambda: tf.scatter_nd([[5]], [1], [3]),
    "must be less than the dimension size": lambda: tf.pad(fed(B), [[2, 0], [0, 0]], "REFLECT"),
    "Paddings must be non-negative": lambda: tf.pad(fed(B), fed([[-1, 1], [0, 0]])),
    r"Expected multiples\[0\] >= 0": lambda: tf.tile(fed(B), fed([-1, 1])),
    "is missing from": lambda: tf.transpose(fed(B), fed([0, 0])),
    "specified more than once": lambda: tf.reverse(fed(B), fed([0, 0])),
    r"seq_lens\(0\) > input": lambda: tf.reverse_sequence(fed(B), [5, 1], seq_axis=1),
    "must have the same size": lambda: tf.where(fed(True), fed(B), fed([1])),
    r"partitions\[1\] = 5 is not in \[0, 2\)": lambda: tf.dynamic_partition(fed([1, 2]), [0, 5], 2)[0],
    "unique expects a 1D vector": lambda: tf.unique(fed(B))[0],
    "is not divisible by block_shape": lambda: tf.space_to_batch_nd(fed([[[1], [2], [3]]]), [2], [[0, 0]]),
    "Dimension -1 must be >= 0": lambda: tf.fill(fed([-1]), 1),
    "Incompatible shapes": lambda: tf.broadcast_to(fed(B), fed([2, 2])),
    "is not compatible with expected shape": lambda: tf.ensure_shape(fed(B), [None, 4]),
    "is duplicated in the input": lambda: tf.invert_permutation(fed([0, 0])),
    "do not match": lambda: tf.diag_part(fed(B)),
    "num_lower must be negative or less or equal": lambda: tf.matrix_band_part(
        fed(B), fed(np.int64(5)), fed(np.int64(0))
    ),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


BUILD_ERRORS = {
    "stack axis": lambda: tf.stack([[1], [2]], axis=3),
    "unstack unknown": lambda: tf.unstack(tf.placeholder(tf.float32, [None])),
    "concat": lambda: tf.concat([tf.zeros([2, 3]), tf.zeros([3, 3])], 1),
    "reshape": lambda: tf.reshape(tf.zeros([6]), [4, -1]),
    "expand_dims": lambda: tf.expand_dims(tf.zeros([2]), 5),
    "expand_dims without axis": lambda: tf.expand_dims(tf.zeros([2])),
    "both names": lambda: tf.squeeze(tf.zeros([1]), 0, squeeze_dims=[0]),
    "squeeze": lambda: tf.squeeze(tf.zeros([2, 3]), 0),
    "gather of a scalar": lambda: tf.gather(3.0, 0),
    "split": lambda: tf.split(tf.zeros([3]), 2),
    "slice": lambda: tf.slice(tf.zeros([3]), [4], [-1]),
    "index": lambda: tf.zeros([3])[4],
    "too many indices": lambda: tf.zeros([3])[0, 0],
    "pad mode": lambda: tf.pad(tf.zeros([3]), [[1, 1]], "EDGE"),
    "where with one": lambda: tf.where([True], [1]),
    "scalar mask": lambda: tf.boolean_mask([1], True),
    "sort direction": lambda: tf.sort([1], direction="UP"),
    "meshgrid": lambda: tf.meshgrid([1], indexing="yx"),
    "fill": lambda: tf.fill([-1], 0),
    "transpose": lambda: tf.transpose(tf.zeros([2, 3]), [0, 1, 2]),
}


@pytest.mark.parametrize("name", BUILD_ERRORS)
def test_what_can_never_fit_raises_while_building(name):
    with pytest.raises(ValueError):
        BUILD_ERRORS[name]()


@pytest.mark.parametrize("index", [1.0, "a", np.array([0, 1])])
def test_indices_of_other_kinds_are_type_errors(index):
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.zeros([3])[index]


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


def test_slices_of_variables_can_be_assigned():
    v = tf.Variable([1, 2, 3, 4])
    change = v[1:3].assign([7, 8])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(change)
        assert session.run(v).tolist() == [1, 7, 8, 4]
    with pytest.raises(ValueError, match="only supported for variables"):
        tf.zeros([3])[1:].assign([1.0])


def test_diagonals_other_than_the_main_one():
    made = tf.matrix_diag([[1, 2, 3], [4, 5, 0]], k=(0, 1), padding_value=9)
    square = tf.constant(np.arange(9).reshape(3, 3))
    assert run(made).tolist() == [[4, 1, 9], [9, 5, 2], [9, 9, 0]]
    assert run(tf.matrix_diag_part(square, k=1)).tolist() == [1, 5]
    assert run(tf.matrix_set_diag(square, [0, 0], k=-1)).tolist() == [[0, 1, 2], [0, 4, 5], [6, 0, 8]]


def test_sorting_and_searching():
    values = run(
        tf.sort([3, 1, 2]),
        tf.argsort([[3.0, 1.0], [2.0, 5.0]], axis=0, direction="DESCENDING"),
        tf.searchsorted([1, 3, 3, 5], [3, 9], side="right"),
    )
    assert [v.tolist() for v in values] == [[1, 2, 3], [[0, 1], [1, 0]], [3, 4]]


def test_edit_distances():
    said = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [3, 2])
    meant = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "c", "d"], [3, 2])
    assert run(tf.edit_distance(said, meant)).tolist() == [1.0, 0.5, 0.0]
    assert run(tf.edit_distance(said, meant, normalize=False)).tolist() == [1.0, 1.0, 0.0]


def test_patches_of_images():
    image = tf.constant(np.arange(16.0).reshape(1, 4, 4, 1))
    patches = run(tf.extract_image_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))
    assert patches[0, 1, 0].tolist() == [8, 9, 12, 13]


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
