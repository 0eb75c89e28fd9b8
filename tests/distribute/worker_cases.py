"""What every worker runs for `test_cases_of_workers`: models of Keras and Estimators of many kinds, and their losses as JSON.

worker_cases.py FOLDER CASE...
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
layers = tf.keras.layers
rng = np.random.RandomState(0)
X = rng.randn(32, 6).astype("f")
Y = (X @ rng.randn(6, 1)).astype("f")
CLASSES = rng.randint(3, size=32)
IMAGES = rng.rand(32, 8, 8, 2).astype("f")
WORDS = rng.randint(11, size=(32, 7))
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
WORKERS, INDEX = strategy.extended.num_workers, strategy.extended.worker_index
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def seeded(number):
    return {"kernel_initializer": tf.glorot_uniform_initializer(seed=number)}


def numbers(history):
    return [float(value) for name in sorted(history.history) for value in history.history[name]]


def fitted(make, x, y, optimizer, loss, evaluated=True, **options):
    """The losses and metrics of a model's training, and what it says afterwards."""
    metrics = options.pop("metrics", None)
    compiled = {name: options.pop(name) for name in ("loss_weights",) if name in options}
    with strategy.scope():
        model = make()
        model.compile(optimizer(), loss, metrics=metrics, **compiled)
    options = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0, **options}
    found = numbers(model.fit(x, y, **options))
    if evaluated:
        found += np.ravel(model.evaluate(x, y, batch_size=8, verbose=0)).tolist()
    return found + [float(np.sum(np.abs(w))) for w in model.get_weights()]


@case
def classifier():
    def make():
        return tf.keras.Sequential(
            [layers.Dense(8, "relu", input_shape=(6,), **seeded(1)), layers.Dense(3, "softmax", **seeded(2))]
        )

    return fitted(make, X, CLASSES, tf.keras.optimizers.Adam, "sparse_categorical_crossentropy", metrics=["accuracy"])


@case
def convolutions():
    def make():
        return tf.keras.Sequential(
            [
                layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 2), **seeded(1)), layers.MaxPooling2D(),
                layers.Flatten(), layers.Dense(3, **seeded(2)),
            ]
        )  # fmt: skip

    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return fitted(make, IMAGES, CLASSES, lambda: tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), loss)


@case
def recurrent():
    def make():
        recurrent = tf.keras.initializers.Orthogonal(seed=3)
        return tf.keras.Sequential(
            [
                layers.Embedding(11, 4, mask_zero=True, embeddings_initializer=tf.random_uniform_initializer(seed=1)),
                layers.LSTM(5, recurrent_initializer=recurrent, **seeded(2)), layers.Dense(1, **seeded(4)),
            ]
        )  # fmt: skip

    return fitted(make, WORDS, Y, tf.keras.optimizers.RMSprop, "mse", metrics=["mae"])


@case
def two_inputs_and_outputs():
    def make():
        a, b = tf.keras.Input((6,)), tf.keras.Input((7,))
        joined = layers.concatenate([layers.Dense(4, "tanh", **seeded(1))(a), layers.Dense(4, "tanh", **seeded(2))(b)])
        return tf.keras.Model(
            [a, b],
            [layers.Dense(1, name="p", **seeded(3))(joined), layers.Dense(3, "softmax", name="q", **seeded(4))(joined)],
        )

    losses = {"p": "mse", "q": "sparse_categorical_crossentropy"}
    return fitted(
        make, [X, WORDS.astype("f")], [Y, CLASSES], tf.keras.optimizers.Adagrad, losses, loss_weights=[1.0, 0.3]
    )


@case
def regularizers_and_constraints():
    def make():
        kept = {
            "kernel_regularizer": tf.keras.regularizers.l1_l2(0.01, 0.02),
            "kernel_constraint": tf.keras.constraints.MaxNorm(1.5),
        }
        return tf.keras.Sequential(
            [
                layers.Dense(8, "elu", input_shape=(6,), **kept, **seeded(1)),
                layers.LayerNormalization(),
                layers.Dense(1, **seeded(2)),
            ]
        )

    return fitted(make, X, Y, tf.keras.optimizers.Nadam, "mean_absolute_error")


