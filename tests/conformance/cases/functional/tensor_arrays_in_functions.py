"""Bodies of tf.function: TensorArrays are lists of tensors, ops with state have an order, branches and loops hand on identities."""

import numpy as np
import tensorflow as tf


def bodies(library):
    """The functions that a graph knows, by a name without numbers: nodes with their inputs."""
    found = {}
    for function in library.function:
        name = function.signature.name.rstrip("0123456789")
        nodes = [(n.name, n.op, list(n.input)) for n in function.node_def]
        arguments = [a.name for a in function.signature.input_arg], [a.name for a in function.signature.output_arg]
        found.setdefault(name, []).append((nodes, arguments))
    return {name: sorted(parts) for name, parts in sorted(found.items())}


def arrays(x):
    fixed = tf.TensorArray(tf.float32, size=3).write(0, 1.0).write(2, 2.0)
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
    rows = tf.TensorArray(tf.float32, size=3).unstack(x)
    return fixed.stack(), fixed.size(), fixed.gather([2, 0]), parts.concat(), parts.read(1), rows.read(2), rows.scatter([0], x[:1]).stack()


def growing(n):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    _, array = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, i * i)), (0, array))
    return array.stack()


def chosen(p):
    array = tf.TensorArray(tf.float32, size=2).write(0, 1.0)
    return tf.cond(p, lambda: array.write(1, 2.0), lambda: array).stack()


def derived(x):
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    return tf.gradients(array.gather([0, 2]) * 2.0 + array.read(1), x)[0]


def stateful(x):
    tf.debugging.assert_positive(x)
    y = tf.cond(x > 1.0, lambda: tf.py_func(lambda a: np.float32(a + 1.0), [x], tf.float32), lambda: x)
    return tf.py_func(lambda a: np.float32(a * 2.0), [y], tf.float32)


def run(out):
    for function, values in [
        (arrays, [[1.0, 2.0, 3.0]]),
        (growing, [1, 4]),
        (chosen, [True, False]),
        (derived, [[1.0, 2.0, 3.0]]),
        (stateful, [0.5, 2.0]),
    ]:
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            drawn = tf.function(function, autograph=False)
            out(function.__name__, [sess.run(drawn(tf.constant(v))) for v in values])
        with tf.Graph().as_default() as graph:
            tf.function(function, autograph=False)(tf.constant(values[-1]))
            out(function.__name__ + " bodies", bodies(graph.as_graph_def().library))
