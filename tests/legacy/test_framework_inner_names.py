"""Names inside `python.framework`, `python.eager` and `pywrap_tensorflow` that tests of TensorFlow's take."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode
from everflow.protos import tensor_pb2

# isort: split
from tensorflow.python import pywrap_tensorflow
from tensorflow.python.eager import context, core, monitoring, remote
from tensorflow.python.framework import (
    common_shapes,
    config,
    constant_op,
    device,
    device_spec,
    dtypes,
    errors_impl,
    ops,
    tensor_util,
)
from tensorflow.python.platform import googletest


def test_operations_from_node_defs():
    graph = tf.Graph()
    with graph.as_default():
        before = tf.constant(1.0)
    node = ops._NodeDef("Identity", "twin", device="/device:CPU:0")
    made = ops.Operation(node, graph, [before], [tf.float32], control_inputs=[before.op])
    assert (made.name, made.type, made.device) == ("twin", "Identity", "/device:CPU:0")
    assert (
        isinstance(made, ops.Operation)
        and isinstance(before.op, ops.Operation)
        and issubclass(tf.Operation, ops.Operation)
    )
    assert not isinstance(before, ops.Operation) and made.control_inputs == []
    for wrong in [(3, graph), (node, "graph"), (node, graph, [3]), (node, graph, [before], None, [3])]:
        with pytest.raises(TypeError, match="needs to be|must be"):
            ops.Operation(*wrong)
    with pytest.raises(ValueError, match="valid node name"):
        ops.Operation(ops._NodeDef("NoOp", "a b"), graph)
    with pytest.raises(ValueError, match="expected"):
        graph.create_op("Assert", [before, before], [])
    with pytest.raises(tf.errors.OutOfRangeError, match="no input 5"):
        made._update_input(5, before)
    assert graph._get_op_def("Identity").name == "Identity" and graph._nodes_by_id[made._id] is made


def test_values_as_tensors_or_composites():
    sparse = tf.SparseTensor([[0]], [1], [1])
    number, same, none = ops.convert_n_to_tensor_or_composite([1, sparse, None])
    assert number.dtype == tf.int32 and same is sparse and none is None
    with pytest.raises(TypeError, match="sequence"):
        ops.convert_n_to_tensor_or_composite(3)
    assert ops.numpy_text([[1], [2]]).startswith("\n[[1]") and ops.tensor_id(number) != ops.tensor_id(sparse.values)
    assert constant_op.is_constant(number) and isinstance(ops.NullContextmanager(3), ops.NullContextmanager)
    with tf.Graph().as_default():
        assert len(ops._default_graph_stack.stack) and not ops._default_graph_stack.is_cleared()


def test_devices_that_change_and_that_dont():
    spec = device_spec.DeviceSpecV2(job="w", device_type="gpu", device_index=1)
    with pytest.raises(AttributeError):
        spec.job = "x"
    with pytest.raises(AttributeError):
        device_spec.DeviceSpecV1().other = 1
    assert spec.replace(job="x").to_string() == "/job:x/device:GPU:1" and spec.parse_from_string("/job:b").job == "b"
    assert (
        isinstance(device_spec.DeviceSpecV1(), device_spec.DeviceSpecV2)
        and device_spec.DeviceSpecV1(task="1").task == 1
    )
    merge = device.MergeDevice("/job:a")
    with tf.Graph().as_default(), tf.device(merge), tf.device("/device:CPU:0"):
        assert tf.no_op().device == "/job:a/device:CPU:0"
    assert not merge.is_null_merge and device.MergeDevice(None).is_null_merge and "/job:a" in repr(merge)


def test_tables_of_types_and_16_bits():
    assert len(dtypes.TF_VALUE_DTYPES) == 23 and dtypes._STRING_TO_TF["float32"] is tf.float32
    assert tensor_util.ExtractBitsFromFloat16(1.5) == 15872 and tensor_util.ExtractBitsFromBFloat16(1.5) == 16320
    message = tensor_pb2.TensorProto()
    tensor_util.SlowAppendFloat16ArrayToTensorProto(message, [1.5, 2.0])
    assert list(message.half_val) == [15872, 16384]
    assert pywrap_tensorflow.TF_FLOAT == 1 and pywrap_tensorflow.TF_NOT_FOUND == 5 and pywrap_tensorflow.TF_OK == 0


def test_shapes_by_functions():
    x = tf.placeholder(tf.float32, [2, None])
    assert common_shapes.rank(x) == 2 and not common_shapes.has_fully_defined_shape(x)
    twin = tf.identity(x).op
    assert common_shapes.unchanged_shape(twin)[0].as_list() == [2, None] and common_shapes.scalar_shape(twin)[0] == []
    with pytest.raises(ValueError):
        common_shapes.unchanged_shape_with_rank(3)(twin)
    [product] = common_shapes.matmul_shape(tf.matmul(x, tf.zeros([3, 4])).op)
    assert product.as_list() == [2, 4]


def test_the_context():
    with eager_mode():
        assert context.default_execution_mode == context.EAGER_MODE
        with context.function_executor_type("SINGLE_THREADED_EXECUTOR"):
            assert context.context().function_call_options.executor_type == "SINGLE_THREADED_EXECUTOR"
        with context.mirroring_policy(context.MIRRORING_ALL):
            assert context.context().mirroring_policy == context.MIRRORING_ALL
        assert not context.context().executor.is_async()
        number = constant_op.convert_to_eager_tensor(3, context.context(), tf.float32)
        assert (number.numpy(), number._num_elements(), number._datatype_enum(), number._rank()) == (3.0, 1, 1, 0)
    with pytest.raises(ValueError, match="execution_mode"):
        context.Context(execution_mode=34)
    with pytest.raises(ValueError, match="ConfigProto"):
        context.FunctionCallOptions(config_proto=3)
    assert isinstance(core._status_to_exception(5, "gone"), tf.errors.NotFoundError)
    assert str(core._NotOkStatusException("no", 1)) == "CancelledError: no"
    with pytest.raises(ValueError, match="two labels"):
        monitoring.Counter("everflow/three", "", "a", "b", "c")
    assert remote.connect_to_cluster is tf.config.experimental_connect_to_cluster


@pytest.mark.parametrize(
    "value,dtype,kind,message",
    [
        (3.5, tf.int32, TypeError, "Cannot convert 3.5 to EagerTensor of dtype int32"),
        ("a", tf.float32, TypeError, "EagerTensor of dtype float:"),
        ([[1], [2, 3]], None, ValueError, "non-rectangular Python sequence"),
        ([1, None], None, ValueError, "unsupported type"),
        ({}, None, ValueError, "unsupported type"),
        (1 << 70, None, ValueError, "out-of-range integer"),
        ([1, "a"], None, ValueError, "mixed types"),
    ],
)
def test_what_is_no_tensor(value, dtype, kind, message):
    with eager_mode(), pytest.raises(kind, match=message):
        tf.constant(value, dtype)


def test_ranges_when_executing_eagerly():
    with eager_mode():
        assert tf.constant(range(3)).numpy().tolist() == [0, 1, 2]


def test_what_googletest_has_of_absltest():
    assert googletest.GetTempDir() == tf.test.get_temp_dir() and not googletest.StatefulSessionAvailable()
    assert all(
        hasattr(googletest, name) for name in ("skipIf", "skipUnless", "expectedFailure", "SkipTest", "TestLoader")
    )


def test_exceptions_by_code():
    found, unknown = (errors_impl._make_specific_exception(None, None, "words", code) for code in (5, 999))
    assert isinstance(found, tf.errors.NotFoundError) and isinstance(unknown, tf.errors.UnknownError)
    assert (found.error_code, unknown.error_code, unknown.message) == (5, 999, "words")
    assert config.get_optimizer_jit() is False
