"""Names of TensorFlow's own modules of framework and ops that mean more than tf's: what of 2 is there, functions as
graphs, descriptions of op types, and branches and loops as functions.
"""

import collections
import os
import pickle
import sys

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python import tf2
from tensorflow.python.eager import context
from tensorflow.python.framework import (
    c_api_util,
    common_shapes,
    constant_op,
    device,
    function_def_to_graph,
    graph_to_function_def,
    ops,
    tensor_spec,
    tensor_util,
)
from tensorflow.python.ops import (
    array_ops,
    boosted_trees_ops,
    cond_v2,
    control_flow_ops,
    control_flow_util,
    init_ops_v2,
    nn_ops,
    parsing_ops,
    template,
    variables,
    while_v2,
)


@pytest.mark.usefixtures("own_graph")
def test_names_that_are_of_two_and_their_older_forms():
    with pytest.raises(TypeError):
        constant_op.constant([1, 2, 3], shape=[5])
    assert constant_op.constant_v1([1, 2, 3], shape=[5]).shape.as_list() == [5]
    assert type(variables.Variable(1.0)).__name__ == "ResourceVariable"
    assert type(variables.VariableV1(1.0)).__name__ == "RefVariable"
    assert nn_ops.avg_pool2d(input=tf.ones([1, 4, 4, 1]), ksize=2, strides=2, padding="SAME").op.name == "AvgPool2D"
    assert parsing_ops.decode_raw(["ab", "abcd"], tf.uint8, fixed_length=4).shape.as_list() == [2, 4]
    assert init_ops_v2.zeros is init_ops_v2.Zeros and init_ops_v2.random_normal().stddev == 0.05
    assert array_ops.gather_v2(tf.ones([2, 3]), [0], None, 1).shape.as_list() == [2, 1]
    assert array_ops.pad_v2(tensor=tf.ones([2]), paddings=[[1, 1]], constant_values=3.0).shape.as_list() == [4]


@pytest.mark.parametrize(
    ("value", "shape", "error"),
    [
        ([1, 2, 3], [5], TypeError),
        ([1, 2, 3], [2], TypeError),
        ([], [2], TypeError),
        ([1.0], [2, 2], tf.errors.InvalidArgumentError),
        (1.0, [None, 2], ValueError),
    ],
)
def test_constants_that_do_not_fill_their_shape_eagerly(value, shape, error):
    with context.eager_mode():
        with pytest.raises(error):
            tf.constant(value, shape=shape)
        np.testing.assert_array_equal(tf.constant(3, shape=[2]).numpy(), [3, 3])
        np.testing.assert_array_equal(tf.constant([1, 2], shape=[2, 1]).numpy(), [[1], [2]])


def test_the_mark_of_two_and_the_environment(monkeypatch):
    monkeypatch.setattr(tf2, "_force_enable", None)
    monkeypatch.setenv("TF2_BEHAVIOR", "1")
    assert tf2.enabled()
    tf2.disable()
    assert not tf2.enabled()
    tf2._force_enable = None
    os.environ["TF2_BEHAVIOR"] = "0"
    assert not tf2.enabled()
    tf2.enable()
    assert tf2.enabled()


def test_a_graph_becomes_a_function_and_again_a_graph():
    with tf.Graph().as_default() as graph:
        x, y = (tf.placeholder(tf.float32, name=name) for name in "xy")
        total = tf.add(x, y, name="sum")
        definition = graph_to_function_def.graph_to_function_def(graph, [total.op], [x, y], [total])
    definition.signature.name = "adder"
    drawn = function_def_to_graph.function_def_to_graph(definition, [[5], None])
    assert drawn.name == "adder" and [t.name for t in drawn.outputs] == ["sum:0"]
    assert drawn.inputs[0].shape.as_list() == [5] and drawn.inputs[1].shape.rank is None
    graph_def, names = function_def_to_graph.function_def_to_graph_def(definition)
    assert [node.name for node in graph_def.node] == ["x", "y", "sum"]
    assert names == {"x": "x:0", "y": "y:0", "sum:z:0": "sum:0", "^x": "^x", "^y": "^y", "^sum": "^sum"}
    with pytest.raises(ValueError):
        function_def_to_graph.function_def_to_graph(definition, [[5]])


def test_descriptions_of_op_types_and_changes_of_them():
    shown = c_api_util.ApiDefMap()
    assert "MatMul" in shown.op_names()
    shown.put_api_def('op { graph_op_name: "Add" summary: "mine" in_arg { name: "x" description: "first" } }')
    add = shown.get_api_def("Add")
    assert add.summary == "mine" and add.in_arg[0].description == "first" and add.in_arg[0].rename_to == "x"
    assert list(add.arg_order) == ["x", "y"] and add.endpoint[0].name == "Add"
    with pytest.raises(tf.errors.FailedPreconditionError):
        shown.put_api_def('op { graph_op_name: "Add" }')
    with pytest.raises(ValueError):
        shown.get_op_def("NoSuchOp")


def test_bounded_specs_are_compared_and_kept():
    spec = tensor_spec.BoundedTensorSpec([1], tf.float32, 0, 1, name="x")
    assert pickle.loads(pickle.dumps(spec)) == spec == tensor_spec.BoundedTensorSpec._deserialize(spec._serialize())
    assert spec != tensor_spec.BoundedTensorSpec([1], tf.float32, 0, 2, name="x") and spec != tf.TensorSpec([1])
    assert hash(spec) == hash(tensor_spec.BoundedTensorSpec.from_spec(spec))
    assert not tf.TensorShape([2])._v2_behavior


