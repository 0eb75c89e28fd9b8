"""What programs and tests look at inside of layers and models: what hangs on them, what calls are told, dynamic layers."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.engine.symbolic_types import register_symbolic_tensor_type
from everflow.ops.variables.trackable import NoDependency

layers, K = tf.keras.layers, tf.keras.backend


class Told(layers.Layer):
    """Notes what its calls are told of training."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.told = NoDependency([])

    def call(self, inputs, training=None):
        self.told.append(training if training is None or isinstance(training, bool) else "tensor")
        return inputs + 0.0


class Dynamic(layers.Layer):
    def __init__(self):
        super().__init__(dynamic=True)

    def call(self, inputs):
        return inputs * 2.0 if float(tf.reduce_sum(inputs)) > 0 else inputs

    def compute_output_shape(self, input_shape):
        return input_shape


@pytest.fixture
def eagerly():
    with eager_mode():
        yield
    K.clear_session()


def test_layers_are_told_of_training_by_the_phase_that_is_set(eagerly):
    layer, x = Told(), tf.ones([1, 2])
    layer(x)
    layer(tf.keras.Input((2,)))
    with K.learning_phase_scope(1):
        layer(x)
    with K.eager_learning_phase_scope(0):
        layer(x)
    layer(x)
    assert layer.told == [None, "tensor", True, False, None]


