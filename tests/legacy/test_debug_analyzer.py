"""`debug.cli.analyzer_cli`: the dump of a run, asked about by commands."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: off
from tensorflow.python.debug.cli import analyzer_cli, cli_config, debugger_cli_common
from tensorflow.python.debug.lib import debug_data, debug_utils
# isort: on


def _menu(output):
    items = output.annotations[debugger_cli_common.MAIN_MENU_KEY]
    return {caption: items.caption_to_item(caption).content for caption in items.captions()}


def _command_behind(output, line, segment=-1):
    attr = output.font_attr_segs[line][segment][2]
    return next(one.content for one in (attr if isinstance(attr, list) else [attr]) if hasattr(one, "content"))


def _dump_of_run(folder, fetches, feed_dict=None):
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        debug_utils.watch_graph(options, sess.graph, debug_urls=f"file://{folder}")
        sess.run(fetches, feed_dict, options=options, run_metadata=metadata)
    dump = debug_data.DebugDumpDir(str(folder), partition_graphs=metadata.partition_graphs)
    dump.set_python_graph(tf.get_default_graph())
    return dump


@pytest.fixture
def asked(tmp_path):
    def analyzer(fetches, feed_dict=None):
        config = cli_config.CLIConfig(config_file_path=str(tmp_path / "config"))
        return analyzer_cli.DebugAnalyzer(_dump_of_run(tmp_path / "dump", fetches, feed_dict), config)

    with tf.Graph().as_default():
        yield analyzer


def test_a_table_of_tensors(asked):
    v = tf.Variable([[2.0], [-1.0]], name="v")
    analyzer = asked(tf.add(v, v, name="sum"))
    output = analyzer.list_tensors(["-s", "tensor_name", "-t", "(Add|Identity)"])
    assert output.lines[:3] == ["2 dumped tensor(s):", 'Op type regex filter: "(Add|Identity)"', ""]
    assert [line.split()[-2:] for line in output.lines[4:]] == [["Add", "sum:0"], ["Identity", "v/read:0"]]
    assert _command_behind(output, 3) == "list_tensors -t (Add|Identity) -s tensor_name -r"
    assert _command_behind(output, 4) == "pt sum:0"
    assert not _menu(output)["node_info"]
    with pytest.raises(ValueError, match="sorted"):
        analyzer.list_tensors(["-s", "colour"])


def test_filters_of_tensors(asked):
    v = tf.Variable([[2.0], [-1.0]], name="v")
    analyzer = asked(tf.reduce_sum(v, name="sum"))
    analyzer.add_tensor_filter("column", lambda datum, tensor: tensor.shape == (2, 1))
    assert analyzer.list_tensors(["-f", "column"]).lines[0] == '2 dumped tensor(s) passing filter "column":'
    assert analyzer.list_tensors(["-f", "column", "-fenn", ".*read"]).lines[0][0] == "1"
    assert "no tensor filter" in analyzer.list_tensors(["-f", "row"]).lines[0]
    with pytest.raises(TypeError):
        analyzer.add_tensor_filter("row", 3)


def test_a_node_and_its_neighbours(asked):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, x, name="y")
    with tf.control_dependencies([y]):
        z = tf.identity(x, name="z")
    analyzer = asked(tf.multiply(y, z, name="w"), {x: [1.0, 2.0]})
    output = analyzer.node_info(["-a", "-d", "-t", "z:0"])
    assert output.lines[:3] == ["Node z", "", "  Op: Identity"]
    counts = [line for line in output.lines if " + " in line]
    assert counts == ["  1 input(s) + 1 control input(s):", "  1 recipient(s) + 0 control recipient(s):"]
    assert "      [_Arg] _arg_x_0_0" in output.lines and "1 dumped tensor(s):" in output.lines
    assert any("test_debug_analyzer.py" in line for line in output.lines)
    assert _menu(output)["list_inputs"] == "list_inputs -c -r z"
    tree = analyzer.list_inputs(["-c", "-r", "-t", "w"]).lines
    assert tree[:5] == [
        'Inputs to node "w" (Depth limit = 20, control inputs included):',
        "|- (1) [Add] y",
        "|  |- (2) [_Arg] _arg_x_0_0",
        "|  |- (2) [_Arg] _arg_x_0_0",
        "|- (1) [Identity] z",
    ]
    assert "   |- (2) (Ctrl) [Add] y" in tree
    assert analyzer.list_outputs(["y"]).lines[1] == "|- (1) w"
    assert analyzer.list_outputs(["w"]).lines[1] == "  [None]"  # the result that is fetched isn't a node of the program
    assert "have no node named" in analyzer.list_inputs(["nothing"]).lines[0]


def test_values_of_tensors(asked, tmp_path):
    v = tf.Variable([[7.0], [-2.0]], name="v")
    unset = tf.Variable(3.0, name="unset", collections=[])
    parts = tf.split(v, 2, name="parts")
    analyzer = asked([parts, tf.is_variable_initialized(unset)])
    assert analyzer.print_tensor(["v:0"]).lines[:3] == [
        'Tensor "v:0:DebugIdentity":',
        "  dtype: float32",
        "  shape: (2, 1)",
    ]
    assert "-2.0" in analyzer.print_tensor(["v:0[1, 0]"]).lines[-1]
    assert "specify the output slot" in analyzer.print_tensor(["parts"]).lines[1]
    assert "Uninitialized tensor:" in analyzer.print_tensor(["unset"]).lines
    assert "one dump" in analyzer.print_tensor(["v:0", "-n", "3"]).lines[0]
    assert "does not exist" in analyzer.print_tensor(["nothing"]).lines[0]
    analyzer.evaluate_expression(["np.sum(`v:0`) + `v:0`", "-w", str(tmp_path / "v.npy")])
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), [[12.0], [3.0]])


def test_a_tensor_of_a_loop_has_several_dumps(asked):
    with tf.device("/cpu:0"):
        loop = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="inc"), [tf.constant(0)])
    analyzer = asked(loop)
    output = analyzer.print_tensor(["while/inc:0"])
    assert output.lines[0] == 'Tensor "while/inc:0" generated 3 dumps:'
    assert _command_behind(output, 3) == "print_tensor while/inc:0 -n 2"
    assert analyzer.print_tensor(["while/inc:0", "-n", "2"]).lines[-1].startswith("array(3")
    assert "no number of one" in analyzer.print_tensor(["while/inc:0", "-n", "3"]).lines[0]


def test_source(asked, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import everflow as tf\n\na = tf.Variable(1.0, name='a')\nb = tf.add(a, a, name='b')\n")
    names = {}
    exec(compile(program.read_text(), str(program), "exec"), names)
    analyzer = asked(names["b"])
    files = analyzer.list_source(["-p", ".*program.*"])
    assert files.lines[3] == "File(s) outside TensorFlow Python library:" and files.lines[-2] == "[No files.]"
    assert _command_behind(files, 5, 0) == f"ps {program} -b 3"
    lines = analyzer.print_source([str(program), "-m", "2", "-b", "4"])
    start = lines.annotations[debugger_cli_common.INIT_SCROLL_POS_KEY]
    assert lines.lines[start : start + 2] == ["L4  b = tf.add(a, a, name='b')", "    b"]
    assert "    (... Omitted 2 of 4 op(s) ...) +5" in lines.lines
    assert "    b:0" in analyzer.print_source([str(program), "-t"]).lines


def test_at_a_terminal(asked, tmp_path):
    analyzer = asked(tf.add(tf.Variable(1.0), 1.0, name="b"))
    config = cli_config.CLIConfig(config_file_path=str(tmp_path / "config"))
    filters = {"all": lambda datum, tensor: True}
    ui = analyzer_cli.create_analyzer_ui(analyzer._debug_dump, filters, ui_type="readline", config=config)
    commands = ui._command_handler_registry
    assert 'passing filter "all"' in commands.dispatch_command("lt", ["-f", "all"]).lines[0]
    assert commands.dispatch_command("pt", ["--colour"]).lines[0] == "Syntax error for command: pt"
    assert "b:0" in ui._tab_completion_registry.get_completions("pt", "b")[0]
