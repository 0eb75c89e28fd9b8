"""Make a frozen graph smaller and faster: training parts are cut away, batch normalization goes into weights.

python -m everflow.tools.optimize_for_inference --input=G.pb --output=O.pb --input_names=x --output_names=y
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from everflow.framework.dtypes import float32, int32
from everflow.framework.graph_surgery import remove_training_nodes
from everflow.platform import file_io, logging
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef
from everflow.tools.graph_files import (
    add_flags,
    attribute,
    comma_separated,
    constant_node,
    constant_value,
    copy_node,
    node_name_from_input,
    read_message,
    uses_of_nodes,
    with_nodes,
    write_message,
)
from everflow.tools.strip_unused import strip_unused

# Op type: the positions of mean, variance, beta and gamma among its inputs, and the attribute that holds epsilon.
_NORMALIZATIONS = {
    "BatchNormWithGlobalNormalization": ((1, 2, 3, 4), "variance_epsilon"),
    "FusedBatchNorm": ((3, 4, 2, 1), "epsilon"),
}
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def values_from_const(node_def):
    """The value of a Const node as an array."""
    return constant_value(node_def)


def ensure_graph_is_valid(graph_def):
    """Raise ValueError if a name is used twice or an input is not there."""
    names = set()
    for node in graph_def.node:
        if node.name in names:
            raise ValueError(f"Duplicate node names detected for  {node.name}")
        names.add(node.name)
    for node in graph_def.node:
        for edge in node.input:
            if node_name_from_input(edge) not in names:
                raise ValueError(f"Input for  {node.name}  not found:  {edge}")


def node_from_map(node_map, name):
    """The node that an input names, from a dict of nodes."""
    stripped = node_name_from_input(name)
    if stripped not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[stripped]


def scale_after_normalization(node):
    """Whether a normalization multiplies by gamma."""
    return attribute(node, "scale_after_normalization").b if node.op == "BatchNormWithGlobalNormalization" else True


def optimize_for_inference(
    input_graph_def, input_node_names, output_node_names, placeholder_type_enum, toco_compatible=False
):
    """A graph for use without training: stripped, folded and, unless for TensorFlow Lite, with resizing fused."""
    ensure_graph_is_valid(input_graph_def)
    made = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    made = remove_training_nodes(made, output_node_names)
    made = fold_batch_norms(made)
    if not toco_compatible:
        made = fuse_resize_and_conv(made, output_node_names)
    ensure_graph_is_valid(made)
    return made


def fold_batch_norms(input_graph_def):
    """Replace a convolution and a normalization, all of constants, by a convolution and a bias."""
    by_name = _by_name(input_graph_def)
    dropped, added = set(), []
    for node in input_graph_def.node:
        if node.op not in _NORMALIZATIONS:
            continue
        convolution = node_from_map(by_name, node.input[0])
        if convolution.op not in _CONVOLUTIONS:
            words = "%s stays as it is: its input is a %s, and a normalization is folded into a convolution only."
            logging.warning(words, node.name, convolution.op)
            continue
        weights = node_from_map(by_name, convolution.input[1])
        positions, epsilon = _NORMALIZATIONS[node.op]
        moments = [node_from_map(by_name, node.input[i]) for i in positions]
        wrong = next((n for n in [weights, *moments] if n.op != "Const"), None)
        if wrong is not None:
            words = "'%s' (%s), an input of '%s', is not constant; batch normalization stays"
            logging.warning(words, wrong.name, wrong.op, node.name)
            continue
        dropped.update(n.name for n in [node, weights, convolution, *moments])
        added += _folded(node, convolution, weights, moments, node.attr[epsilon].f)
    return _changed(input_graph_def, dropped, added)


def _changed(graph_def, dropped, added):
    """A graph without some nodes, by name, and with others."""
    return with_nodes(graph_def, [*(node for node in graph_def.node if node.name not in dropped), *added])


def _by_name(graph_def):
    found = {}
    for node in graph_def.node:
        if node.name in found:
            raise ValueError(f"Duplicate node names detected for {node.name}")
        found[node.name] = node
    return found


def _folded(node, convolution, weights, moments, epsilon):
    mean, variance, beta, gamma = (constant_value(m) for m in moments)
    scale = 1.0 / np.sqrt(variance + epsilon)
    if scale_after_normalization(node):
        scale = scale * gamma
    kernel = constant_value(weights)
    # A depthwise kernel's last two dimensions together are the channels that come out.
    factors = scale if convolution.op == "Conv2D" else scale.reshape(kernel.shape[2:])
    dtype = weights.attr["dtype"].type
    offset = constant_node(convolution.name + "_bn_offset", (beta - mean * scale).astype(kernel.dtype), dtype)
    bias = NodeDef(op="BiasAdd", name=node.name, input=[convolution.name, offset.name])
    bias.attr["T"].CopyFrom(convolution.attr["T"])
    bias.attr["data_format"].s = attribute(convolution, "data_format").s or b"NHWC"
    folded = constant_node(weights.name, (kernel * factors).astype(kernel.dtype), dtype)
    return folded, copy_node(convolution), offset, bias


def fuse_resize_and_conv(input_graph_def, output_node_names):
    """Replace a convolution of a resized or mirror-padded image by one op that never holds the larger image."""
    by_name = _by_name(input_graph_def)
    uses = uses_of_nodes(input_graph_def)
    uses.update(output_node_names)
    dropped, added = set(), []
    for node in input_graph_def.node:
        if node.op != "Conv2D" or attribute(node, "data_format").s not in (b"", b"NHWC"):
            continue
        source = node_from_map(by_name, node.input[0])
        pad = resize = None
        if source.op == "MirrorPad":
            pad, source = source, node_from_map(by_name, source.input[0])
        if source.op == "ResizeBilinear" and not attribute(source, "half_pixel_centers").b:
            resize = source
        # What others use as well has to stay.
        if pad is not None and uses[pad.name] != 1:
            continue
        if resize is not None and uses[resize.name] != 1:
            resize = None
        if pad is None and resize is None:
            continue
        dropped.update(n.name for n in (node, pad, resize) if n is not None)
        added += _fused(node, pad, resize)
    return _changed(input_graph_def, dropped, added)


def _fused(convolution, pad, resize):
    made = []
    if pad is None:
        paddings = constant_node(convolution.name + "_dummy_paddings", np.zeros([4, 2], np.int32), int(int32))
        made.append(paddings)
        padding_input, mode = paddings.name, b"REFLECT"
    else:
        padding_input, mode = pad.input[1], pad.attr["mode"].s
    fused = NodeDef(op="FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D", name=convolution.name)
    if resize is None:
        fused.input.extend([pad.input[0], padding_input, convolution.input[1]])
    else:
        fused.input.extend([resize.input[0], resize.input[1], padding_input, convolution.input[1]])
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    for name in ("T", "strides", "padding"):
        fused.attr[name].CopyFrom(convolution.attr[name])
    fused.attr["mode"].s = mode
    return [*made, fused]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_flags(
        parser,
        f"""
        --input                 | needed  | a GraphDef file
        --output                | needed  | where to write
        --input_names           | text    | inputs, separated by commas
        --output_names          | text    | outputs, separated by commas
        --frozen_graph          | true    | whether the files are binary rather than text
        --placeholder_type_enum | default="{int(float32)}" | data type of the inputs, or one for each
        --toco_compatible       | false   | only what TensorFlow Lite knows
        """,
    )
    args = parser.parse_args(argv)
    kinds = [int(k) for k in comma_separated(args.placeholder_type_enum)]
    if not file_io.file_exists(args.input):
        print(f"Input graph file '{args.input}' does not exist!")
        return -1
    graph = read_message(args.input, GraphDef, args.frozen_graph)
    names = comma_separated(args.input_names), comma_separated(args.output_names)
    made = optimize_for_inference(graph, *names, kinds[0] if len(kinds) == 1 else kinds, args.toco_compatible)
    write_message(args.output, made, args.frozen_graph)
    return 0


if __name__ == "__main__":
    sys.exit(main())
