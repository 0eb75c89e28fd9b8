"""What stands under `keras.engine.training_utils`, `base_layer_utils` and in compiled models by TensorFlow's names."""

import inspect

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.legacy.inner.keras_engine import layer_parts, training_data
from everflow.ops.functions.traced import function

ROWS = np.arange(10.0).reshape(5, 2)


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    with tf.Graph().as_default() if request.param == "graph" else eager_mode():
        yield request.param


# --- means and outputs over a data set -----------------------------------------------------------


@pytest.mark.parametrize(
    "amount, expected", [({"steps": 2, "use_steps": True}, 2.0), ({"num_samples": 10, "use_steps": False}, 2.2)]
)
def test_losses_are_averaged_by_steps_or_samples(amount, expected):
    means = training_data.MetricsAggregator(**amount)
    means.create([1.0, 2.0])
    means.aggregate([1.0, 2.0], 0, 4)
    means.aggregate([3.0, 4.0], 4, 10)
    means.finalize()
    np.testing.assert_allclose(means.results, [expected, 4.0])
    with pytest.raises(ValueError, match="no batches"):
        training_data.MetricsAggregator(use_steps=True, steps=1).finalize()


@pytest.mark.parametrize(
    "settings", [{"use_steps": True, "steps": 3}, {"use_steps": False, "num_samples": 5, "batch_size": 2}]
)
def test_outputs_are_put_together(settings):
    made = training_data.OutputsAggregator(**settings)
    made.create([ROWS[:2], {"b": ROWS[:2]}])
    for start, end in ((0, 2), (2, 4), (4, 5)):
        made.aggregate([ROWS[start:end], {"b": ROWS[start:end] + 1}], start, end)
    made.finalize()
    np.testing.assert_array_equal(made.results[0], ROWS)
    np.testing.assert_array_equal(made.results[1]["b"], ROWS + 1)


def test_sparse_outputs_are_joined():
    part = tf.SparseTensor([[0, 1]], [3.0], [1, 2])
    made = training_data.ConcatAggregator(1)
    made.create(part)
    made.aggregate(part)
    made.aggregate(part)
    made.finalize()
    with tf.Session() as sess:
        assert sess.run(made.results).dense_shape.tolist() == [2, 2]
    with pytest.raises(TypeError, match="ConcatAggregator"):
        training_data.SliceAggregator(4, 2).create(part)


def test_a_batch_must_not_grow():
    made = training_data.ConcatAggregator(2)
    made.create(ROWS)
    with pytest.raises(ValueError, match="batch of 2"):
        made.aggregate(ROWS)


# --- data ----------------------------------------------------------------------------------------


def test_rows_of_arrays():
    assert training_data.slice_arrays(None, 0) is None
    assert [len(part) for part in training_data.slice_arrays([ROWS, ROWS], 2)] == [3, 3]
    assert training_data.slice_arrays([ROWS, None], np.array([1]))[1] is None
    assert training_data.standardize_single_array(np.ones(3)).shape == (3, 1)
    assert training_data.standardize_single_array(np.ones(3), (None,)).shape == (3,)
    parts = training_data.split_training_and_validation_data([ROWS], [ROWS], None, 0.4)
    assert [None if part is None else part[0].shape[0] for part in parts] == [3, 3, None, 2, 2, None]


def test_steps_are_needed_where_data_does_not_tell(mode):
    assert training_data.check_num_samples([ROWS], batch_size=2) == 5
    assert training_data.check_steps_argument(None, 2, "steps")
    assert training_data.check_steps_argument(tf.data.Dataset.range(3), None, "steps")
    with pytest.raises(ValueError, match="`steps`"):
        training_data.check_steps_argument([], None, "steps")
    with pytest.raises(ValueError, match="not both"):
        training_data.check_num_samples([ROWS], batch_size=2, steps=2)


@pytest.mark.parametrize("given", [(ROWS,), [ROWS], ROWS])
def test_validation_data_is_a_pair_or_three(given):
    assert training_data.unpack_validation_data((1, 2)) == (1, 2, None)
    with pytest.raises(ValueError, match="validation_data"):
        training_data.unpack_validation_data(given)


def test_nothing_is_given_beside_datasets_and_generators():
    for given in ({"y": 1}, {"sample_weight": 1}, {"validation_split": 0.1}):
        with pytest.raises(ValueError, match=next(iter(given))):
            training_data.check_generator_arguments(**given)
    with pytest.raises(ValueError, match="dict"):
        training_data.validate_input_types({"a": ROWS}, None, allow_dict=False)
    with pytest.raises(ValueError, match="made of arrays"):
        training_data.validate_input_types(["x"], None)


def test_how_a_dataset_was_made_is_seen(mode):
    plain = tf.data.Dataset.from_tensor_slices([1, 2]).map(lambda x: x).repeat(2)
    training_data.assert_not_batched(plain.shuffle(2))
    training_data.assert_not_shuffled(plain.batch(2))
    for batched in (plain.batch(2), tf.data.Dataset.zip((plain, plain.batch(1))), plain.flat_map(lambda x: plain)):
        with pytest.raises(ValueError, match="`batch`"):
            training_data.assert_not_batched(batched)
    with pytest.raises(ValueError, match="`shuffle`"):
        training_data.assert_not_shuffled(plain.shuffle(2).batch(1))