@case
def subclassed():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.last = layers.Dense(8, "tanh", **seeded(1)), layers.Dense(1, **seeded(2))

        def call(self, inputs):
            return self.last(self.first(inputs))

    return fitted(Model, X, Y, lambda: tf.keras.optimizers.Adam(0.01, amsgrad=True), tf.keras.losses.Huber())


@case
def from_a_dataset():
    data = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(8, drop_remainder=True)
    with strategy.scope():
        model = tf.keras.Sequential(
            [layers.Dense(8, "tanh", input_shape=(6,), **seeded(1)), layers.Dense(1, **seeded(2))]
        )
        model.compile(tf.keras.optimizers.SGD(0.05), "mse")
    return numbers(model.fit(data, epochs=2, steps_per_epoch=4, verbose=0))


@case
def with_callbacks():
    def make():
        return tf.keras.Sequential([layers.Dense(1, input_shape=(6,), **seeded(2))])

    rates = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (1 + epoch))
    stopping = tf.keras.callbacks.EarlyStopping("loss", min_delta=100.0, patience=1)
    return fitted(make, X, Y, lambda: tf.keras.optimizers.SGD(0.1), "mse", callbacks=[rates, stopping], epochs=5)


# --- Estimators -------------------------------------------------------------------------------

COLUMN = tf.feature_column.numeric_column("x", shape=[6])


class Watch(tf.train.SessionRunHook):
    """Notes the losses."""

    def __init__(self):
        self.losses = []

    def before_run(self, context):
        return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[-1])

    def after_run(self, context, values):
        self.losses.append(float(values.results))


def trained(name, kind, labels, **options):
    def input_fn(input_context=None):
        count = WORKERS if input_context is not None else 1
        data = tf.data.Dataset.from_tensor_slices(({"x": X}, labels)).repeat().batch(8 // count)
        if input_context is not None:  # a worker takes its part of every joint batch
            data = data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
        return data

    mean = {"loss_reduction": tf.losses.Reduction.SUM_OVER_BATCH_SIZE}
    # Where random weights begin depends on how many nodes a graph has, so all begin with those of a plain one.
    beginning = f"{folder}/{name}-beginning-{WORKERS}-{INDEX}"
    place = os.environ.pop("TF_CONFIG", None)
    plain = kind(model_dir=beginning, config=tf.estimator.RunConfig(tf_random_seed=1), **mean, **options)
    plain.train(input_fn, steps=1)
    if place is not None:
        os.environ["TF_CONFIG"] = place
    config = tf.estimator.RunConfig(train_distribute=strategy)
    made = kind(model_dir=f"{folder}/{name}-{WORKERS}", config=config, warm_start_from=beginning, **mean, **options)
    watch = Watch()
    train = tf.estimator.TrainSpec(input_fn, max_steps=6, hooks=[watch])
    tf.estimator.train_and_evaluate(made, train, tf.estimator.EvalSpec(input_fn, steps=1))
    return watch.losses


@case
def dnn_classifier():
    options = {"hidden_units": [8, 4], "feature_columns": [COLUMN], "n_classes": 3}
    return trained(
        "dnn_classifier", tf.estimator.DNNClassifier, CLASSES, optimizer=lambda: tf.train.AdamOptimizer(0.01), **options
    )


@case
def linear_regressor():
    return trained(
        "linear",
        tf.estimator.LinearRegressor,
        Y,
        optimizer=lambda: tf.train.GradientDescentOptimizer(0.05),
        feature_columns=[COLUMN],
    )


@case
def wide_and_deep():
    options = {"linear_feature_columns": [COLUMN], "dnn_feature_columns": [COLUMN], "dnn_hidden_units": [5]}
    rates = {
        "linear_optimizer": lambda: tf.train.GradientDescentOptimizer(0.05),
        "dnn_optimizer": lambda: tf.train.AdagradOptimizer(0.05),
    }
    return trained("wide", tf.estimator.DNNLinearCombinedRegressor, Y, **options, **rates)


folder, *wanted = sys.argv[1:]
with open(f"{folder}/losses-{WORKERS}-{INDEX}.json", "w") as file:
    json.dump({name: CASES[name]() for name in wanted or CASES}, file)
