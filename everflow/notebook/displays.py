"""How IPython shows tensors, variables, graphs, signatures and plans: as HTML beside the text that `repr` gives."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from everflow.framework.dtypes import as_dtype
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.notebook.graph_view import page
from everflow.ops.variables.variable import Variable
from everflow.protos.meta_graph_pb2 import MetaGraphDef, SignatureDef, TensorInfo
from everflow.runtime.plan.explain import Explanation

_LONG = 40  # rows of a table that are shown


def table(header: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> str:
    """A small table. Cells are text, not HTML."""

    def line(cells: Sequence[object], tag: str) -> str:
        style = "text-align:left;padding:2px 10px"
        return "<tr>" + "".join(f'<{tag} style="{style}">{html.escape(str(c))}</{tag}>' for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table>{line(header, 'th')}{body}</table>{f'<div>{html.escape(note)}</div>' if note else ''}"


def tensor_html(tensor: Tensor) -> str:
    """What is known of a tensor; of one that has a value, the value too."""
    known = [("tensor", "" if tensor.is_eager else tensor.name), ("type", tensor.dtype.name), ("shape", tensor.shape)]
    if tensor.is_eager:
        value = np.array2string(np.asarray(tensor.numpy()), threshold=60)
        return table(["", ""], known[1:]) + f"<pre>{html.escape(value)}</pre>"
    made = [("op", f"{tensor.op.type} {tensor.op.name}"), ("device", tensor.device)]
    frame = tensor.op.user_frame
    made += [("made at", f"{frame[0]}:{frame[1]}")] if frame is not None else []
    return table(["", ""], [row for row in known + made if row[1] != ""])


def operation_html(op: Operation) -> str:
    """An operation, with what goes in and comes out."""
    ends = [("in", t) for t in op.inputs] + [("out", t) for t in op.outputs]
    return table([f"{op.type} {op.name}", "", "", ""], [(way, t.name, t.dtype.name, t.shape) for way, t in ends])


def variables_html(values: list) -> str | None:
    """A list of variables or tensors as a table, with how many values there are; None for another list."""
    if not values or not all(isinstance(value, Variable | Tensor) for value in values):
        return None
    rows = [(v.name, v.dtype.base_dtype.name, v.shape, _count(v)) for v in values if not getattr(v, "is_eager", False)]
    if len(rows) < len(values):
        return None
    counted = [row[3] for row in rows]
    note = f"{len(rows)} in all, {sum(c for c in counted if isinstance(c, int)):,} values"
    return table(["name", "type", "shape", "values"], rows[:_LONG], note)


def _count(value: Any) -> int | str:
    return value.shape.num_elements() if value.shape.is_fully_defined() else "?"


def signature_html(signature: SignatureDef) -> str:
    """What goes into a model and what comes out."""
    rows = [("in", key, *_info(info)) for key, info in sorted(signature.inputs.items())]
    rows += [("out", key, *_info(info)) for key, info in sorted(signature.outputs.items())]
    return table(["", "key", "tensor", "type", "shape"], rows, signature.method_name)


def _info(info: TensorInfo) -> tuple[str, str, str]:
    sizes = ", ".join("?" if d.size < 0 else str(d.size) for d in info.tensor_shape.dim)
    shape = "unknown" if info.tensor_shape.unknown_rank else f"({sizes})"
    return info.name, as_dtype(info.dtype).name, shape


def meta_graph_html(meta: MetaGraphDef) -> str:
    """The signatures of a SavedModel."""
    head = f"{len(meta.graph_def.node)} nodes, tags {', '.join(meta.meta_info_def.tags) or 'none'}"
    parts = [f"<b>{html.escape(key)}</b>{signature_html(s)}" for key, s in sorted(meta.signature_def.items())]
    return f"<div>{html.escape(head)}</div>{''.join(parts)}"


def plan_html(plan: Explanation) -> str:
    """A plan: its stages open, what was emitted folded."""
    head, emit, code = plan.partition("\nemit:")
    folded = f"<details><summary>emitted code</summary><pre>{html.escape(code)}</pre></details>" if emit else ""
    return f"<pre>{html.escape(head)}</pre>{folded}"


# What is shown how. A formatter that gives None leaves it to `repr`.
DISPLAYS: dict[type, Callable[[Any], str | None]] = {
    Tensor: tensor_html,
    Operation: operation_html,
    Graph: page,
    list: variables_html,
    SignatureDef: signature_html,
    MetaGraphDef: meta_graph_html,
    Explanation: plan_html,
}


def register(shell: Any) -> None:
    """Teach a shell of IPython all of them."""
    formatter = shell.display_formatter.formatters["text/html"]
    for cls, show in DISPLAYS.items():
        formatter.for_type(cls, show)
    plain = shell.display_formatter.formatters["text/plain"]
    plain.for_type(Explanation, lambda plan, printer, cycle: printer.text(str(plan)))
