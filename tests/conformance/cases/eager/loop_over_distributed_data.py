"""Loops over distributed datasets inside tf.function: sums, training, an end in the middle of a batch."""
import numpy as np
import tensorflow as tf

EAGER = True


def run(out):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    data = tf.data.Dataset.range(7).map(lambda x: (tf.cast([x], tf.float32), 2.0 * tf.cast([x], tf.float32))).batch(3)
    distributed = strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        weight = tf.Variable([[0.5]])

    def step(batch):
        x, y = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(x, weight) - y))
        weight.assign_sub(0.001 * tape.gradient(loss, weight))
        return loss

    @tf.function
    def epoch(elements):
        total, count = 0.0, 0
        for batch in elements:
            total += strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.experimental_run_v2(step, args=(batch,)), axis=None)
            count += 1
        return total, count

    for i in range(3):
        total, count = epoch(distributed)
        out("epoch %d" % i, [total.numpy(), count.numpy()], rtol=1e-4)
    out("weight", weight.numpy(), rtol=1e-4)

    @tf.function
    def first():
        return strategy.experimental_local_results(next(iter(distributed)))[0][0]

    out("first", first().numpy())
