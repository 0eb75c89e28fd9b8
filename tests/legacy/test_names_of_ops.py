"""Names inside TensorFlow's modules of ops: distributions' arguments, operators' tables, derivatives, branches."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.framework import function
from tensorflow.python.ops import (
    cond_v2,
    control_flow_util,
    control_flow_util_v2,
    custom_gradient,
    functional_ops,
    gradients_impl,
    partitioned_variables,
    random_grad,
    script_ops,
    sparse_ops,
    state_ops,
    variable_scope,
    while_v2,
)
from tensorflow.python.ops.distributions import util
from tensorflow.python.ops.linalg import linear_operator_algebra
from tensorflow.python.ops.ragged import ragged_array_ops, ragged_gather_ops

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_values_and_sizes_that_are_known():
    later = tf.placeholder_with_default([[1.0, 2.0]], None)
    assert util.maybe_get_static_value(later) is None and util.maybe_get_static_value(3, np.float32) == 3.0
    assert list(util.prefer_static_shape(np.zeros([2, 3]))) == [2, 3] and util.prefer_static_rank(4.0) == 0
    assert list(run(util.prefer_static_shape(later))) == [1, 2]
    assert util.prefer_static_broadcast_shape([2, 1], [3]) == tf.TensorShape([2, 3])
    assert list(run(util.prefer_static_broadcast_shape(tf.placeholder_with_default([2, 1], [2]), [3]))) == [2, 3]
    assert util.dimension_size(tf.zeros([2, 3]), 1) == 3 and run(util.dimension_size(later, 1)) == 2


def test_shapes_when_they_are_computed():
    same, other = util.same_dynamic_shape(tf.ones([2]), [1.0, 2.0]), util.same_dynamic_shape(tf.ones([2]), [[1.0]])
    assert run([same, other]) == [True, False]
    assert list(run(util.pad([1, 2], -1, front=True, value=5, count=2))) == [5, 5, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(util.assert_symmetric(tf.constant([[1.0, 2.0], [3.0, 4.0]])))


def test_points_of_quadrature():
    grid, probs = run(util.process_quadrature_grid_and_probs(None, tf.float64, False))
    assert len(grid) == 8 and abs(probs.sum() - 1.0) < 1e-12
    assert list(run(util.process_quadrature_grid_and_probs([[0.0, 1.0], [3.0, 1.0]], tf.float64, False)[1])) == [
        0.75,
        0.25,
    ]
    with pytest.raises(ValueError):
        util.process_quadrature_grid_and_probs([[0.0, 1.0], [1.0]], tf.float64, False)


def test_arguments_of_the_function_around():
    def function(a, b=2, *rest, **named):
        return util.parent_frame_arguments()

    assert function(1, 3, 4, x=5) == {"a": 1, "b": 3, "x": 5}


@pytest.mark.parametrize("dtype", [tf.int32, tf.bool])
def test_classes_of_whole_numbers_are_refused(dtype):
    with pytest.raises(TypeError):
        util.embed_check_categorical_event_shape(tf.zeros([3, 3], dtype))
    with pytest.raises(TypeError):
        util.embed_check_integer_casting_closed(tf.constant([1.0]), tf.float32)


def test_operators_have_tables():
    class Mine(tf.linalg.LinearOperatorIdentity):
        pass

    assert linear_operator_algebra.RegisterAdjoint(Mine)(lambda operator: "mine")
    assert linear_operator_algebra.adjoint(Mine(2)) == "mine" and (Mine,) in linear_operator_algebra._ADJOINTS
    for wrong, error in (("text", TypeError), (lambda operator: None, ValueError)):
        with pytest.raises(error):
            linear_operator_algebra.RegisterAdjoint(Mine)(wrong)
    del linear_operator_algebra._ADJOINTS[Mine,]


def test_second_derivatives_and_variables_behind_a_result():
    x = tf.constant([1.0, 2.0])
    assert run(gradients_impl._hessian_vector_product(tf.reduce_sum(x**3), [x], [tf.ones([2])]))[0].tolist() == [6, 12]
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    y = x * v + tf.stop_gradient(w)
    assert custom_gradient.get_dependent_variables([x], [y]) == [v]
    assert custom_gradient.get_dependent_variables([y], [y * w]) == [w]
    assert random_grad.add_leading_unit_dimensions(x, 2).shape == [1, 1, 2]


def test_a_function_and_its_derivative_as_ops():
    @function.Defun(tf.float32)
    def square(x):
        return x * x

    (found,) = functional_ops.Gradient([tf.constant(3.0), tf.constant(1.0)], square)
    assert run(found) == 6.0


def test_nodes_of_variables():
    node = state_ops.variable_op([2], tf.float32, set_shape=False)
    assert node.op.type == "Variable" and node.shape.ndims is None
    assert run(state_ops.init_variable(state_ops.variable_op_v2([2], tf.float32), [1.0, 2.0])).tolist() == [1, 2]


def test_bodies_of_branches_and_loops():
    tf.enable_control_flow_v2()
    try:
        taken = tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        last = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    finally:
        tf.disable_control_flow_v2()
    nodes = {op.type: op for op in tf.get_default_graph().get_operations()}
    then, orelse = cond_v2.get_func_graphs(nodes["StatelessIf"])
    assert [t.op.type for t in (*then.outputs, *orelse.outputs)] == ["Const", "Const"]
    body = while_v2._get_graph(nodes["While"], "body")
    assert [t.op.type for t in body.outputs] == ["AddV2", "Placeholder", "AddV2"]
    assert taken.dtype == tf.float32 and run(last) == 3
    assert not control_flow_util_v2.in_defun() and not control_flow_util_v2.output_all_intermediates()
    tf.cond(tf.placeholder(tf.bool, []), lambda: 1.0, lambda: 2.0)
    merges = [op.name for op in tf.get_default_graph().get_operations() if control_flow_util.IsMerge(op)]
    assert merges == ["cond_1/Merge"]
    assert run(tf.function(control_flow_util_v2.in_defun)())


def test_sparse_tensors_kept_by_number():
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])
    one, many = sparse_ops._add_sparse_to_tensors_map(sparse), sparse_ops._add_many_sparse_to_tensors_map(sparse)
    taken = sparse_ops._take_many_sparse_from_tensors_map(many.op, many, rank=2)
    assert taken.indices.shape.as_list() == [None, 2] and run(taken).values.tolist() == [1, 2]
    assert run(sparse_ops._take_many_sparse_from_tensors_map(one.op, [one])).dense_shape.tolist() == [1, 2, 2]
    for wrong in (
        lambda: sparse_ops._add_sparse_to_tensors_map(3),
        lambda: sparse_ops._take_many_sparse_from_tensors_map(3, [1]),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_python_functions_as_ops():
    assert run(script_ops.eager_py_func(func=lambda x: x * 2, inp=[2.0], Tout=tf.float32)) == 4.0
    assert tf.py_func(lambda: None, [], [], stateful=False) == []


def test_bytes_of_one_length():
    assert run(tf.compat.v2.io.decode_raw(["abc", "d"], tf.uint8, fixed_length=2)).tolist() == [[97, 98], [100, 0]]
    with pytest.raises(TypeError):
        tf.decode_csv(["1"], np.array([[1]]))


def test_parts_of_variables():
    info = variable_scope._PartitionInfo([9, 3], [4, 0])
    assert info.single_slice_dim([4, 3]) == 0 and info.single_offset([4, 3]) == 4
    for wrong in ([10, 3], [4, 1], [9, 3, 1]):
        with pytest.raises(ValueError):
            info.single_slice_dim(wrong)
    parts = partitioned_variables.create_partitioned_variables([4], [2], tf.constant([1, 2, 3, 4]))
    assert [part.tolist() for part in run(parts)] == [[1, 2], [3, 4]]
    (lone, last) = partitioned_variables.create_partitioned_variables([2], [2], [1, 2], dtype=tf.float32)
    assert run([lone, last])[1].tolist() == [2.0] and lone.dtype.base_dtype == tf.float32


def test_initializers_of_version_2():
    from tensorflow.python.ops import init_ops_v2

    assert init_ops_v2.RandomNormal().get_config() == {"mean": 0.0, "stddev": 0.05, "seed": None}
    with pytest.raises(ValueError, match="loating"):
        init_ops_v2.GlorotUniform()([2, 2], dtype=tf.int32)
    with pytest.raises(ValueError, match="strings"):
        init_ops_v2.ones_initializer()([2], dtype=tf.string)
    with pytest.raises(TypeError, match="shape"):
        init_ops_v2.constant_initializer([1, 2, 3])([2, 3])


def test_functions_beside_classes_of_a_module():
    from tensorflow.python.ops import batch_ops, clustering_ops, nccl_ops

    assert batch_ops.batch_function is tf.nondifferentiable_batch_function
    assert callable(clustering_ops.kmeans_plus_plus_initialization) and clustering_ops.KMeans
    with pytest.raises(ValueError, match="where"):
        nccl_ops.broadcast(tf.constant(1.0))


def test_names_beside_ragged_tensors():
    from tensorflow.python.ops.ragged import ragged_config, ragged_string_ops, ragged_util

    assert not ragged_config.auto_cast_partition_dtype()
    with tf.Graph().as_default(), tf.Session() as session:
        splits = ragged_util.lengths_to_splits([2, 1])
        assert session.run(ragged_util.repeat_ranges([5, 6, 7], splits, 2)).tolist() == [5, 6, 5, 6, 7, 7]
        words = ragged_string_ops.string_split_v2(tf.ragged.constant([["a b"], ["c"]]))
        assert session.run(words).to_list() == [[[b"a", b"b"]], [[b"c"]]]
        assert len(ragged_util.assert_splits_match([[splits], [splits + 0]])) == 1
        with pytest.raises(ValueError, match="identical"):
            ragged_util.assert_splits_match([[splits], []])


def test_names_of_images():
    from tensorflow.python.ops import image_ops, image_ops_impl

    assert image_ops.ResizeMethod.LANCZOS3 == "lanczos3" and image_ops.ResizeMethodV1.AREA == 3
    with tf.Graph().as_default(), tf.Session() as session:
        chosen = image_ops.non_max_suppression_with_overlaps([[1.0, 0.8], [0.8, 1.0]], [0.5, 0.9], 2)
        assert session.run(chosen).tolist() == [1]
        assert image_ops_impl._ImageDimensions(tf.ones([2, 3, 1]), 3) == [2, 3, 1]
        assert image_ops_impl._Check3DImage(tf.ones([2, 3, 1])) == []
        with pytest.raises(ValueError):
            image_ops_impl._Check3DImage(tf.ones([2, 3]))
        with pytest.raises(KeyError):
            image_ops_impl._assert(False, KeyError, "no")


def test_names_of_selected_ops():
    from tensorflow.python.ops import op_selector

    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0)
        b = tf.negative(a)
        assert op_selector.get_unique_graph([a, b.op]) is graph
        assert op_selector.graph_inputs(b.op) == [a.op] and op_selector.is_differentiable(b.op)
        assert op_selector.concatenate_unique([1, 2], [2, 3]) == [1, 2, 3]
        assert not op_selector.is_iterable(a) and op_selector.is_iterable([a])
        for wrong, error in (([], ValueError), (a, TypeError), ([a, 3], TypeError)):
            with pytest.raises(error):
                op_selector.get_unique_graph(wrong)
    with tf.Graph().as_default(), pytest.raises(ValueError):
        op_selector.check_graphs(a, tf.constant(2.0))


def test_all_intermediates_are_asked_for():
    from tensorflow.python.ops import control_flow_util_v2, control_flow_v2_toggles

    control_flow_v2_toggles.output_all_intermediates(True)
    assert control_flow_util_v2._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE is True
    control_flow_v2_toggles.output_all_intermediates(None)
    assert control_flow_util_v2._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE is None


def test_specs_of_ragged_tensors_have_batches_and_travel_as_one_tensor():
    spec = tf.RaggedTensorSpec([2, None], tf.int32)
    assert spec._batch(5) == tf.RaggedTensorSpec([5, 2, None], tf.int32)
    assert spec._unbatch() == tf.RaggedTensorSpec([None], tf.int32, 0)
    with tf.Graph().as_default(), tf.Session() as session:
        [tensor] = spec._to_tensor_list(tf.ragged.constant([[1, 2], [3]]))
        assert tensor.dtype == tf.variant
        assert session.run(spec._from_tensor_list([tensor])).to_list() == [[1, 2], [3]]
        [rows] = spec._to_batched_tensor_list(tf.ragged.constant([[1, 2], [3]]))
        assert rows.shape.as_list() == [2]


def test_arguments_of_ragged_forms_come_in_their_own_order():
    with tf.Graph().as_default(), tf.Session() as session:
        ragged = tf.ragged.constant([[1, 2], [3]])
        assert ragged_array_ops.size(ragged, tf.int64).dtype == tf.int64
        assert session.run(ragged_gather_ops.gather(ragged, [1], None, 0, 0, "rows")).to_list() == [[3]]
        assert session.run(ragged_gather_ops.gather_nd(ragged, [[0, 1]], 0, "one")).tolist() == [2]


@pytest.mark.parametrize("package", ["ops", "framework", "training", "keras"])
def test_packages_can_be_imported_with_a_star(package):
    names: dict = {}
    exec(f"from tensorflow.python.{package} import *", names)
    assert "cli" not in names
