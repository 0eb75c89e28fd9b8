"""`framework.error_interpolation`: tags in messages, and what is known of the ops they name."""

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.framework import error_interpolation


def _graph():
    def chosen(op):
        return "/cpu:0"

    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"), tf.device("/gpu:1"):
            one = tf.constant(1.0, name="One")
        with tf.device(chosen):
            tf.constant(2.0, name="Two")
        with tf.device("/cpu:0"), graph.colocate_with(one):
            tf.constant(3.0, name="Three")
    return graph


def test_tags():
    parse = error_interpolation.parse_message
    assert parse("nothing {{node a b}} {{node c") == (["nothing {{node a b}} {{node c"], [])
    separators, tags = parse("x\n{{node a}}{{function_node b/c}} y")
    assert separators == ["x\n", "", " y"]
    assert [(tag.type, tag.name) for tag in tags] == [("node", "a"), ("function_node", "b/c")]


def test_interpolation():
    graph = _graph()
    text = error_interpolation.interpolate(
        "at {{node One}}, {{node None}} {{function_node One}}{{colocation_node Three}}", graph
    )
    assert text.startswith("at node One (defined at ") and "test_error_interpolation.py:16" in text
    assert ", {{node None}} node Three (defined" in text
    assert "with tf.colocate_with(One): <" in text and "No device assignments around op 'Three'" in text
    assert error_interpolation.interpolate("plain", graph) == "plain"


def test_devices_as_they_were_written():
    graph = _graph()
    lines = error_interpolation.compute_field_dict(graph.get_operation_by_name("One"))["devices"].splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == ["  with tf.device(/gpu", "  with tf.device(/cpu"]
    assert lines[1].endswith("test_error_interpolation.py:15>")
    two = error_interpolation._compute_device_assignment_summary_from_op(graph.get_operation_by_name("Two"), "> ")
    assert "\n>   with tf.device(chosen<" in two and "test_error_interpolation.py, 11>): <" in two


def test_the_line_of_the_program():
    op = _graph().get_operation_by_name("One")
    frames = op.traceback
    index = error_interpolation._find_index_of_defining_frame_for_op(op)
    assert frames[index][2] == "_graph" and frames[index + 1 :]
    assert error_interpolation._compute_useful_frames(op, 2) == frames[index - 1 : index + 1]
    op._traceback = frames[index + 1 :]  # nothing of the program's own is left
    assert error_interpolation._find_index_of_defining_frame_for_op(op) == 0


def test_debug_info():
    graph = _graph()
    op = graph.get_operation_by_name("Two")
    info = error_interpolation.create_graph_debug_info_def([("f", op)])
    (last,) = info.traces["fTwo"].file_line_cols[-1:]
    assert info.files[last.file_index].endswith("test_error_interpolation.py") and last.func == "_graph"
    op._traceback = [("/a/b/c.py", 1, "f", ""), ("/a/bc/d.py", 2, "g", "")]
    assert error_interpolation.traceback_files_common_prefix([[op]]) == "/a/"
    op._traceback = [("/a/b/c.py", 1, "f", "")]
    assert error_interpolation.traceback_files_common_prefix([[op]]) == ""