def test_how_long_a_dataset_is(mode):
    assert training_data.infer_steps_for_dataset(None, tf.data.Dataset.range(4).batch(2), None) == 2
    assert training_data.infer_steps_for_dataset(None, tf.data.Dataset.range(4).filter(lambda x: True), None) is None
    with pytest.raises(ValueError, match="never ends"):
        training_data.infer_steps_for_dataset(None, tf.data.Dataset.range(4).repeat(), None)


def test_placeholders_for_inputs(mode):
    inputs = training_data.ModelInputs({"b": ROWS, "a": ROWS[:, :1]})
    assert inputs.get_input_names() == ["a", "b"]
    assert {name: t.shape.as_list() for name, t in inputs.get_symbolic_inputs().items()} == {
        "a": [None, 1],
        "b": [None, 2],
    }
    assert training_data.ModelInputs(ROWS).get_symbolic_inputs().shape.as_list() == [None, 2]
    assert len(training_data.ModelInputs(ROWS).get_symbolic_inputs(return_single_as_list=True)) == 1


# --- losses and metrics --------------------------------------------------------------------------


def test_metrics_by_name_and_output():
    names = [
        training_data.get_metric_name(m, w)
        for m, w in (("acc", True), ("mae", False), (tf.keras.metrics.Mean(name="q"), True))
    ]
    assert names == ["weighted_acc", "mean_absolute_error", "weighted_q"]
    loss = tf.keras.losses.SparseCategoricalCrossentropy()
    assert training_data.get_metric_function("acc", (None, 3), loss).__name__ == "sparse_categorical_accuracy"
    found = training_data.collect_per_output_metric_info({"b": "mae"}, ["a", "b"], [(None, 1)] * 2, [None] * 2)
    assert [list(one) for one in found] == [[], ["mean_absolute_error"]]
    assert training_data.get_loss_function("mse").reduction == "sum_over_batch_size"
    assert training_data.get_loss_function(None) is None


# --- layers --------------------------------------------------------------------------------------


def test_where_a_layer_is_called():
    seen = []

    @function
    def traced():
        seen.append((layer_parts.is_in_tf_function(), layer_parts.is_in_keras_graph()))
        return tf.constant(1.0)

    with eager_mode():
        assert layer_parts.is_in_eager_or_tf_function() and not layer_parts.is_in_tf_function()
        traced()
        with tf.keras.backend.get_graph().as_default():
            seen.append((layer_parts.is_in_tf_function(), layer_parts.is_in_keras_graph()))
    assert seen == [(True, False), (False, True)]
    assert not layer_parts.is_in_eager_or_tf_function()


def test_what_comes_from_layers(mode):
    x = tf.keras.Input((2,))
    y = tf.add(x, 1.0)
    assert layer_parts.have_all_keras_metadata(x) and not layer_parts.have_all_keras_metadata([x, y])
    assert layer_parts.uses_keras_history(y) and layer_parts.needs_keras_history(y)
    layer_parts.create_keras_history(y)
    assert layer_parts.have_all_keras_metadata(y)
    keys, *_, layers, _ = layer_parts._map_graph_network(x, y)
    assert len(keys) == len(layers) == 2


def test_variables_as_layers_make_them(mode):
    variable = layer_parts.make_variable("v", (2,), initializer=tf.zeros_initializer(), trainable=False)
    assert (variable.shape.as_list(), variable.trainable) == ([2], False)
    spec = inspect.getfullargspec(lambda self, x, training=None: x)
    assert layer_parts.training_arg_passed_to_call(spec, (1,), {"training": True})


# --- compiled models -----------------------------------------------------------------------------


def test_a_compiled_model_by_inner_names(mode):
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, [tf.keras.layers.Dense(2, name="a")(x), tf.keras.layers.Dense(1, name="b")(x)])
    with pytest.raises(RuntimeError):
        model._assert_compile_was_called()
    model.compile("sgd", "mse", metrics=["mae"])
    assert [(e.output_name, e.loss_name(), e.has_training_target()) for e in model._training_endpoints] == [
        ("a", "a_loss", True),
        ("b", "b_loss", True),
    ]
    assert [list(m) for m in model._per_output_metrics] == [["a_mean_absolute_error"], ["b_mean_absolute_error"]]
    data = np.ones((4, 3)), [np.ones((4, 2)), np.ones((4, 1))]
    inputs, targets, weights = model._standardize_user_data(*data)
    assert (len(inputs), len(targets), weights) == (1, 2, None)
    assert model._standardize_user_data(*data, sample_weight=[np.ones(4), None])[2][1] is None
    assert model._validate_or_infer_batch_size(None, None, data[0]) == 32
    with pytest.raises(ValueError, match="2 outputs"):
        model._prepare_sample_weights([1])
