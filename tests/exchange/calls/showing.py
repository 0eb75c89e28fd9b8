"""Calls the public functions of namespaces and writes what each call showed: what it returned or raised, and its nodes.

This file runs under TensorFlow's interpreter too, so it is Python of that time: showing.py RESULT NAMESPACE ...
"""

import inspect
import json
import sys

NAMESPACES = [
    "", "audio", "bitwise", "compat.v2", "compat.v2.image", "compat.v2.math", "compat.v2.nn", "compat.v2.strings",
    "contrib.framework", "contrib.layers", "contrib.losses", "contrib.metrics", "debugging", "image", "io",
    "keras.activations", "keras.backend", "keras.losses", "layers", "linalg", "losses", "math", "metrics", "nn",
    "quantization", "random", "sets", "signal", "sparse", "strings", "summary", "train",
]  # fmt: skip

# What is given to functions, by a short name each.
VALUES = {
    "matrix": "[[1.0, 2.0], [3.0, 4.0]]",
    "vector": "[0.5, 0.25]",
    "ints": "[1, 0]",
    "int": "1",
    "float": "0.5",
    "strings": "['a', 'bc']",
    "bools": "[True, False]",
    "rows": "tf.placeholder(tf.float32, [None, 2])",
    "unknown": "tf.placeholder(tf.float32)",
    "images": "np.ones((1, 4, 4, 3), 'float32')",
    "ref": "tf.Variable([1.0, 2.0])",
    "resource": "tf.get_variable('v', [2], use_resource=True)",
}
ARGUMENTS = [
    *([name] for name in "matrix vector ints strings rows unknown images ref resource int".split()),
    *(pair.split() for pair in ("vector vector", "matrix matrix", "ints ints", "strings strings", "rows vector")),
    *(pair.split() for pair in ("vector int", "matrix ints", "images ints", "ints float", "unknown vector")),
    *(pair.split() for pair in ("ref vector", "resource vector")),
    *(three.split() for three in ("matrix matrix matrix", "vector vector vector", "ints ints int", "matrix int int")),
    *(three.split() for three in ("strings strings strings", "bools vector vector", "resource ints vector")),
    "vector float float".split(),
]

# Functions that change the process or its modes, wait, or touch files.
LEFT_OUT = ("clear_session", "disable_", "enable_", "load_", "reset_", "set_")
NOT_CALLED = {
    "control_dependencies", "device", "executing_eagerly", "function", "import_graph_def", "init_scope", "input_producer",
    "MonitoredTrainingSession", "name_scope", "numpy_function", "py_func", "py_function", "random_poisson",
    "register_tensor_conversion_function", "sdca_fprint", "start_queue_runners", "variable_scope", "wrap_function",
    "write_graph",
}  # fmt: skip


def functions(tf, namespace):
    """The names of a namespace's functions, from `tf` on."""
    path = ".".join(["tf"] + ([namespace] if namespace else []))
    module = eval(path, {"tf": tf})
    for name in sorted(dir(module)):
        if name.startswith("_") or name.startswith(LEFT_OUT) or name in NOT_CALLED:
            continue
        value = getattr(module, name)
        if callable(value) and not inspect.isclass(value) and not inspect.ismodule(value):
            yield path + "." + name


def show(tf, call, names):
    """(what a call gave or raised, the nodes that it left in a graph of its own)."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        try:
            outcome = plain(tf, eval(call, names))[:500]
        except Exception as e:
            outcome = type(e).__name__
        return outcome, [[n.name, n.op, list(n.input)] for n in graph.as_graph_def().node]


def plain(tf, value):
    """A result in words that both sides have."""
    if isinstance(value, tf.Tensor):
        return f"{value.name} {value.dtype.name} {value.shape}"
    if isinstance(value, tf.Operation):
        return value.name
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ", ".join(plain(tf, item) for item in value) + ")"
    if isinstance(value, (bool, bytes, float, int, str, type(None))):
        return repr(value)
    return type(value).__name__


def main():
    import numpy as np
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    found = {}
    for namespace in sys.argv[2:]:
        for function in functions(tf, namespace):
            for arguments in ARGUMENTS:
                call = "{}({})".format(function, ", ".join(VALUES[name] for name in arguments))
                found[call] = show(tf, call, {"tf": tf, "np": np})
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
