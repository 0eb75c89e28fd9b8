"""Cut a graph down to what is between given inputs and outputs.

python -m everflow.tools.strip_unused --input_graph=G.pb --input_binary --output_graph=O.pb --input_node_names=x
--output_node_names=y
"""

from __future__ import annotations

import argparse

from everflow.framework.dtypes import float32
from everflow.framework.graph_surgery import extract_sub_graph
from everflow.platform import file_io
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef
from everflow.tools.graph_files import add_flags, comma_separated, read_message, write_message


def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """The part of a graph that the outputs need, with the inputs turned into placeholders.

    `placeholder_type_enum` is one data type or a list with one for each input.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"{name!r} is the name of a Tensor; that of its operation is {name.partition(':')[0]!r}.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    replaced = GraphDef()
    for node in input_graph_def.node:
        if node.name not in input_node_names:
            replaced.node.add().CopyFrom(node)
            continue
        placeholder = NodeDef(op="Placeholder", name=node.name)
        kinds = placeholder_type_enum
        kind = kinds[list(input_node_names).index(node.name)] if isinstance(kinds, (list, tuple)) else kinds
        placeholder.attr["dtype"].type = kind
        for attr in ("_output_shapes", "shape"):
            if attr in node.attr:
                placeholder.attr[attr].CopyFrom(node.attr[attr])
        replaced.node.append(placeholder)
    replaced.library.CopyFrom(input_graph_def.library)
    replaced.versions.CopyFrom(input_graph_def.versions)
    return extract_sub_graph(replaced, list(output_node_names))


def strip_unused_from_files(
    input_graph, input_binary, output_graph, output_binary, input_node_names, output_node_names, placeholder_type_enum
):
    """The same from file to file; names are separated by commas."""
    if not output_node_names:
        raise ValueError("output_node_names is empty: name the nodes whose values are wanted, separated by commas.")
    graph_def = read_message(input_graph, GraphDef, input_binary)
    made = strip_unused(
        graph_def, comma_separated(input_node_names), comma_separated(output_node_names), placeholder_type_enum
    )
    write_message(output_graph, made, output_binary)
    print(f"{len(made.node)} ops in the final graph.")
    return made


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_flags(
        parser,
        f"""
        --input_graph           | needed | a GraphDef file
        --input_binary          | false  | whether it is binary
        --output_graph          | needed | where to write
        --output_binary         | true   | whether to write it binary
        --input_node_names      | text   | inputs, separated by commas
        --output_node_names     | text   | outputs, separated by commas
        --placeholder_type_enum | default="{int(float32)}" | data type of the inputs, or one for each
        """,
    )
    args = parser.parse_args(argv)
    if not file_io.file_exists(args.input_graph):
        print(f"Input graph file '{args.input_graph}' does not exist!")
        return
    kinds = [int(k) for k in comma_separated(args.placeholder_type_enum)]
    files = args.input_graph, args.input_binary, args.output_graph, args.output_binary
    names = args.input_node_names, args.output_node_names
    strip_unused_from_files(*files, *names, kinds[0] if len(kinds) == 1 else kinds)


if __name__ == "__main__":
    main()
