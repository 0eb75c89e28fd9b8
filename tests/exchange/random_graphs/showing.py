"""What programs show: the nodes of their graphs with those of functions, what is fetched, types of errors.

This file runs under TensorFlow's interpreter too, so it is Python of that time: it reads programs from standard input,
a line of JSON each, and writes what each showed to the file it is given, a line each.
"""

import json
import os
import re
import sys
import traceback

import numpy as np


def show(tf, program, run_with=None):
    """The outcome of a program: {"errors", "nodes", "values"}. `run_with` is the configuration of its sessions."""
    names = {"tf": tf, "np": np, "feeds": {}, "graphs": [], "fetched": []}
    errors = []
    graph = tf.Graph()
    try:
        with graph.as_default():
            if run_with is not None:  # what Keras runs of itself, too
                tf.keras.backend.set_session(tf.Session(graph=graph, config=run_with))
            tf.set_random_seed(program["seed"])
            np.random.seed(program["seed"])  # layers of Keras take seeds from it
            for line in program["lines"]:
                try:
                    exec(line, names)
                except Exception as e:
                    errors.append([line, type(e).__name__])
                    if os.environ.get("SHOWING_MESSAGES"):
                        print(line, "".join(traceback.format_exception_only(type(e), e))[:2000], file=sys.stderr)
            graphs = [nodes(tf, g) for g in [graph] + names["graphs"]]
            values = fetch(tf, graph, names, program, run_with)
    finally:
        tf.compat.v1.disable_control_flow_v2()
        tf.keras.backend.clear_session()
    return {"errors": errors, "nodes": [n for g in graphs for n in g], "values": values}


# --- graphs ----------------------------------------------------------------------------------


def nodes(tf, graph):
    """Lines of text, one for each node; functions stand where a node calls them."""
    definition = graph.as_graph_def()
    functions = {f.signature.name: f for f in definition.library.function}
    return [_node(tf, n, functions, ()) for n in definition.node]


def _node(tf, node, functions, within):
    attributes = [f"{k}={_attribute(tf, node, k, functions, within)}" for k in sorted(node.attr)]
    text = "{} {} [{}] {} {}".format(node.name, node.op, ", ".join(node.input), node.device, " ".join(attributes))
    if node.op in functions:
        text += " is " + _function(tf, node.op, functions, within)
    return text


def _attribute(tf, node, key, functions, within):
    value = node.attr[key]
    if value.HasField("tensor"):
        array = tf.make_ndarray(value.tensor)
        if array.dtype == object and "ssert" in node.name:
            return "words"  # messages of checks are each side's own
        return f"{array.dtype.name}{list(array.shape)}{_numbers(array)}"
    if value.HasField("func"):
        return _function(tf, value.func.name, functions, within)
    if value.list.func:
        return "[{}]".format("; ".join(_function(tf, f.name, functions, within) for f in value.list.func))
    if value.WhichOneof("value") == "f":
        return f"f: {value.f:.7g}"  # one side's protobuf shows more digits
    return " ".join(str(value).split())


def _function(tf, name, functions, within):
    """The name of a function without its number, what it takes and gives, and its nodes."""
    plain = re.sub(r"_\d+$", "", name)
    if name in within or name not in functions:
        return plain
    function = functions[name]
    inside = [_node(tf, n, functions, within + (name,)) for n in function.node_def]
    taken = [f"{a.name}:{a.type}" for a in function.signature.input_arg]
    given = [f"{a.name}:{a.type}={function.ret[a.name]}" for a in function.signature.output_arg]
    return "{}({}){{{}}}({})".format(plain, ", ".join(taken), "; ".join(inside), ", ".join(given))


def _numbers(array):
    return " ".join(repr(v) for v in array.ravel().tolist())


# --- values ----------------------------------------------------------------------------------


def fetch(tf, graph, names, program, run_with):
    """What the program's results are, and what it kept of itself in `fetched`; an error by its type."""
    found = {}
    with tf.Session(graph=graph, config=run_with) as sess:
        feeds = dict(names["feeds"].items())
        for start in (tf.global_variables_initializer, tf.local_variables_initializer, tf.tables_initializer):
            try:
                sess.run(start(), feeds)
            except Exception as e:
                found["start"] = type(e).__name__
        for key in program["results"]:
            if key not in names or names[key] is None:
                continue
            times = program["times"].get(key, 1)
            got = [_one(sess, names[key], feeds) for _ in range(times)]
            found[key] = got[0] if times == 1 else got
        for i, value in enumerate(names["fetched"]):
            found[f"fetched {i}"] = _plain(value)
    return found


def _one(sess, fetched, feeds):
    try:
        return _plain(sess.run(fetched, feeds))
    except Exception as e:
        if os.environ.get("SHOWING_MESSAGES"):
            print(fetched, str(e)[:600], file=sys.stderr)
        return type(e).__name__


def _plain(value):
    """A fetched value as JSON has it: arrays by dtype, shape and numbers."""
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "to_list"):
        return {"rows": _bytes_as_text(value.to_list()), "dtype": value.dtype.name}
    if isinstance(value, dict):
        return {"dict": sorted([str(k), _plain(v)] for k, v in value.items())}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return {"dtype": "text", "shape": list(array.shape), "numbers": [_text(v) for v in array.ravel().tolist()]}
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind not in "bui":
        array = array.astype(np.float64)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "numbers": [repr(v) for v in array.ravel().tolist()]}


def _text(value):
    return value.decode("latin1") if isinstance(value, bytes) else str(value)


def _bytes_as_text(value):
    if isinstance(value, list):
        return [_bytes_as_text(v) for v in value]
    return _text(value) if isinstance(value, bytes) else repr(value)


def main():
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    run_with = as_drawn(tf) if os.environ.get("SHOWING_AS_DRAWN") else None
    with open(sys.argv[1], "a") as file:
        for line in sys.stdin:
            program = json.loads(line)
            print(json.dumps([program["name"], show(tf, program, run_with)]), file=file, flush=True)


def as_drawn(tf):
    """A configuration of sessions that run graphs as they are, without TensorFlow's optimizers."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    return config


if __name__ == "__main__":
    main()
