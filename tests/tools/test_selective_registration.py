"""The header that registers the op types of some models only."""

import everflow as tf
from everflow.tools import selective_registration


def test_a_header_names_the_op_types_or_takes_all(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.exp(tf.constant(1.0))
    tf.io.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    used = selective_registration.get_ops_and_kernels("rawproto", [str(tmp_path / "g.pb")], "NoOp:NoOp")
    assert [name for name, _ in used] == ["Const", "Exp", "NoOp"]
    header = selective_registration.get_header_from_ops_and_kernels(used, False)
    assert '"Exp"' in header and "SHOULD_REGISTER_OP(op) true" not in header
    assert "SHOULD_REGISTER_OP(op) true" in selective_registration.get_header_from_ops_and_kernels(used, True)
