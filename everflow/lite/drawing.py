"""A net as a drawing, in the language of Graphviz."""

from __future__ import annotations

import os

from everflow.lite.net import Net


def _quoted(text) -> str:
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def dot(net: Net) -> str:
    """The source of a drawing: boxes for operators, other shapes for arrays."""
    lines = ["digraph Computegraph {"]
    for name, array in sorted(net.arrays.items()):
        shape = (
            "invhouse"
            if name in net.inputs
            else "house"
            if name in net.outputs
            else "cylinder"
            if array.value is not None
            else "octagon"
        )
        size = "x".join(map(str, array.shape)) if array.shape is not None else "?"
        label = _quoted(f"{name} {array.dtype.name}[{size}]")
        lines.append(f"  {_quoted(name)} [label={label} shape={shape}];")
    for number, node in enumerate(net.nodes):
        op = f"op{number:05}"
        lines.append(f"  {op} [label={_quoted(node.op)} shape=box style=filled];")
        lines.extend(f"  {_quoted(name)} -> {op};" for name in node.inputs if name is not None)
        lines.extend(f"  {op} -> {_quoted(name)};" for name in node.outputs)
    return "\n".join([*lines, "}", ""])


def dump(net: Net, folder: str | None, stage: str) -> None:
    """Write a drawing of a stage of the conversion, where a folder for them is given."""
    if folder:
        with open(os.path.join(folder, f"toco_{stage}.dot"), "w") as f:
            f.write(dot(net))
