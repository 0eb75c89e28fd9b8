"""Print a C++ header with which TensorFlow is built for a few models: it registers no ops but theirs.

python -m everflow.tools.selective_registration --graphs=frozen.pb

The classes of TensorFlow's kernels are not known here, so all kernels of those ops are registered.
"""

from __future__ import annotations

import argparse

from everflow.protos.graph_pb2 import GraphDef
from everflow.tools.graph_files import add_flags, comma_separated, read_message

_ALL = "all"
_HEAD = "// Written by print_selective_registration_header\n#ifndef OPS_TO_REGISTER\n#define OPS_TO_REGISTER\n"
_SAME = """
namespace {
constexpr bool same_name(const char* a, const char* b) {
  return *a == *b && (*a == 0 || same_name(a + 1, b + 1));
}
}  // namespace
"""


def get_ops_and_kernels(proto_fileformat, proto_files, default_ops_str):
    """[(op type, None)] of the graphs in files and of `default_ops_str` ("Op:Kernel,..."), sorted."""
    names = {words.partition(":")[0] for words in comma_separated(default_ops_str)} - {_ALL}
    for file in proto_files:
        graph = read_message(file, GraphDef, proto_fileformat == "rawproto")
        nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
        names |= {node.op for node in nodes}
    return [(name, None) for name in sorted(names)]


def get_header(graphs, proto_fileformat="rawproto", default_ops="NoOp:NoOp,_Recv:RecvOp,_Send:SendOp"):
    """The text of the header for the graphs in some files."""
    ops = get_ops_and_kernels(proto_fileformat, graphs, default_ops)
    return get_header_from_ops_and_kernels(ops, default_ops == _ALL)


def get_header_from_ops_and_kernels(ops_and_kernels, include_all_ops_and_kernels):
    """The text of the header for op types, given as `get_ops_and_kernels` does, or for all."""
    if include_all_ops_and_kernels:
        lines = [f"#define SHOULD_REGISTER_{what} true" for what in ("OP(op)", "OP_KERNEL(clz)", "OP_GRADIENT")]
        return _HEAD + "\n".join(lines) + "\n#endif"
    ops = [name for name, _ in ops_and_kernels]
    asked = " ||\n         ".join(f'same_name(op, "{name}")' for name in ops) or "false"
    return (
        f"{_HEAD}{_SAME}\nconstexpr bool op_is_used(const char* op) {{\n  return {asked};\n}}\n"
        f"#define SHOULD_REGISTER_OP(op) op_is_used(op)\n#define SHOULD_REGISTER_OP_KERNEL(clz) true\n"
        f"#define SHOULD_REGISTER_OP_GRADIENT {'true' if 'SymbolicGradient' in ops else 'false'}\n#endif"
    )


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_flags(
        parser,
        """
        --graphs           | needed                                        | GraphDef files, separated by commas
        --proto_fileformat | default="rawproto"                            | rawproto or textproto
        --default_ops      | default="NoOp:NoOp,_Recv:RecvOp,_Send:SendOp" | ops to register besides, or `all`
        """,
    )
    args = parser.parse_args(argv)
    print(get_header(comma_separated(args.graphs), args.proto_fileformat, args.default_ops))


if __name__ == "__main__":
    main()
