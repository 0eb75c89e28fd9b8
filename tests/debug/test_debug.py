"""Dumps of runs: what is watched, written and found again; the terminal; gradients of marked tensors."""

import glob
import re

import numpy as np
import pytest

import everflow as tf
from everflow import debug as tf_debug


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        v = tf.Variable([1.0, 2.0, 4.0], name="v")
        tf.reduce_sum(tf.log(tf.divide(x, v, name="ratio"), name="log"), name="total")
        yield graph


def session(graph):
    sess = tf.Session(graph=graph)
    sess.run(tf.global_variables_initializer())
    return sess


def dumped(graph, folder, feed, **kwargs):
    sess = tf_debug.DumpingDebugWrapperSession(session(graph), folder, log_usage=False, **kwargs)
    sess.run("total:0", {"x:0": feed})
    return tf_debug.DebugDumpDir(glob.glob(f"{folder}/run_*")[0])


def test_every_tensor_is_dumped_and_found(graph, tmp_path):
    dump = dumped(graph, str(tmp_path / "d"), [0.0, 2.0, 4.0])
    assert {"v", "v/read", "ratio", "log", "total"} <= {datum.node_name for datum in dump.dumped_tensor_data}
    np.testing.assert_array_equal(dump.get_tensors("ratio", 0, "DebugIdentity")[0], [0.0, 1.0, 1.0])
    assert [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan)] == ["log", "total"]
    assert dump.find_some_path("v", "total") == ["v", "v/read", "ratio", "log", "total"]
    assert dump.transitive_inputs("log") == ["ratio", "x", "v/read", "v"] or "v" in dump.transitive_inputs("log")
    assert dump.core_metadata.output_names == ["total:0"]
    assert "total" in dump.run_fetches_info and "x:0" in dump.run_feed_keys_info
    assert dump.devices() == ["/job:localhost/replica:0/task:0/device:CPU:0"]
    with pytest.raises(ValueError, match="nowhere"):
        dump.get_tensors("nowhere", 0, "DebugIdentity")
    with pytest.raises(LookupError):
        dump.node_traceback("log")
    dump.set_python_graph(graph)
    assert any(frame[0] == __file__ for frame in dump.node_traceback("log"))


def test_watches_choose(graph, tmp_path):
    options = tf_debug.WatchOptions(debug_ops=["DebugNanCount", "DebugNumericSummary"], node_name_regex_whitelist="log")
    dump = dumped(graph, str(tmp_path / "d"), [-1.0, 2.0, 0.0], watch_fn=lambda fetches, feeds: options)
    assert dump.debug_watch_keys("log") == ["log:0:DebugNanCount", "log:0:DebugNumericSummary"]
    assert dump.get_tensors("log", 0, "DebugNanCount")[0] == 1
    summary = dump.get_tensors("log", 0, "DebugNumericSummary")[0]
    np.testing.assert_array_equal(summary, [1, 3, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 3])
    watched = tf.RunOptions()
    tf_debug.watch_graph_with_blacklists(
        watched, graph, debug_urls="file:///tmp", op_type_regex_blacklist="Variable|Const|Assign|NoOp"
    )
    assert "v" not in {watch.node_name for watch in watched.debug_options.debug_tensor_watch_opts}


def test_a_failing_run_leaves_what_came_before(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3], name="x")
        tf.check_numerics(tf.log(x, name="log"), "oh no", name="total")
        wrapped = tf_debug.DumpingDebugWrapperSession(
            session(graph), str(tmp_path / "d"), pass_through_operrors=True, log_usage=False
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="oh no"):
            wrapped.run("total:0", {"x:0": [0.0, 1.0, 1.0]})
        dump = tf_debug.DebugDumpDir(glob.glob(str(tmp_path / "d" / "run_*"))[0])
        assert [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan)] == ["log"]


def test_hook(graph, tmp_path):
    hook = tf_debug.DumpingDebugHook(str(tmp_path / "d"), log_usage=False)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run("total:0", {"x:0": [1.0, 1.0, 1.0]})
        sess.run("total:0", {"x:0": [1.0, 1.0, 1.0]})
    assert len(glob.glob(str(tmp_path / "d" / "run_*"))) == 2


