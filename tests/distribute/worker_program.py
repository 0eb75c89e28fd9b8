"""What every worker runs: each way of training a model, and its losses as JSON."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(0)
X = rng.randn(32, 6).astype("f")
Y = (X @ rng.randn(6, 1)).astype("f")
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
WORKERS, INDEX = strategy.extended.num_workers, strategy.extended.worker_index


def model(x, dense):
    h = dense(8, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=1))(x)
    return dense(1, kernel_initializer=tf.glorot_uniform_initializer(seed=2))(h)


def by_session():
    with tf.Graph().as_default(), strategy.scope():
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(8))
        optimizer = tf.train.MomentumOptimizer(0.01, 0.9)

        def step(batch):
            x, y = batch
            loss = tf.reduce_sum(tf.square(model(x, tf.layers.Dense) - y)) / 8.0
            with tf.control_dependencies([optimizer.minimize(loss, tf.train.get_or_create_global_step())]):
                return tf.identity(loss)

        loss = strategy.reduce("SUM", strategy.experimental_run_v2(step, (iterator.get_next(),)), axis=None)
        scaffold = tf.train.Scaffold(local_init_op=iterator.initialize())
        with tf.train.MonitoredTrainingSession(scaffold=scaffold) as sess:
            return [float(sess.run(loss)) for _ in range(6)]


def by_keras():
    with strategy.scope():
        made = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(
                    8, "tanh", input_shape=(6,), kernel_initializer=tf.glorot_uniform_initializer(seed=1)
                ),
                tf.keras.layers.Dense(1, kernel_initializer=tf.glorot_uniform_initializer(seed=2)),
            ]
        )
        made.compile("adam", "mse", metrics=["mae"])
    saving = [tf.keras.callbacks.ModelCheckpoint(f"{folder}/keras-{INDEX}.h5")]
    history = made.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0, validation_data=(X, Y), callbacks=saving)
    return [float(value) for name in sorted(history.history) for value in history.history[name]]


def by_estimator(folder):
    def input_fn(input_context=None):
        data = tf.data.Dataset.from_tensor_slices((X, Y))
        data = data.repeat().batch(8 // WORKERS)
        if input_context is not None:  # a worker takes its part of every joint batch
            data = data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
        return data

    losses = []

    class Watch(tf.train.SessionRunHook):
        def before_run(self, context):
            for name, signal in (("kill", 9), ("stop", 19)):
                if os.path.exists(f"{folder}/{name}") and INDEX == WORKERS - 1 and len(losses) == 6:
                    os.remove(f"{folder}/{name}")
                    os.kill(os.getpid(), signal)
            return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[-1])

        def after_run(self, context, values):
            losses.append(float(values.results))

    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, model(features, tf.layers.Dense))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    config = tf.estimator.RunConfig(train_distribute=strategy, save_checkpoints_steps=4)
    estimator = tf.estimator.Estimator(model_fn, f"{folder}/model", config)
    train = tf.estimator.TrainSpec(input_fn, max_steps=8, hooks=[Watch()])
    tf.estimator.train_and_evaluate(estimator, train, tf.estimator.EvalSpec(input_fn, steps=1))
    return losses


folder, *wanted = sys.argv[1:]
ways = {"session": by_session, "keras": by_keras, "estimator": lambda: by_estimator(folder)}
with open(f"{folder}/losses-{WORKERS}-{INDEX}.json", "w") as file:
    json.dump({name: ways[name]() for name in wanted}, file)
