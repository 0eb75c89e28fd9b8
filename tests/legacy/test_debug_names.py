"""Names of `tensorflow.python.debug` that are about text and commands rather than about tensors."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.protos.step_stats_pb2 import NodeExecStats

# isort: split
from tensorflow.python.debug.cli import command_parser, debugger_cli_common
from tensorflow.python.debug.lib import common, debug_graphs, profiling

RichLine, RichTextLines = debugger_cli_common.RichLine, debugger_cli_common.RichTextLines


def test_words_of_a_line():
    assert command_parser.parse_command(" pt 'a b' x[1, 2] --m=\"c d\" ") == ["pt", "a b", "x[1, 2]", '--m="c d"']
    for words, found in {
        ("a", ">", "f"): (["a"], "f"),
        ("a>f",): (["a"], "f"),
        ("lt", "-m", ">100kB"): (["lt", "-m", ">100kB"], None),
        ("lt", "-m>100", ">f"): (["lt", "-m>100"], "f"),
        (): ([], None),
    }.items():
        assert command_parser.extract_output_file_path(list(words)) == found
    with pytest.raises(SyntaxError):
        command_parser.extract_output_file_path(["a", ">"])
    assert command_parser.parse_tensor_name_with_slicing("a:0[1, :]") == ("a:0", "[1, :]")
    assert command_parser._parse_slices("[:, 1, 2:3]") == (slice(None), 1, slice(2, 3))
    assert command_parser.parse_indices("[1, 2]") == [1, 2] and command_parser.parse_ranges("[0, 1]") == [[0, 1]]
    with pytest.raises(ValueError):
        command_parser.parse_ranges("[[0, 1], [2]]")


def test_amounts():
    assert command_parser.parse_readable_size_str("3 MB") == 3 * 2**20
    assert command_parser.parse_readable_time_str("1.2ms") == 1200
    for wrong in ("3T", "-1", "", "abc"):
        with pytest.raises(ValueError):
            command_parser.parse_readable_size_str(wrong)
    span = command_parser.parse_time_interval("(1ms, 2s]")
    assert span == command_parser.Interval(1000, False, 2_000_000, True)
    assert span.contains(2_000_000) and not span.contains(1000)
    assert command_parser.parse_memory_interval(">= 5k").start == 5120
    for wrong in ("[2s, 1s]", "5", "[1,2,3]"):
        with pytest.raises(ValueError):
            command_parser.parse_time_interval(wrong)


def test_rich_text(tmp_path):
    line = RichLine("ab", "red") + "cd"
    assert (line.text, len(line), line.font_attr_segs) == ("abcd", 4, [(0, 2, "red")])
    text = RichTextLines(["Roses are red"], {0: [(0, 5, "red")]}, {0: "note", "top": 3})
    text.extend(RichTextLines(["x"], None, {0: "other"}))
    text.prepend("first")
    assert text.lines == ["first", "Roses are red", "x"] and text.annotations == {1: "note", "top": 3, 2: "other"}
    assert text.slice(1, 2).font_attr_segs == {0: [(0, 5, "red")]}
    found = debugger_cli_common.regex_find(text, "are", "blue")
    assert found.font_attr_segs[1] == [(0, 5, "red"), (6, 9, "blue")]
    assert found.annotations[debugger_cli_common.REGEX_MATCH_LINES_KEY] == [1]
    wrapped, begins = debugger_cli_common.wrap_rich_text_lines(text, 7)
    assert wrapped.lines == ["first", "Roses a", "re red", "x"] and begins == [0, 1, 3]
    assert wrapped.annotations == {1: "note", 3: "other", "top": 3}
    text.write_to_file(str(tmp_path / "text"))
    assert (tmp_path / "text").read_text() == "first\nRoses are red\nx\n"
    menu = debugger_cli_common.Menu()
    menu.append(debugger_cli_common.MenuItem("one", "command"))
    menu.append(debugger_cli_common.MenuItem("two", "other", enabled=False))
    shown = menu.format_as_single_line(prefix="- ", disabled_item_attrs="gray")
    assert shown.lines == ["- one | two | "] and shown.font_attr_segs[0][1] == (8, 11, ["gray"])


def test_commands(tmp_path):
    registry = debugger_cli_common.CommandHandlerRegistry()
    registry.register_command_handler("say", lambda argv, screen_info=None: RichTextLines(argv), "Says.", ["s"])
    registry.register_command_handler("fail", lambda argv, screen_info=None: 1 / 0, "")
    assert registry.dispatch_command("s", ["a"]).lines == ["a"]
    assert registry.get_help("s").lines == ["say", "  Aliases: s", "", "  Says."]
    assert registry.dispatch_command("fail", []).lines[-1].startswith("ZeroDivisionError")
    for name, handler in (("say", print), ("", print), ("x", 3)):
        with pytest.raises(ValueError):
            registry.register_command_handler(name, handler, "")
    words = debugger_cli_common.TabCompletionRegistry()
    words.register_tab_comp_context(["print", "p"], ["b:1", "ab", "aa"])
    words.extend_comp_items("p", ["ac"])
    assert words.get_completions("print", "a") == (["aa", "ab", "ac"], "a")
    words.deregister_context(["p"])
    assert words.get_completions("p", "a") == (None, None)
    history = debugger_cli_common.CommandHistory(limit=2, history_file_path=str(tmp_path / "history"))
    for command in ("a 1", "b", "b", "a 2"):
        history.add_command(command)
    assert history.most_recent_n(5) == ["b", "a 2"] and history.lookup_prefix("a", 3) == ["a 2"]
    again = debugger_cli_common.CommandHistory(limit=2, history_file_path=str(tmp_path / "history"))
    assert again.most_recent_n(5) == ["b", "a 2"]


def test_names_and_profiles():
    with tf.Graph().as_default():
        a = tf.constant(1, name="a")
    assert common.get_run_key({"x": 1}, [a, a.op]) == '[["1"], ["a:0", "a"]]'
    assert debug_graphs.parse_node_or_tensor_name("n:12") == ("n", 12) and debug_graphs.get_output_slot("n") == 0
    assert debug_graphs.parse_debug_node_name("__dbg_s/n:1_0_DebugIdentity") == ("s/n", 1, 0, "DebugIdentity")
    with pytest.raises(ValueError):
        debug_graphs.parse_debug_node_name("__dbg_n:1_DebugNan")
    walk = debug_graphs.DFSGraphTracer([{"d": ["c:1"], "c": ["a:0", "b"], "b": ["a"]}], skip_node_names=["b"])
    walk.trace("d")
    assert (walk.inputs(), walk.depth_list()) == (["c:1", "a:0", "b"], [1, 2, 2])
    stats = NodeExecStats(node_name="n", op_start_rel_micros=3, op_end_rel_micros=8, all_end_rel_micros=10)
    datum = profiling.ProfileDatum("/cpu", stats, "f.py", 12, "fn", "MatMul")
    total = profiling.AggregateProfile(datum)
    total.add(datum)
    assert (total.total_op_time, total.total_exec_time, total.node_count, total.node_exec_count) == (10, 20, 1, 2)
