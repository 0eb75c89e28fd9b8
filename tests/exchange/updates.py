"""Optimizers' steps, as data: the same source runs here and in TensorFlow 1.15.5. `updates.json` is what it gave.

`python updates.py` under TensorFlow's Python writes the file anew.
"""

import json
import os

import numpy as np
from draws import summary  # beside this file

FOLDER = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(FOLDER, "updates.json")
SIZE = 1003
STEPS = 3
OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.01),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, momentum=0.9),
    "centered rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(0.5),
}


def numbers(count, dtype):
    """Numbers of many sizes that any numpy makes with the same bits."""
    whole = (np.arange(1, count + 1, dtype=np.int64) * 2654435761) % 1000003 - 500000
    return (whole / 131072.0).astype(dtype)


def programs():
    """Name → function that gives the values of the variable and its slots after some steps."""
    found = {}
    for name, make in OPTIMIZERS.items():
        for dtype in ("float32", "float64"):
            for resource in (False, True):
                label = "{} {} {}".format(name, dtype, "resource" if resource else "ref")
                found[label] = lambda tf, config, m=make, d=dtype, r=resource: stepped(tf, config, m, d, r)
    return found


def stepped(tf, config, make, dtype, resource):
    drawn = numbers(SIZE * (STEPS + 1), dtype).reshape(STEPS + 1, SIZE)
    with tf.Graph().as_default() as graph:
        variable = tf.Variable(drawn[0], use_resource=resource)
        gradient = tf.placeholder(dtype, [SIZE])
        train = make(tf).apply_gradients([(gradient, variable)])
        with tf.Session(graph=graph, config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for values in drawn[1:]:
                sess.run(train, {gradient: values})
            return [sess.run(v) for v in tf.global_variables() if v.shape.as_list() == [SIZE]]


def recorded(tf):
    return {name: [summary(array) for array in run(tf, None)] for name, run in programs().items()}


if __name__ == "__main__":
    import tensorflow

    with open(GOLDEN, "w") as out:
        found = recorded(tensorflow)
        out.write(
            "{\n" + ",\n".join(json.dumps(name) + ": " + json.dumps(found[name]) for name in sorted(found)) + "\n}\n"
        )