def test_terminal(graph, tmp_path, monkeypatch, capsys):
    typed = iter(
        ["help", "run -f has_inf_or_nan", "lt -f has_inf_or_nan", "pt log:0", "ni log", "pt nowhere:0", "run", "exit"]
    )
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    sess = tf_debug.LocalCLIDebugWrapperSession(session(graph), dump_root=str(tmp_path / "made"), log_usage=False)
    assert sess.run("total:0", {"x:0": [1.0, 2.0, 4.0]}) == 0.0
    assert sess.run("total:0", {"x:0": [0.0, 2.0, 4.0]}) == -np.inf
    text = capsys.readouterr().out
    assert "-inf" in text and "Op: Log" in text and "ERROR" in text
    assert (
        sess.run("total:0", {"x:0": [0.0, 2.0, 4.0]}) == -np.inf
    )  # `run` went for this one, and `exit` is for the next
    with pytest.raises(SystemExit):
        sess.run("total:0", {"x:0": [0.0, 2.0, 4.0]})
    assert not list((tmp_path / "made").iterdir())
    with pytest.raises(ValueError, match="non-empty"):
        tf_debug.LocalCLIDebugWrapperSession(session(graph), dump_root=str(tmp_path))


@pytest.mark.parametrize(
    "command, wanted",
    [
        (
            "lt -n lo.* -s tensor_name",
            r"1 dumped tensor\(s\):\nNode name regex filter: \"lo.\*\"\n\nt \(ms\) .*\n\[\d+\.\d{3}\] .*Log .*log:0",
        ),
        (
            "pt log:0 -s",
            r"Numeric summary:\n\| -inf +- +0 \| total \|\n\| +1 +1 +1 \| +3 \|\n\| +min +max +mean +std \|",
        ),
        ("pt log:0[1]", r'Tensor "log:0:DebugIdentity\[1\]":\n\n-0.693'),
        ("pt log:0 -r [0,1]", r"Highlighted\(\[0,1\]\): 1 of 3 element"),
        ("pt log:0[__import__('os')]", "ERROR: Invalid tensor-slicing"),
        ("pt", 'Syntax error for command: pt\nFor help, do "help pt"'),
        (
            "ni -a -d -t log",
            r"Node log\n\n  Op: Log\n  Device: .*CPU:0\n\n  1 input(.|\n)*  T:\n    type: DT_FLOAT(.|\n)*Slot 0 @ DebugIdentity(.|\n)*test_debug.py",
        ),
        ("li -r total", r'Inputs to node "total" \(Depth limit = 20\):\n\|- \(1\) log'),
        ("lo -t log", r"\|- \(1\) \[Sum\] total"),
        ('eval "np.isfinite(`log:0`).sum()"', r"\n2\n"),
        ("pf x:0", r'Tensor "x:0 \(feed\)":\n\n\[0.0, 1.0, 4.0\]'),
        ("ri", r"Fetch\(es\):\n  total:0\n\nFeed dict:\n  x:0"),
        ("help lt", "list_tensors\n  Aliases: lt"),
        ("nonsense", 'ERROR: Invalid command prefix "nonsense"'),
    ],
)
def test_commands(graph, monkeypatch, capsys, command, wanted):
    typed = iter(["run", command, "run -n"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    sess = tf_debug.LocalCLIDebugWrapperSession(session(graph), log_usage=False)
    sess.run("total:0", {"x:0": [0.0, 1.0, 4.0]})
    assert re.search(wanted, capsys.readouterr().out.partition("run-end: run #1: 1 fetch (total:0); 1 feed (x:0)")[2])
    sess.run("total:0", {"x:0": [0.0, 1.0, 4.0]})


def test_every_so_many_runs(graph, monkeypatch, capsys):
    typed = iter(["run -t 3", "exit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    sess = tf_debug.LocalCLIDebugWrapperSession(session(graph), log_usage=False)
    for _ in range(3):
        sess.run("total:0", {"x:0": [1.0, 1.0, 4.0]})
    assert capsys.readouterr().out.count("run-end: run #3") == 1


def test_gradients_of_marked_tensors():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(3.0)
        debugger = tf_debug.GradientsDebugger()
        y = tf.square(debugger.identify_gradient(x) * 2.0)
        with debugger:
            tf.gradients(y, x)
        assert sess.run(debugger.gradient_tensor(x)) == 24.0
        with pytest.raises(LookupError):
            debugger.gradient_tensor(y)


def test_roots_must_be_new(graph, tmp_path):
    (tmp_path / "file").write_text("here")
    with pytest.raises(ValueError, match="non-empty"):
        tf_debug.DumpingDebugWrapperSession(session(graph), str(tmp_path))
    with pytest.raises(OSError, match="exist"):
        tf_debug.DebugDumpDir(str(tmp_path / "nowhere"))
    with pytest.raises(tf.errors.UnimplementedError):
        options = tf.RunOptions()
        tf_debug.add_debug_tensor_watch(options, "log", debug_urls="ftp://localhost")
        session(graph).run("total:0", {"x:0": [1.0, 1.0, 1.0]}, options=options)
