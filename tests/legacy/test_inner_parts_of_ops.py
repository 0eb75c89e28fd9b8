"""Names inside TensorFlow's modules of ops: bodies of branches and loops, lookups, sorting, stores, seeds, types."""

import collections

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.framework import func_graph, ops
from tensorflow.python.kernel_tests.signal import test_util as signal_test_util
from tensorflow.python.ops import (
    cond_v2,
    control_flow_util_v2,
    control_flow_v2_func_graphs,
    data_flow_ops,
    default_gradient,
    embedding_ops,
    nn_impl,
    op_selector,
    rnn_cell_impl,
    rnn_cell_wrapper_impl,
    sort_ops,
    sparse_ops,
    stateful_random_ops,
    variable_scope,
    weights_broadcast_ops,
    while_v2,
)
from tensorflow.python.ops.distributions import special_math, util
from tensorflow.python.ops.losses import util as losses_util
from tensorflow.python.ops.signal import mel_ops
from tensorflow.python.user_ops import user_ops

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensors):
    with tf.Session() as sess:
        return sess.run(tensors)


def test_bodies_of_branches_and_loops_have_classes():
    seen = []

    def note(result):
        seen.append(type(ops.get_default_graph()))
        return result

    cond_v2.cond_v2(tf.placeholder(tf.bool), lambda: note(tf.constant(1.0)), lambda: note(tf.constant(2.0)))
    while_v2.while_loop(lambda i: note(i < 3), lambda i: note(i + 1), [0])
    kinds = control_flow_v2_func_graphs
    branch = kinds.CondBranchFuncGraph
    assert seen == [branch, branch, kinds.WhileCondFuncGraph, kinds.WhileBodyFuncGraph]
    assert branch("alone").outer_graph is tf.get_default_graph()


def test_functions_by_hand():
    before = tf.constant(1.0)
    with tf.control_dependencies([before]):
        with control_flow_util_v2.clear_control_inputs():
            free = tf.constant(2.0)
        bound = tf.constant(3.0)
    assert (len(free.op.control_inputs), len(bound.op.control_inputs)) == (0, 1)
    body = func_graph.FuncGraph("five")
    with body.as_default():
        body.outputs = [tf.constant(5.0)]
    assert control_flow_util_v2.create_new_tf_function(body) == "five"
    assert tf.get_default_graph()._is_function("five")
    assert control_flow_util_v2.unique_fn_name("outer/scope/", "true").startswith("outer_scope_true_")
    assert control_flow_util_v2.unique_grad_fn_name("f").startswith("f_grad_")
    with pytest.raises(ValueError, match="no branches"):
        cond_v2.get_func_graphs(free.op)


def test_zeros_of_handles():
    variable = tf.get_variable("v", [2, 3], use_resource=True)
    shape, dtype = default_gradient.shape_and_dtype(variable.handle)
    assert shape.as_list() == [2, 3] and dtype == tf.float32
    assert default_gradient.get_zeros_dtype(tf.placeholder(tf.float16)) == tf.float16
    assert default_gradient.shape_and_dtype(tf.placeholder(tf.resource))[1] == tf.float32


def test_a_lookup_computes_with_rows_beside_each_part():
    table = tf.constant(np.arange(8.0).reshape(4, 2))
    sums = embedding_ops._embedding_lookup_and_transform(
        [table, table + 10], [1, 2, 5], transform_fn=lambda rows: tf.reduce_sum(rows, 1)
    )
    clipped = embedding_ops._embedding_lookup_and_transform(
        table, [[3, 0]], max_norm=1.0, transform_fn=lambda rows: rows * 2
    )
    assert run(sums).tolist() == [21, 5, 29]
    assert clipped.shape.as_list() == [1, 2, 2] and abs(np.linalg.norm(run(clipped)[0, 0]) - 2) < 1e-6
    ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([-1, 2], tf.int64), [1, 2])
    assert run(embedding_ops._prune_invalid_ids(ids, None)[0]).values.tolist() == [2]


