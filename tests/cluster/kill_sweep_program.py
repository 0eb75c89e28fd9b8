"""What the members of the clusters of `kill_sweep` run: a linear fit whose right answer is known, trained in one of three ways.

    program.py WAY FOLDER LAST_STEP

Nothing in it knows of failures: it is what a user would write.
"""

import faulthandler
import json
import os
import signal
import sys
import time

import numpy as np
import tensorflow as tf

faulthandler.register(signal.SIGUSR1)  # the sweep asks a process that hangs where it is
tf.logging.set_verbosity(tf.logging.INFO)
way, folder, last_step = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.RandomState(0)
X = rng.randn(64, 4).astype("f")
Y = (X @ [[1.0], [-2.0], [3.0], [0.5]]).astype("f")
SAVE_STEPS = 10
# Asynchronous training has to come to the end of its way; a group's way is known for every step.
RATE = 0.002 if way == "group" else 0.1


def fit(x, y):
    """The loss, and a train op that also counts its steps in a variable that no error of rounding touches."""
    predicted = tf.layers.dense(x, 1, name="fit", kernel_initializer=tf.zeros_initializer())
    tally = tf.get_variable("tally", initializer=0.0, use_resource=True, aggregation=tf.VariableAggregation.MEAN)
    loss = tf.losses.mean_squared_error(y, predicted)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(RATE)
    with tf.control_dependencies([tally.assign_add(1.0, read_value=False)]):
        return loss, optimizer.minimize(loss, step)


class Slowly(tf.train.SessionRunHook):
    """Lets a step take a while, and notes the losses."""

    def __init__(self):
        self.losses = {}

    def before_run(self, context):
        loss, step = tf.get_collection(tf.GraphKeys.LOSSES)[-1], tf.train.get_global_step()
        return tf.train.SessionRunArgs([loss, step])

    def after_run(self, context, values):
        time.sleep(0.02)
        self.losses[int(values.results[1])] = float(values.results[0])


def monitored(task, cluster):
    server = tf.train.Server(cluster, task["type"], task["index"])
    if task["type"] == "ps":
        server.join()
    device = tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:{task['type']}/task:{task['index']}")
    with tf.device(device):
        _, train_op = fit(X, Y)
    hooks = [tf.train.StopAtStepHook(last_step=last_step), Slowly()]
    with tf.train.MonitoredTrainingSession(
        server.target,
        is_chief=task["type"] == "chief",
        checkpoint_dir=folder,
        hooks=hooks,
        save_checkpoint_steps=SAVE_STEPS,
        # A worker must not wait for workers that are being started again, only for the servers it uses.
        config=tf.ConfigProto(device_filters=["/job:ps", f"/job:{task['type']}/task:{task['index']}"]),
    ) as session:
        while not session.should_stop():
            session.run(train_op)


def model_fn(features, labels, mode):
    loss, train_op = fit(features, labels)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(input_context=None):
    count = input_context.num_input_pipelines if input_context else 1
    mine = input_context.input_pipeline_id if input_context else 0
    return tf.data.Dataset.from_tensors((X[mine::count], Y[mine::count])).repeat()


def estimator(strategy=None):
    config = tf.estimator.RunConfig(train_distribute=strategy, save_checkpoints_steps=SAVE_STEPS)
    made = tf.estimator.Estimator(model_fn, folder, config)
    slowly = Slowly()
    tf.estimator.train_and_evaluate(
        made,
        tf.estimator.TrainSpec(input_fn, max_steps=last_step, hooks=[slowly]),
        tf.estimator.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=1),
    )
    return slowly.losses


def main():
    place = json.loads(os.environ["TF_CONFIG"])
    if way == "monitored":
        monitored(place["task"], place["cluster"])
    elif way == "estimator":
        estimator()
    else:  # every worker the same: losses are those of one process, whatever happens
        losses = estimator(tf.distribute.experimental.MultiWorkerMirroredStrategy())
        with open(f"{folder}/losses-{place['task']['index']}-{os.getpid()}.json", "w") as file:
            json.dump(losses, file)


main()