def test_branches_and_loops_are_functions_whatever_the_switch_says():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(2.0)
        chosen = cond_v2.cond_v2(tf.constant(True), lambda: x + 1.0, lambda: x)
        assert chosen.name == "cond/Identity:0" and chosen.op.inputs[0].op.type == "StatelessIf"
        [looped] = while_v2.while_loop(lambda v: v < 8.0, lambda v: v * v, [x])
        assert looped.op.inputs[0].op.type in ("While", "StatelessWhile")
        assert sess.run([chosen, looped, *tf.gradients(looped, x)]) == [3.0, 16.0, 32.0]
        assert sess.run(cond_v2.indexed_case(tf.constant(1), [lambda: x, lambda: x * 5.0])) == 10.0
        body = while_v2._get_graph(looped.op.inputs[0].op, "body")
        assert len(body.inputs) == len(body.outputs)
        with pytest.raises(TypeError):
            cond_v2.indexed_case(1, [lambda: x])


def test_questions_about_contexts():
    with tf.Graph().as_default() as graph:
        assert not control_flow_util.EnableControlFlowV2(graph)
        inside = []
        tf.while_loop(lambda i: i < 3, lambda i: inside.append(i + 1) or inside[0], [tf.constant(0)])
        loop = inside[0].op._get_control_flow_context()
        assert control_flow_util.TensorInContext(inside[0], loop)
        assert not control_flow_util.OpInContext(tf.constant(1).op, loop)
        assert control_flow_util.GetLoopConstantEnter(tf.constant(1)) is None
        assert control_flow_ops.loop_cond(tf.constant(True)).op.type == "LoopCond"


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def test_names_of_boosted_trees(sess):
    handle = boosted_trees_ops.quantile_resource_handle_op(container="", shared_name="q", name="q")
    sess.run(boosted_trees_ops.create_quantile_stream_resource(handle, epsilon=0.1, num_streams=1))
    summaries = boosted_trees_ops.make_quantile_summaries([np.arange(1, 5, dtype=np.float32)], np.ones(4), epsilon=0.1)
    sess.run(boosted_trees_ops.quantile_add_summaries(handle, summaries))
    sess.run(boosted_trees_ops.quantile_flush(handle, num_buckets=3))
    [boundaries] = sess.run(boosted_trees_ops.get_bucket_boundaries(handle, num_features=1))
    np.testing.assert_array_equal(boundaries, [1, 3, 4])
    assert boosted_trees_ops.PruningMode.from_str("post") == boosted_trees_ops.PruningMode.POST_PRUNING == 2
    with pytest.raises(ValueError):
        boosted_trees_ops.PruningMode.from_str("never")
    ensemble = boosted_trees_ops.TreeEnsemble("e", stamp_token=4, is_local=True)
    assert not tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    sess.run(ensemble.initializer)
    stamp, bytes_ = sess.run(ensemble.serialize())
    assert stamp == 4 == sess.run(ensemble.get_stamp_token()) and sess.run(ensemble.is_initialized())
    sess.run(ensemble.deserialize(6, bytes_))
    assert sess.run(ensemble.get_states())[0] == 6


def test_frames_of_a_stack_that_are_its_own():
    skip = template._skip_common_stack_elements
    assert skip(list("abc"), list("abd")) == ["c"] and skip(list("abc"), list("abc")) == ["c"]
    assert skip(list("abc"), ["x"]) == list("abc")


def test_a_stream_is_captured_and_read_after_the_block():
    class Case(tf.test.TestCase):
        def runTest(self):
            with self.captureWritesToStream(sys.__stderr__) as captured:
                sys.__stderr__.write("written")
            self.assertEqual("written", captured.contents())
            self.assertAllClose(collections.namedtuple("Pair", "a b")(1.0, 2.0), {"a": 1.0, "b": 2.0})
            self.assertTrue(self._NDArrayNear(np.ones(2), np.ones(2), 0.1))
            self.assertFalse(self._NDArrayNear(np.ones(2), np.ones([1, 2]), 0.1))

    result = Case().run()
    assert result.wasSuccessful(), result.errors + result.failures


def test_questions_about_shapes_devices_and_graphs():
    shapes = [tf.TensorShape(s) for s in ([2, 1], [3], [4, 3], None)]
    assert common_shapes.is_broadcast_compatible(shapes[0], shapes[1])
    assert not common_shapes.is_broadcast_compatible(shapes[0], shapes[2])
    assert not common_shapes.is_broadcast_compatible(shapes[0], shapes[3])
    assert device.is_device_spec(tf.DeviceSpec(job="a")) and not device.is_device_spec("/job:a")
    with tf.Graph().as_default():
        a, p = tf.constant(2), tf.placeholder(tf.float32)
        assert tensor_util.shape_tensor([1, 2]).dtype == tf.int32 and tensor_util.shape_tensor([1, a]).shape == [2]
        tensor_util.maybe_set_static_shape(p, tf.stack([3, a]))
        assert p.shape.as_list() == [3, 2]
        ops._assert_same_graph(a, p)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="another graph"):
        ops._assert_same_graph(a, tf.constant(1))


def test_a_context_asks_for_kernels_of_a_label():
    with tf.Graph().as_default() as graph, graph._kernel_label_map({"Neg": "mine"}):
        assert tf.negative(1.0).op.get_attr("_kernel") == b"mine"
