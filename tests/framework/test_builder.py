"""From an op type's definition and a caller's arguments to a node: what is inferred, converted and refused."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.framework import builder, op_defs
from everflow.framework import raw_ops as raw

pytestmark = pytest.mark.usefixtures("own_graph")

REFUSED = {
    "an attribute it doesn't have": (lambda: raw.AddN(inputs=[1], no_such=3), TypeError, "no_such"),
    "an input that is missing": (lambda: builder.apply_op("AddV2", x=1), TypeError, "input y of op 'AddV2'"),
    "an attribute that is missing": (lambda: builder.apply_op("Cast", x=1), TypeError, "attr DstT of op 'Cast'"),
    "an op type that is not there": (lambda: builder.apply_op("NoSuch"), tf.errors.NotFoundError, "NoSuch"),
    "one value for a list": (lambda: raw.AddN(inputs=3), TypeError, "Expected list for 'inputs'"),
    "an empty list": (lambda: raw.AddN(inputs=[]), ValueError, "at least 1"),
    "an empty list of types": (lambda: raw.IdentityN(input=[]), ValueError, "at least 1"),
    "too short a list": (lambda: raw.Concat(concat_dim=0, values=[[1]]), ValueError, "at least 2"),
    "a list of several types": (
        lambda: raw.AddN(inputs=[tf.constant(1), tf.constant(2.0)]),
        TypeError,
        r"types \[int32, float32\]",
    ),
    "a list that no type fits": (lambda: raw.AddN(inputs=[1, 2.5]), TypeError, "don't all match"),
    "what is no tensor in a list": (lambda: raw.AddN(inputs=[1, object()]), TypeError, "NOT CONVERTIBLE"),
    "a type that is not allowed": (lambda: raw.Floor(x=1), TypeError, "must be one of: bfloat16, float16"),
    "a second type": (lambda: raw.AddV2(x=1, y=tf.constant(2.5)), TypeError, "not int32 as its argument 'x'"),
    "a value the first type can't hold": (lambda: raw.AddV2(x=1, y=2.5), TypeError, "Expected int32"),
    "a tensor of a fixed other type": (
        lambda: raw.Reshape(tensor=[1], shape=tf.constant([1.0])),
        TypeError,
        "must be one of: int32, int64",
    ),
    "a value that can't be changed": (lambda: raw.Assign(ref=tf.constant(1), value=2), TypeError, "mutable"),
    "text that is not among the choices": (
        lambda: raw.MaxPool(input=[[[[1.0]]]], ksize=[1] * 4, strides=[1] * 4, padding="HALF"),
        ValueError,
        '"SAME", "VALID"',
    ),
    "too small a number": (lambda: raw.Split(split_dim=0, value=[1, 2], num_split=0), ValueError, "at least 1"),
    "another number than there are": (
        lambda: builder.apply_op("AddN", inputs=[1, 2], N=3),
        ValueError,
        "has 2 tensors, but 'N' has 3",
    ),
    "other types than there are": (
        lambda: builder.apply_op("IdentityN", input=[tf.constant(1)], T=[tf.float32, tf.int32]),
        TypeError,
        "has the types",
    ),
}


LEFT_BEHIND = {
    "inputs of an op with a wrong attribute": (
        lambda: raw.MaxPool(input=[[[[1.0]]]], ksize=[1] * 4, strides=[1] * 4, padding="HALF"),
        ["MaxPool/input"],
    ),
    "inputs before one that should be a list": (lambda: raw.Print(input=1, data=2), ["Print/input"]),
    "tensors of a list that don't match": (lambda: raw.AddN(inputs=[1, 2.5]), ["AddN/inputs_0", "AddN/inputs_1"]),
    "nothing where an attribute is no number": (lambda: raw.Split(split_dim=0, value=[1], num_split="a"), []),
}


@pytest.mark.parametrize("case", LEFT_BEHIND)
def test_what_a_refused_call_leaves_in_the_graph(case):
    build, names = LEFT_BEHIND[case]
    with pytest.raises((TypeError, ValueError)):
        build()
    assert [op.name for op in tf.get_default_graph().get_operations()] == names


def test_control_dependencies_are_looked_up_at_once():
    with pytest.raises(TypeError):
        tf.control_dependencies([1])


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    build, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        build()


def test_types_follow_from_the_first_tensor_and_from_defaults():
    assert raw.AddN(inputs=[1, tf.constant(2.0)]).dtype == tf.float32  # a tensor decides, wherever it stands
    assert raw.AddV2(x=tf.constant(1, tf.int64), y=2).dtype == tf.int64
    assert [t.dtype for t in raw.IdentityN(input=[1, 2.0, "a"])] == [tf.int32, tf.float32, tf.string]
    assert raw.Fill(dims=[2], value=1.0).op.get_attr("index_type") == tf.int32
    assert raw.Fill(dims=tf.constant([2], tf.int64), value=1.0).op.get_attr("index_type") == tf.int64


def test_none_for_an_attribute_is_its_default():
    assert raw.MatMul(a=[[1.0]], b=[[1.0]], transpose_a=None).op.get_attr("transpose_a") is False


def test_defaults_that_are_lists_are_not_shared():
    first, second = (raw.Squeeze(input=[[1]]).op for _ in range(2))
    first.attrs["squeeze_dims"].append(7)
    assert second.attrs["squeeze_dims"] == [] == op_defs.get("Squeeze").attr_by_name["squeeze_dims"].default


def test_constants_are_named_after_the_arguments_they_are_for():
    raw.AddV2(x=1, y=2, name="sum")
    raw.AddN(inputs=[1, 2], name="all")
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names == ["sum/x", "sum/y", "sum", "all/inputs_0", "all/inputs_1", "all"]


def test_a_refused_op_leaves_the_scope_as_it_was():
    with pytest.raises(TypeError):
        raw.AddV2(x=1, y=tf.constant(2.5), name="refused")
    assert tf.constant(1, name="a").op.name == "a"


def test_an_op_goes_to_the_graph_of_its_inputs():
    with tf.Graph().as_default() as other:
        x = tf.constant(1)
    assert raw.Neg(x=x).graph is other


def test_what_changes_a_variable_is_where_the_variable_is():
    with tf.device("/cpu:1"):
        ref = raw.VariableV2(shape=[], dtype=tf.float32, name="v")
    op = raw.Assign(ref=ref, value=1.0).op
    assert op.device == "/device:CPU:1" and op.colocation_groups() == [b"loc:@v"]
    assert op.outputs[0].dtype == tf.float32._as_ref


def test_what_an_op_returns():
    assert isinstance(raw.NoOp(), tf.Operation)
    assert isinstance(raw.Neg(x=1), tf.Tensor)
    assert type(raw.Split(split_dim=0, value=[1, 2], num_split=1)) is list
    unique = raw.Unique(x=[1])
    assert unique._fields == ("y", "idx") and type(unique).__name__ == "Unique"
    parsed = raw.DynamicPartition(data=[1, 2], partitions=[0, 1], num_partitions=2)
    assert [p.dtype for p in parsed] == [tf.int32] * 2


def test_create_op_completes_attributes_from_tensors():
    graph = tf.get_default_graph()
    one, two = tf.constant([1]), tf.constant([2])
    joined = graph.create_op("ConcatV2", [one, two, tf.constant(0)], [tf.int32])
    assert (joined.get_attr("N"), joined.get_attr("T"), joined.get_attr("Tidx")) == (2, tf.int32, tf.int32)
    several = graph.create_op("IdentityN", [one, tf.constant(1.0)])
    assert several.get_attr("T") == [tf.int32, tf.float32]
    assert [t.dtype for t in several.outputs] == [tf.int32, tf.float32]
    marked = graph.create_op("Neg", [one], attrs={"_mine": tf.AttrValue(i=3)})
    assert marked.get_attr("_mine") == 3


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: raw.MirrorPad(tf.constant([1]), [[1, 1]], mode="x"), tf.errors.InvalidArgumentError),
        (lambda: raw.DepthToSpace(tf.zeros([1, 1, 1, 4]), block_size=1), tf.errors.InvalidArgumentError),
        (lambda: raw.AddN(inputs=[]), tf.errors.InvalidArgumentError),
        (lambda: raw.Shape(tf.constant(1), out_type=tf.float32), tf.errors.NotFoundError),
    ],
)
def test_executing_eagerly_wrong_attributes_are_errors_of_the_op(build, error):
    with eager_mode():
        with pytest.raises(error):
            build()
