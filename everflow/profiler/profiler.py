"""`profile` and `Profiler`: look at what a graph holds, and at what its nodes took in traced steps."""

from __future__ import annotations

import json
import os
import sys

from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.platform import gfile
from everflow.profiler.advice import CHECKERS, advice_text
from everflow.profiler.model import Model, default_op_log
from everflow.profiler.options import ProfileOptionBuilder
from everflow.profiler.report import body, report
from everflow.profiler.views import VIEWS
from everflow.protos import tfprof_output_pb2

_ALL_ADVICE = {name: {} for name in CHECKERS}


def _graph_of(graph):
    return get_default_graph() if graph is None and not executing_eagerly() else graph


class Profiler:
    """Profiles of one graph over several steps.

    Args:
        graph: The graph; the default graph if None.
        op_log: An OpLogProto with more facts.

    Example:
        >>> y = tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]))
        >>> profiler = tf.profiler.Profiler(sess.graph)
        Parsing Inputs...
        >>> options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
        >>> profiler.profile_name_scope(options.with_empty_output().build()).total_float_ops
        48
    """

    def __init__(self, graph=None, op_log=None):
        self._graph = _graph_of(graph)
        self._model = Model(self._graph, op_log)

    def add_step(self, step, run_meta):
        """Take in the metadata of a traced run."""
        self._model.update(self._graph, run_meta=run_meta)
        self._model.add_step(step, run_meta)

    def profile_python(self, options):
        """By lines of code: a MultiGraphNodeProto."""
        return _profile(self._model, "code", options)

    def profile_operations(self, options):
        """By op type: a MultiGraphNodeProto."""
        return _profile(self._model, "op", options)

    def profile_name_scope(self, options):
        """By name scope: a GraphNodeProto."""
        return _profile(self._model, "scope", options)

    def profile_graph(self, options):
        """Along the graph: a GraphNodeProto."""
        return _profile(self._model, "graph", options)

    def advise(self, options):
        """What strikes the checkers named in the options, as an AdviceProto."""
        return _advise(self._model, options)

    def serialize_to_string(self):
        """All that is known, as the bytes of a ProfileProto."""
        return self._model.as_proto().SerializeToString()


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=0):
    """Look at a graph by scope, graph, op or code, with what a traced run took if its metadata is given. The default options
    show the sizes of trainable variables.

    Args:
        graph: The graph; the default graph if None.
        run_meta: The RunMetadata of a traced run.
        op_log: An OpLogProto with more facts.
        cmd: `scope`, `graph`, `op` or `code`.
        options: A dictionary of options.

    Returns:
        A GraphNodeProto, or MultiGraphNodeProto for `op` and `code`.

    Example:
        >>> v = tf.get_variable("v", [2, 3])
        >>> options = tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()
        >>> options["output"] = "none"
        >>> tf.profiler.profile(sess.graph, options=options).total_parameters
        Parsing Inputs...
        6
    """
    if options == 0:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    graph = _graph_of(graph)
    model = Model(graph, op_log, run_meta)
    if run_meta is not None:
        model.add_step(0, run_meta)
    return _profile(model, cmd, options)


def advise(graph=None, run_meta=None, options=0):
    """What strikes the checkers about a graph and a traced run, as an AdviceProto; it is printed too."""
    graph = _graph_of(graph)
    model = Model(graph, run_meta=run_meta)
    if run_meta is not None:
        model.add_step(0, run_meta)
    return _advise(model, _ALL_ADVICE if options == 0 else options)


def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Write float operations, trainable variables and code of a graph's nodes to `log_dir/tfprof_log`.

    Args:
        graph: The graph; the default graph if None.
        log_dir: The folder.
        op_log: An OpLogProto with more facts.
        run_meta: The RunMetadata of a traced run.
        add_trace: Whether the lines that made the nodes are written.

    Returns:
        None.

    Example:
        >>> tf.gfile.MakeDirs("logs")
        >>> tf.profiler.write_op_log(sess.graph, "logs")
        >>> tf.gfile.Exists("logs/tfprof_log")
        True
    """
    log = default_op_log(_graph_of(graph), op_log, run_meta, add_trace)
    with gfile.GFile(os.path.join(log_dir, "tfprof_log"), "wb") as f:
        f.write(log.SerializeToString())


def _profile(model, cmd, options):
    if cmd not in VIEWS:
        raise InvalidArgumentError(None, None, f"unknown cmd: {cmd}")
    options = {**ProfileOptionBuilder().build(), **options}
    kind, _, target = options["output"].partition(":outfile=")
    if kind in ("file", "timeline", "pprof") and not target:
        raise InvalidArgumentError(None, None, f"The output {kind!r} needs a file: {kind}:outfile=...")
    view = VIEWS[cmd](model, options)
    if kind == "stdout":
        sys.stdout.write(report(cmd, view, options))
    elif kind == "file":
        with gfile.GFile(target, "w") as f:
            f.write(body(cmd, view, options))
    elif kind == "timeline":
        _write_timeline(model, options["step"], target)
    elif kind == "pprof":
        raise UnimplementedError(
            None, None, "Everflow writes no pprof files yet; the code view as text or a timeline shows the same"
        )
    return view.proto()


def _write_timeline(model, step, path):
    """Every traced run of a node as an event, for Chrome's tracing page."""
    devices: dict[str, int] = {}
    events = []
    for node in model.nodes.values():
        for at in sorted(node.times) if step < 0 else [step]:
            for start, micros in node.times.get(at, ()):
                pid = devices.setdefault(node.device, len(devices))
                place = {"pid": pid, "tid": 0, "ts": start, "dur": micros}
                events.append({"args": {"name": node.name}, "cat": "Op", "name": node.name, "ph": "X", **place})
    names = [
        {"args": {"name": f"Op scheduling threads: {device}"}, "name": "process_name", "ph": "M", "pid": pid}
        for device, pid in devices.items()
    ]
    with gfile.GFile(f"{path}_{step}" if step >= 0 else path, "w") as f:
        f.write(json.dumps({"traceEvents": names + sorted(events, key=lambda event: event["ts"])}))


def _advise(model, options):
    advice = tfprof_output_pb2.AdviceProto()
    for name in options or ():
        if name in CHECKERS:  # others are passed over: TensorFlow has some that say nothing of one machine
            advice.checkers[name].reports.extend(CHECKERS[name](model))
    sys.stdout.write(advice_text(advice))
    return advice