def test_sorting_in_each_direction():
    values = tf.constant([[3, 1], [2, 0]])
    assert run(sort_ops._SORT_IMPL["ASCENDING"](values, 0)).tolist() == [[2, 0], [3, 1]]
    assert run(sort_ops._descending_sort(values, -1, return_argsort=True)).tolist() == [[0, 1], [0, 1]]


def test_stores_read_their_arguments():
    assert data_flow_ops._shape_common([1, 2], [1, 3]).as_list() == [1, None]
    assert data_flow_ops._shape_common([1], [1, 3]).ndims is None
    assert data_flow_ops._as_shape_list([1, 2], [tf.int32]) == [tf.TensorShape([1, 2])]
    assert data_flow_ops._as_shape_list(
        [tf.TensorShape(None)], [tf.int32], unknown_dim_allowed=True, unknown_rank_allowed=True
    ) == [tf.TensorShape(None)]
    with pytest.raises(ValueError, match="defined"):
        data_flow_ops._as_shape_list([[None]], [tf.int32])
    assert issubclass(data_flow_ops.MapStagingArea, data_flow_ops.BaseStagingArea)
    assert not issubclass(data_flow_ops.MapStagingArea, data_flow_ops.StagingArea)


def test_weights_that_fit():
    assert run(weights_broadcast_ops._has_valid_dims([1, 3], [2, 3]))
    assert not run(weights_broadcast_ops._has_valid_dims([4, 3], [2, 3]))
    with pytest.raises(ValueError, match=weights_broadcast_ops._ASSERT_BROADCASTABLE_ERROR_PREFIX):
        weights_broadcast_ops.assert_broadcastable(np.ones([2, 2]), np.ones([3, 2]))


def test_normalized_tensors():
    unit, size = run(nn_impl.normalize([[3.0, 4.0]], axis=1))
    assert np.allclose(unit, [[0.6, 0.8]]) and size.tolist() == [[5]]