def test_functions_have_the_phase_of_what_is_around(eagerly):
    seen = []

    @tf.function
    def traced(x):
        seen.append(K.learning_phase())
        return x

    with K.eager_learning_phase_scope(1):
        traced(1.0)
    assert seen == [1]


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_layers_of_subclassed_models_know_whether_they_train(eagerly, run_eagerly):
    class Doubling(layers.Layer):
        def call(self, inputs, training=None):
            return inputs * 2.0 if training else inputs

    class Around(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = Doubling()

        def call(self, inputs):
            return self.inner(inputs)

    model = Around()
    model.compile("sgd", "mae", run_eagerly=run_eagerly)
    ones = np.ones([2, 3], "float32")
    assert model.train_on_batch(ones, ones) == 1.0
    assert model.test_on_batch(ones, ones) == 0.0
    assert model.run_eagerly == run_eagerly


def test_what_is_added_in_a_branch_of_a_drawn_model_is_refused(eagerly):
    class Penalty(layers.Layer):
        def call(self, inputs, training=None):
            if training:
                self.add_loss(tf.reduce_sum(inputs))
            return inputs

    with pytest.raises(RuntimeError, match="branch or a loop"):
        Penalty()(tf.keras.Input((3,)))


def test_a_model_with_a_dynamic_layer_runs_eagerly(eagerly):
    model = tf.keras.Sequential([Dynamic()])
    assert model.dynamic
    x = tf.keras.Input((2,))
    model = tf.keras.Model(x, Dynamic()(x))
    model.compile("sgd", "mse")
    assert model.run_eagerly
    np.testing.assert_array_equal(model.predict(np.ones([2, 2], "float32")), np.full([2, 2], 2.0))


def test_dynamic_layers_need_eager_execution():
    model = tf.keras.Sequential([Dynamic()])
    with pytest.raises(ValueError, match="need eager execution"):
        model.compile("sgd", "mse")


def test_output_shapes_are_found_without_making_weights_of_another_graph(eagerly):
    class Around(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(4)

        def call(self, inputs):
            return self.inner(inputs)

    model = Around()
    assert model.compute_output_shape((None, 3)).as_list() == [None, 4]
    assert model(tf.ones([2, 3])).shape == (2, 4)


def test_layers_and_lists_of_them_are_listed():
    layer = layers.Layer()
    assert layer._layers == []
    layer.one = layers.Dense(2)
    layer.several = [layers.Dense(3)]
    assert [type(x).__name__ for x in layer._layers] == ["Dense", "ListWrapper"]
    del layer.one
    layer.kept_apart = NoDependency(layers.Dense(1))
    assert len(layer._layers) == 2 and layer.kept_apart.units == 1
    # Checkpoints go on with what was deleted, as in TensorFlow.
    assert [child.name for child in layer._checkpoint_dependencies] == ["one", "several"]


def test_a_variable_that_is_replaced_is_no_weight_any_more():
    layer = layers.Layer()
    layer.v = tf.Variable(1.0)
    layer.w = layer.v
    layer.v = tf.Variable(2.0)
    assert len(layer.weights) == 2
    layer.w = None
    assert layer.weights == [layer.v]
    del layer.v
    assert layer.weights == []


def test_what_an_assignment_gives_is_not_one_more_weight(eagerly):
    layer = layers.Layer()
    layer.v = tf.Variable(1.0)
    layer.after = layer.v.assign_add(1.0)
    assert len(layer.weights) == 1


def test_variables_made_by_hand_have_values():
    class Scale(layers.Layer):
        def build(self, shape):
            self.scale = tf.Variable(3.0)

        def call(self, inputs):
            return inputs * self.scale

    model = tf.keras.Sequential([Scale(input_shape=(1,))])
    np.testing.assert_array_equal(model.predict(np.ones([1, 1])), [[3.0]])


def test_weights_given_to_a_layer_count_eagerly(eagerly):
    layer = layers.Dense(2, weights=[np.eye(2), np.ones(2)])
    np.testing.assert_array_equal(layer(tf.ones([1, 2])), [[2.0, 2.0]])
    layer = layers.Dense(2, weights=[np.eye(2), np.ones(2)])
    layer(tf.keras.Input((2,)))
    np.testing.assert_array_equal(layer.get_weights()[1], np.ones(2))


def test_a_sequential_of_one_layer_needs_no_list():
    assert tf.keras.Sequential(layers.Dense(3, input_shape=(2,))).count_params() == 9


def test_layers_of_plain_ops_are_named_after_them():
    x = tf.keras.Input((2,))
    outputs = [x + x, layers.Add()([x, x]), x + x, layers.Add()([x, x])]
    names = [layer.name for layer in tf.keras.Model(x, outputs).layers]
    assert names[1:] == ["tf_op_layer_add", "add", "tf_op_layer_add_2", "add_1"]


def test_what_calls_take():
    class Taking(layers.Layer):
        def call(self, inputs, other, training=None):
            return inputs

    layer = Taking()
    assert layer._call_fn_args == ["inputs", "other", "training"]
    assert (layer._expects_training_arg, layer._expects_mask_arg, layer._call_accepts_kwargs) == (True, False, False)
    x = tf.keras.Input((2,))
    model = tf.keras.Model(x, layers.Dropout(0.5)(x))
    assert [spec.args for spec in model._layer_call_argspecs.values()] == [
        ["self", "inputs"],
        ["self", "inputs", "training"],
    ]


def test_batch_normalization_without_scale_trains_eagerly(eagerly):
    model = tf.keras.Sequential([layers.BatchNormalization(axis=3, scale=False, input_shape=(2, 2, 3))])
    model.compile("sgd", "mse")
    ones = np.ones([2, 2, 2, 3], "float32")
    assert model.train_on_batch(ones, ones) == 1.0


def test_configurations_of_batch_normalization_tell_renormalization():
    config = layers.BatchNormalization(renorm=True, renorm_momentum=0.5).get_config()
    assert (config["renorm"], config["renorm_clipping"], config["renorm_momentum"]) == (True, {}, 0.5)
    assert "virtual_batch_size" not in config and "renorm" not in layers.BatchNormalization().get_config()


def test_a_mask_that_is_given_goes_on_with_the_outputs():
    class Masked(layers.Layer):
        def call(self, inputs, mask=None):
            return inputs * 2.0

        def compute_mask(self, inputs, mask=None):
            return mask

    mask = tf.ones([1, 1])
    assert Masked()(tf.ones([1, 1]), mask)._keras_mask is mask


def test_inputs_are_checked_before_there_are_weights(eagerly):
    with pytest.raises(ValueError, match="min_ndim=2"):
        layers.Dense(1)(tf.constant([1.0, 2.0]))


def test_variables_in_a_lambda_are_made_once_and_are_its_weights():
    layer = layers.Lambda(lambda x: x * tf.Variable(2.0, name="factor"))
    layer(tf.ones([1]))
    layer(tf.ones([1]))
    assert len(layer.trainable_weights) == 1


def test_shapes_that_lambdas_say_may_be_several():
    layer = layers.Lambda(lambda x: [x, x], output_shape=[(3,), (4, 5)])
    assert [shape.as_list() for shape in layer.compute_output_shape((2, 3))] == [[2, 3], [2, 4, 5]]


def test_shapes_of_structures_are_found(eagerly):
    layer = layers.Lambda(lambda x: [x[1], {"a": x[0]}])
    second, named = layer.compute_output_shape(((10, 10), (10, 20)))
    assert second.as_list() == [10, 20] and named["a"].as_list() == [10, 10]


def test_a_model_that_was_built_by_data_tells_its_shape_and_takes_more_layers(eagerly):
    model = tf.keras.Sequential([layers.Dense(3)])
    model.compile("sgd", "mse")
    model.fit(np.ones([2, 3]), np.ones([2, 3]), verbose=0)
    assert model.get_config()["build_input_shape"] == (None, 3)
    assert len(tf.keras.Sequential.from_config(model.get_config()).weights) == 2
    model.add(layers.Dense(4))
    model.compile("sgd", "mse")
    model.fit(np.ones([2, 3]), np.ones([2, 4]), verbose=0)
    assert len(model.weights) == 4


def test_weights_of_layers_come_before_those_of_the_model(eagerly):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.own = tf.Variable(1.0)
            self.inner = layers.Dense(1)

        def call(self, inputs):
            return self.inner(inputs) * self.own

    model = Own()
    model(tf.ones([1, 2]))
    assert [weight.shape.rank for weight in model.trainable_weights] == [2, 1, 0]


def test_models_that_need_more_than_inputs_cant_be_fitted():
    class Two(tf.keras.Model):
        def call(self, one, other):
            return one + other

    model = Two()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="can't be trained"):
        model.fit(np.ones([2, 2]), np.ones([2, 2]), verbose=0)


def test_variables_can_be_trained_on():
    model = tf.keras.Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    model.compile("sgd", "mse")
    x, y = K.zeros((4, 2)), K.zeros((4, 1))
    assert model.fit(x, y, steps_per_epoch=1, verbose=0).history["loss"] == [0.0]
    assert model.predict(x, steps=1).shape == (4, 1)
    assert model.train_on_batch(x, y) == 0.0


def test_rows_of_one_number_may_be_a_vector():
    x = tf.keras.Input(())
    model = tf.keras.Model(x, layers.Flatten()(x))
    np.testing.assert_array_equal(model.predict(np.array([1.0, 2.0])), [[1.0], [2.0]])


def test_lists_and_dicts_of_a_layer_are_wrapped_and_tuples_hide():
    class Holder(layers.Layer):
        def __init__(self):
            super().__init__()
            self.several, self.named, self.hidden = [layers.Dense(1)], {"a": layers.Dense(2)}, (layers.Dense(3),)

    holder = Holder()
    assert [type(x).__name__ for x in holder._layers] == ["ListWrapper", "_DictWrapper"]
    holder.several.append(layers.Dense(4))
    assert len(holder.several.layers) == 2 and holder._lookup_dependency("several") is holder.several


def test_a_tuple_keeps_variables_and_a_module_its_own():
    class Inner(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(1.0)

    class Holder(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner, self.pair = Inner(), (tf.Variable(1.0), tf.Variable(2.0, trainable=False))

    assert len(Holder().trainable_weights) == 1 and len(Holder().weights) == 2


def test_whether_layers_are_trained_is_noted_and_put_back():
    x = tf.keras.Input([2])
    model = tf.keras.Model(x, layers.Dense(1)(x))
    state = model._get_trainable_state()
    model.layers[1].trainable = False
    model._set_trainable_state(state)
    assert model.layers[1].trainable and len(state) == 3


def test_a_checkpoint_without_a_session_uses_that_of_keras(tmp_path):
    with tf.Graph().as_default():
        layer = layers.Layer()
        layer.held = {"x": tf.Variable(1.0, use_resource=True)}
        assert tf.train.Checkpoint(layer=layer).save(str(tmp_path / "model")).endswith("model-1")
    K.clear_session()


def test_a_call_of_a_classs_own_runs_once_for_a_model_drawn_beside_eager_execution():
    class Paired(layers.Layer):
        def call(self, inputs):
            return inputs + 1.0, inputs * 2.0

        def __call__(self, inputs):
            first, _ = super().__call__(inputs)
            return first

    with eager_mode():
        assert Paired()(tf.keras.Input([3])).shape.as_list() == [None, 3]
    K.clear_session()


def test_a_model_may_keep_its_layers_under_the_inner_name():
    class Chain(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self._layers = [layers.Dense(2), layers.Dense(3)]

        def call(self, inputs):
            for layer in self._layers:
                inputs = layer(inputs)
            return inputs

    chain = Chain()
    assert chain(tf.keras.Input([4])).shape.as_list() == [None, 3]
    assert len(chain.layers) == 2 and len(chain.weights) == 4


def test_objects_that_stand_for_tensors_draw_a_model_beside_eager_execution():
    class Stands:
        def __init__(self, tensor):
            self.tensor, self.shape, self.dtype = tensor, tensor.shape, tensor.dtype

    tf.register_tensor_conversion_function(Stands, lambda x, *_, **__: x.tensor)
    register_symbolic_tensor_type(Stands)
    with eager_mode():
        seen = []
        layer = layers.Lambda(lambda x: (seen.append(tf.executing_eagerly()), tf.convert_to_tensor(x) * 2.0)[1])
        layer(Stands(tf.constant([1.0])))
        layer(Stands(tf.keras.Input([3])))
        assert seen == [True, False]
    K.clear_session()


def test_a_function_that_says_a_shape_is_written_by_its_code():
    def shape(given):
        return given[0], 7

    config = layers.Lambda(lambda x: x, output_shape=shape).get_config()
    assert config["output_shape_type"] == "lambda"
    assert layers.Lambda.from_config(config).compute_output_shape((1, 4)).as_list() == [1, 7]
    config["output_shape"] = ("code of another program", None, None)
    assert layers.Lambda.from_config(config).compute_output_shape((1, 4)).as_list() == [1, 4]
