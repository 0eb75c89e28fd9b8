"""tf.profiler: parameters, float operations and traced steps, by scope, graph, op type and line of code."""

import json

import numpy as np
import pytest

import everflow as tf
from everflow.profiler.statistics import OpStats, RegisterStatistics
from everflow.protos import tfprof_log_pb2

Builder = tf.profiler.ProfileOptionBuilder


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        with tf.variable_scope("net"):
            w = tf.get_variable("w", initializer=np.ones((3, 4), np.float32))
            h = tf.matmul(x, w, name="product")
            tf.reduce_sum(tf.tanh(h, name="squash"), name="sum")
            tf.get_variable("count", [], trainable=False, initializer=tf.zeros_initializer())
        yield graph


def traced(graph, options=None):
    metadata = tf.RunMetadata()
    with tf.Session(graph=graph) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run("net/sum:0", {"x:0": np.ones((2, 3))}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    return metadata


def test_report_of_parameters(graph, capsys):
    root = tf.profiler.profile(graph)
    assert root.total_parameters == 12
    text = capsys.readouterr().out
    assert "-account_type_regexes       _trainable_variables\n" in text
    assert (
        "node name | # parameters\n_TFProfRoot (--/12 params)\n  net (--/12 params)\n    net/w (3x4, 12/12 params)\n"
        in text
    )


def test_table_of_op_types(graph, capsys):
    message = tf.profiler.profile(graph, cmd="op", options=Builder.float_operation())
    assert message.total_float_ops == 55 and message.children[0].name == "MatMul"
    text = capsys.readouterr().out
    assert (
        "\nMatMul                   48 float_ops (100.00%, 87.27%)\nSum                        7 float_ops (12.73%, 12.73%)\n"
        in text
    )


def test_graph_view_has_each_node_once(graph):
    options = Builder().select(["params"]).with_empty_output().build()
    root = tf.profiler.profile(graph, cmd="graph", options=options)
    names = []
    stack = list(root.children)
    while stack:
        node = stack.pop()
        names.append(node.name)
        stack += node.children
    assert sorted(names) == sorted(op.name for op in graph.get_operations())
    (total,) = (child for child in root.children if child.name == "net/sum")
    assert total.total_parameters == 18


def test_code_view_finds_this_file(graph):
    options = Builder(Builder.float_operation()).with_empty_output().with_max_depth(100).build()
    message = tf.profiler.profile(graph, cmd="code", options=options)
    assert message.total_float_ops == 55
    found = []
    stack = list(message.children)
    while stack:
        entry = stack.pop()
        found.append(entry.name)
        stack += entry.children
    assert any(name.startswith("test_profiler.py:") and name.endswith(":graph") for name in found)


def test_steps(graph, tmp_path):
    profiler = tf.profiler.Profiler(graph)
    for step in (0, 1):
        profiler.add_step(step, traced(graph))
    quiet = Builder(Builder.time_and_memory()).with_empty_output()
    assert profiler.profile_name_scope(quiet.build()).total_exec_micros > 0
    assert profiler.profile_name_scope(quiet.with_step(1).build()).total_exec_micros > 0
    profile = tfprof_log_pb2.ProfileProto.FromString(profiler.serialize_to_string())
    assert list(profile.steps) == [0, 1]
    assert {node.name for node in profile.nodes.values()} >= {"net/w", "net/sum"}
    path = str(tmp_path / "timeline")
    profiler.profile_graph(Builder().with_step(0).with_timeline_output(path).build())
    assert any(event["ph"] == "X" for event in json.loads((tmp_path / "timeline_0").read_text())["traceEvents"])
    advice = profiler.advise({"ExpensiveOperationChecker": {}})
    assert "top 1 operation type" in advice.checkers["ExpensiveOperationChecker"].reports[0]


def test_metadata_gives_shapes_to_count_with():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.square(tf.nn.relu(x), name="y")
        options = Builder(Builder.float_operation()).with_empty_output().build()
        assert tf.profiler.profile(graph, options=options).total_float_ops == 0
        metadata = tf.RunMetadata()
        sess.run(y, {x: np.ones((5, 4))}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
        assert tf.profiler.profile(graph, metadata, options=options).total_float_ops == 20


def test_statistics_of_ones_own_op_type():
    @RegisterStatistics("Digamma", "flops")
    def _digamma(graph, node):
        return OpStats("flops", 1000)

    with tf.Graph().as_default() as graph:
        tf.digamma([1.0, 2.0])
        options = Builder(Builder.float_operation()).with_empty_output().build()
        assert tf.profiler.profile(graph, options=options).total_float_ops == 1000
    with pytest.raises(KeyError):
        RegisterStatistics("Digamma", "flops")(_digamma)
    total = OpStats("flops", 1)
    total += OpStats("flops", 2)
    assert total.value == 3


def test_op_log(graph, tmp_path):
    tf.profiler.write_op_log(graph, str(tmp_path))
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in log.log_entries}
    assert entries["net/product"].float_ops == 48
    assert list(entries["net/w"].types) == ["_trainable_variables"] and not entries["net/count"].types


def test_profile_context(graph, tmp_path):
    with tf.contrib.tfprof.ProfileContext(str(tmp_path), trace_steps=[1], dump_steps=[2]) as context:
        context.add_auto_profiling("scope", Builder().with_empty_output().build(), [1])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run("net/sum:0", {"x:0": np.ones((2, 3))})
    assert [path.name for path in tmp_path.iterdir()] == ["profile_2"]
    assert context.get_profiles("scope")[0].total_run_count > 0
    with pytest.raises(ValueError, match="No autoprofiler"):
        context.get_profiles("op")


def test_wrong_arguments(graph):
    for change, error in [
        ({"cmd": "views"}, tf.errors.InvalidArgumentError),
        ({"options": Builder().with_node_names(show_name_regexes=["("]).build()}, tf.errors.InvalidArgumentError),
    ]:
        with pytest.raises(error):
            tf.profiler.profile(graph, **change)


def test_model_analysis_under_its_first_name(capsys):
    analyzer = tf.contrib.tfprof.model_analyzer
    with tf.Graph().as_default() as graph:
        tf.get_variable("w", [2, 3])
        stats = analyzer.print_model_analysis(graph, tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert stats.total_parameters == 6 and "w (2x3, 6/6 params)" in capsys.readouterr().out


def test_a_profiler_says_that_it_reads_its_inputs(graph, capsys):
    tf.profiler.Profiler(graph)
    assert capsys.readouterr().out == "Parsing Inputs...\n"


def test_it_says_so_once_however_much_is_asked(graph, capsys):
    profiler = tf.profiler.Profiler(graph)
    profiler.advise({"OperationChecker": {}})
    options = tf.profiler.ProfileOptionBuilder().with_empty_output().build()
    profiler.profile_name_scope(options)
    assert capsys.readouterr().out.count("Parsing Inputs...") == 1
    tf.profiler.profile(graph, options=tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())
    assert capsys.readouterr().out.count("Parsing Inputs...") == 1