def test_losses_have_an_axis():
    with pytest.raises(ValueError, match="axis"), losses_util.check_per_example_loss_rank(tf.constant(1.0)):
        pass
    loss = tf.placeholder(tf.float32)
    with losses_util.check_per_example_loss_rank(loss):
        total = tf.reduce_sum(loss)
    with tf.Session() as sess:
        assert sess.run(total, {loss: [1.0, 2.0]}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(total, {loss: 1.0})


def test_the_mel_scale_and_back():
    there = mel_ops._hertz_to_mel(frequencies_hertz=tf.constant([100.0, 1000.0]))
    assert np.allclose(run(mel_ops._mel_to_hertz(there)), [100, 1000])
    with pytest.raises(ValueError, match="positive"):
        mel_ops._validate_arguments(0, 8000, 0, 4000, tf.float32)


def test_seeds_and_states():
    assert stateful_random_ops._uint_to_int(2**64 - 1) == -1
    assert stateful_random_ops._make_1d_state(3, 2**64 + 7).tolist() == [7, 1, 0]
    assert stateful_random_ops._make_1d_state(3, [1, 2]).tolist() == [0, 1, 2]
    assert run(stateful_random_ops._convert_to_state_tensor([1, 2**64 - 1])).tolist() == [1, -1]
    assert stateful_random_ops._get_state_size(2) == 2
    with pytest.raises(ValueError, match="no algorithm"):
        stateful_random_ops._get_state_size(9)


def test_parts_of_variables():
    assert variable_scope._get_slice_dim_and_num_slices([1, 3, 1]) == (1, 3)
    parts = list(variable_scope._iter_slices([7, 3], 3, 0))
    assert parts == [([0, 0], [3, 3]), ([3, 0], [2, 3]), ([5, 0], [2, 3])]
    assert variable_scope._DEFAULT_USE_RESOURCE is False


def test_how_often_scopes_were_opened():
    store = variable_scope.get_variable_scope_store()
    with tf.variable_scope("a"), tf.variable_scope("b"):
        pass
    with tf.variable_scope(None, "a"):
        pass
    assert store.variable_scopes_count == {"a": 1, "a/b": 0, "a_1": 1}
    assert store.variable_scope_count("a") == 1


def test_placeholders_behind_a_tensor():
    a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
    total = tf.add(a, b, name="total")
    users = collections.defaultdict(set)
    visited = {a.op}
    found = op_selector.map_subgraph(total, [a], None, visited, users, True)
    assert [t.name for t in found] == ["b:0"] and visited == {a.op, b.op, total.op}
    assert dict(users) == {a.op: {total.op}, b.op: {total.op}}
    for disallowed, add_sources in (({b.op}, True), (None, False)):
        with pytest.raises(op_selector.UnliftableError):
            op_selector.map_subgraph(total, [], disallowed, set(), collections.defaultdict(set), add_sources)


def test_crosses_and_sparse_arguments():
    one = tf.SparseTensor([[0, 0]], ["a"], [1, 1])
    assert run(sparse_ops._sparse_cross([one, tf.constant([["x"]])])).values.tolist() == [b"a_X_x"]
    assert run(sparse_ops._sparse_cross_internal([one], hashed_output=True, num_buckets=5)).values.dtype == np.int64
    assert len(sparse_ops._convert_to_sparse_tensors([one, one])) == 2
    with pytest.raises(TypeError):
        sparse_ops._convert_to_sparse_tensors(3)
    assert sparse_ops._make_int64_tensor(tf.constant(5), "five").dtype == tf.int64


def test_wrappers_of_cells_have_bases():
    cells = tf.nn.rnn_cell
    assert issubclass(cells.DropoutWrapper, rnn_cell_wrapper_impl.DropoutWrapperBase)
    assert issubclass(cells.ResidualWrapper, rnn_cell_wrapper_impl.ResidualWrapperBase)
    assert issubclass(cells.DeviceWrapper, rnn_cell_wrapper_impl.DeviceWrapperBase)
    mapped = rnn_cell_wrapper_impl._enumerated_map_structure_up_to(
        (True, (False, True)), lambda i, x, y: (i, x + y), (1, (2, 3)), (10, (20, 30))
    )
    assert mapped == ((0, 11), ((1, 22), (2, 33)))
    assert rnn_cell_impl._hasattr(3, "real") and not rnn_cell_impl._hasattr(3, "unreal")
    rnn_cell_impl._check_rnn_cell_input_dtypes([tf.constant(1.0)])
    with pytest.raises(ValueError, match="int32"):
        rnn_cell_impl._check_rnn_cell_input_dtypes([tf.constant(1)])


def test_whole_numbers_that_types_hold():
    assert util._largest_integer_by_dtype(tf.float16) == 2048
    assert util._smallest_integer_by_dtype(tf.int8) == -128
    assert util._smallest_integer_by_dtype(tf.uint16) == 0
    assert util._is_integer_like_by_dtype(tf.bool) and not util._is_integer_like_by_dtype(tf.float32)
    with pytest.raises(TypeError):
        util._largest_integer_by_dtype(tf.bfloat16)


def test_notes_in_docstrings():
    @util.AppendDocstring("More.", {"b": "The second.", "a": "The first."})
    def function():
        """Less."""

    assert function.__doc__ == "Less.\nMore.\n\n##### `kwargs`:\n\n*  `a`: The first.\n*  `b`: The second."
    with pytest.raises(ValueError, match="one line"):
        util.AppendDocstring("More.", {"a": "two\nlines"})


def test_shapes_of_draws():
    normal = tf.distributions.Normal([1.0, 2.0], 1.0)
    vector, count = normal._expand_sample_shape_to_vector(tf.constant(3), "sample_shape")
    assert run(vector).tolist() == [3] and count == 3
    assert normal._is_scalar_helper(tf.TensorShape([]), None) is True
    assert normal._set_sample_static_shape(tf.placeholder(tf.float32, [None, None]), [5]).shape.as_list() == [5, 2]
    assert "self" not in normal._parameters
    assert special_math._double_factorial(6) == 48


def test_a_fact():
    assert run(user_ops.my_fact()) == run(user_ops.Fact()) == b"0! == 1"


def test_a_graph_as_grappler_leaves_it():
    graph = tf.Graph()
    with graph.as_default():
        window = tf.signal.hann_window(5)
    left = signal_test_util.grappler_optimize(graph, [window])
    assert [node.op for node in left.node] == ["Const"]
