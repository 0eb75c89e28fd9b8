"""Names of `eager.backprop`, `eager.executor` and `util.module_wrapper`."""

import types

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

# isort: split
from tensorflow.python.eager import backprop, context, executor, graph_only_ops
from tensorflow.python.util.module_wrapper import TFModuleWrapper


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_products_with_derivatives():
    result, vjp = backprop.make_vjp(lambda x, y: x * y)(2.0, 3.0)
    assert result.numpy() == 6.0 and [g.numpy() for g in vjp()] == [3.0, 2.0]
    assert [g.numpy() for g in vjp(tf.constant(10.0))] == [30.0, 20.0]
    _, vjp = backprop.make_vjp(lambda x, y: x * y, ["y"])(2.0, 3.0)
    assert [g.numpy() for g in vjp()] == [2.0]
    with pytest.raises(ValueError, match="None"):
        backprop.make_vjp(lambda x: None)(1.0)


def test_an_op_that_is_told_to_tapes():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = x * x
        backprop._record_gradient("Mul", [x, x], ("T", tf.float32.as_datatype_enum), [y], None)
    assert tape.gradient(y, x).numpy() == 6.0


def test_attributes_of_ops():
    assert backprop.make_attr(backprop.op_attr_type("MatMul", "T"), 1) is tf.float32
    assert backprop.make_attr(backprop.op_attr_type("MatMul", "transpose_a"), True) is True


def test_sums_of_gradients():
    assert backprop._aggregate_grads([tf.constant(1.0), tf.constant(2.0)]).numpy() == 3.0
    slices = [tf.IndexedSlices(tf.ones([1, 2]), tf.constant([i]), tf.constant([3, 2])) for i in (0, 1)]
    assert backprop._aggregate_grads(slices).indices.numpy().tolist() == [0, 1]
    assert backprop.aggregate_indexed_slices_gradients([None]) is None
    assert backprop._num_elements(slices[0]) == 2
    with pytest.raises(ValueError, match="3"):
        backprop._num_elements(3)
    same = tf.constant(1.0)
    one, other = backprop._ensure_unique_tensor_objects([0, 1], [same, same])
    assert one is same and other is not same


def test_executors():
    made = executor.new_executor(enable_async=True)
    assert made.is_async() and not executor.new_executor(False).is_async()
    with context.executor_scope(made):
        assert (tf.constant(1) + 1).numpy() == 2
    made.wait()
    made.clear_error()
    assert made.handle() is made


def test_a_module_around_another():
    inner = types.ModuleType("inner")
    inner.a = 1
    apis = {"zed": ("tensorflow.python.ops.array_ops", "zeros"), "ops": ("", "tensorflow.python.ops.math_ops")}
    module = TFModuleWrapper(inner, "inner", public_apis=apis, deprecation=False)
    assert module.a == 1 and module.zed is tf.zeros and module.ops.add is tf.add and dir(module) == ["a", "ops", "zed"]
    module.b = 2
    assert inner.b == 2 and "b" in module.__all__
    del module.b
    assert not hasattr(inner, "b") and not hasattr(module, "b")
    with pytest.raises(AttributeError, match="'other'"):
        module.other  # noqa: B018


def test_kinds_of_attributes():
    assert backprop.op_attr_type("Conv2D", "strides") == [1]
    assert str(backprop.make_attr([5], [[1], [2, 3]])[1]) == str(tf.TensorShape([2, 3]).as_proto())
    with pytest.raises(tf.errors.InvalidArgumentError):
        backprop.op_attr_type("MatMul", "nothing")


def test_nodes_of_graphs():
    with tf.Graph().as_default() as graph:
        graph_only_ops.graph_zeros_like(graph_only_ops.graph_placeholder(tf.float32, [2]))
    assert [(op.type, op.name) for op in graph.get_operations()] == [
        ("Placeholder", "placeholder"),
        ("ZerosLike", "zeros_like"),
    ]


def test_eager_mode_keeps_the_default_graph_and_its_collections():
    with tf.Graph().as_default() as graph:
        tf.add_to_collection("kept", 1)
        with context.eager_mode():
            assert tf.get_default_graph() is graph
            tf.add_to_collection("kept", 2)
        assert tf.get_collection("kept") == [1, 2]


def test_layers_are_counted_by_default_graph_when_executing_eagerly():
    names = []
    for _ in range(2):
        with tf.Graph().as_default():
            with context.eager_mode():
                names.append(tf.keras.layers.Dense(1).name)
            names.append(tf.keras.layers.Dense(1).name)
    assert names == ["dense", "dense_1"] * 2
