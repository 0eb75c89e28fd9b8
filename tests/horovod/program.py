"""What every process runs: a session, then Keras, as Horovod's documentation shows them."""

import json
import sys

import horovod.keras as hvd_keras
import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf
from tensorflow import keras

hvd.init()
RANK, SIZE = hvd.rank(), hvd.size()
tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(0)
X = rng.randn(32, 6).astype("f")
Y = (X @ rng.randn(6, 1)).astype("f")
found = {}

# --- a session ------------------------------------------------------------------------------
with tf.Graph().as_default():
    x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 1])
    # Processes begin with different values, until those of the first are everybody's.
    h = tf.layers.dense(x, 8, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=1 + RANK))
    table = tf.get_variable("table", initializer=[[0.5], [1.0]])
    predicted = tf.layers.dense(h, 1, kernel_initializer=tf.ones_initializer()) + tf.nn.embedding_lookup(table, [1])
    loss = tf.losses.mean_squared_error(y, predicted)
    opt = hvd.DistributedOptimizer(tf.train.AdagradOptimizer(0.05))
    train_op = opt.minimize(loss, global_step=tf.train.get_or_create_global_step())
    mean_loss = hvd.allreduce(loss)
    others = [
        hvd.allgather(tf.fill([RANK + 1], RANK)),
        tf.gradients(tf.reduce_sum(hvd.allreduce(x, average=False)), x)[0],
        tf.gradients(tf.reduce_sum(hvd.allgather(x) * 2.0), x)[0],
        hvd.broadcast(tf.constant([RANK == 1]), SIZE - 1),
    ]
    hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=6)]
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    losses, share = [], 8 // SIZE
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as mon_sess:
        values = mon_sess.run(others, {x: X[:1], y: Y[:1]})
        while not mon_sess.should_stop():
            start = len(losses) % 4 * 8 + RANK * share
            feed = {x: X[start : start + share], y: Y[start : start + share]}
            losses.append(float(mon_sess.run([mean_loss, train_op], feed)[0]))
    found["session"], found["others"] = losses, [np.asarray(v).tolist() for v in values]

# --- Keras ----------------------------------------------------------------------------------
model = keras.Sequential([keras.layers.Dense(8, "tanh", input_shape=(6,)), keras.layers.Dense(1)])
opt = hvd_keras.DistributedOptimizer(keras.optimizers.SGD(0.01 * SIZE, momentum=0.9))
model.compile(opt, "mse", metrics=["mae"])
callbacks = [
    hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
    hvd_keras.callbacks.MetricAverageCallback(),
    hvd_keras.callbacks.LearningRateWarmupCallback(warmup_epochs=2),
]
if RANK == 0:
    callbacks.append(keras.callbacks.ModelCheckpoint(f"{sys.argv[1]}/model.h5"))
history = model.fit(X[RANK::SIZE], Y[RANK::SIZE], batch_size=4, epochs=3, verbose=0, callbacks=callbacks)
found["keras"] = {name: [float(v) for v in values] for name, values in history.history.items()}
found["weights"] = float(np.sum(model.get_weights()[0]))
with tf.Graph().as_default(), tf.Session() as sess:
    # Orthogonal parts add up, equal ones stay, opposite ones of one length cancel.
    mine = tf.constant([[1.0, 0.0], [0.0, 2.0]][RANK % 2])
    same = tf.constant([1.0, 0.0])
    found["adasum"] = [*sess.run(hvd.allreduce(mine, op=hvd.Adasum)), *sess.run(hvd.allreduce(same, op=hvd.Adasum))]
    found["adasum"] = [float(v) for v in found["adasum"]]
found["arrays"] = [
    float(hvd_keras.allreduce(np.float32(RANK))),
    hvd_keras.allgather(np.arange(RANK + 1)).tolist(),
    float(hvd_keras.broadcast(np.float32(RANK + 5), 0)),
]
if RANK == 0:
    found["loaded"] = type(hvd_keras.load_model(f"{sys.argv[1]}/model.h5").optimizer).__name__
with open(f"{sys.argv[1]}/found-{RANK}.json", "w") as file:
    json.dump(found, file)
