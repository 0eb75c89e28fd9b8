"""tensorflow.python.framework.test_ops: op types that do nothing, for tests of what handles any op.

Importing this registers them. `test_op_defs.json` has their definitions, in the form of `framework/op_defs.json`; most
of them have no kernels, in TensorFlow either: `core/test_op_kernels.py` has the others.
"""

from __future__ import annotations

import importlib.resources
import json

from everflow.framework import builder, op_defs, raw_ops
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.legacy.gen_ops import eager_fallback, snake_case
from everflow.legacy.inner.core import test_op_kernels  # noqa: F401  registers them
from everflow.legacy.inner.op_def_library import OpDefLibrary
from everflow.version import GRAPH_DEF_VERSION


def _register() -> dict[str, str]:
    """{function name: op type}, once the op types are known."""
    facts = json.loads(importlib.resources.files("everflow.legacy.inner").joinpath("test_op_defs.json").read_text())
    for name, fact in facts.items():
        op_defs.register(op_defs.from_fact(name, fact))
    return {snake_case(name): name for name in facts}


_OP_TYPES = _register()
_op_def_lib = OpDefLibrary(_OP_TYPES.values())


@shape_rule("DevicePlacementOp", "GraphDefVersion", "KernelLabel", "ResourceInitializedOp", "StubResourceHandleOp")
def _scalar(op):
    return TensorShape([])


@shape_rule("KernelLabelRequired")
def _scalar_of_vector(op):
    op.inputs[0].shape.assert_has_rank(1)
    return TensorShape([])


@shape_rule("RequiresOlderGraphVersion")
def _older_graphs_only(op):
    if op.graph.graph_def_versions.producer >= GRAPH_DEF_VERSION:
        raise ValueError(f"A '{op.type}' op is for graphs of versions before {GRAPH_DEF_VERSION}")
    return TensorShape([])


# `_TwoIntOutputsOutput` is what an op of several outputs gives, `_two_int_outputs_outputs` their names, and
# `two_int_outputs_eager_fallback` the op for arguments that are no tensors yet.
_SEVERAL = {name: op_type for name, op_type in _OP_TYPES.items() if len(op_defs.get(op_type).outputs) > 1}
_KINDS = {f"_{op_type}Output": op_type for op_type in _SEVERAL.values()}
_OUTPUT_NAMES = {f"_{name}_outputs": op_type for name, op_type in _SEVERAL.items()}


def __getattr__(name: str):
    if name in _KINDS:
        return builder.output_kind(op_defs.get(_KINDS[name]))
    if name in _OUTPUT_NAMES:
        return [arg.name for arg in op_defs.get(_OUTPUT_NAMES[name]).outputs]
    if name.removesuffix("_eager_fallback") in _OP_TYPES and name not in _OP_TYPES:
        return eager_fallback(_OP_TYPES[name.removesuffix("_eager_fallback")])
    op_type = _OP_TYPES.get(name) or (name.rstrip("_") if name.rstrip("_") in _OP_TYPES.values() else None)
    if op_type is None:
        raise AttributeError(f"There is no test op {name!r}")
    return getattr(raw_ops, op_type)


def __dir__():
    fallbacks = {f"{name}_eager_fallback" for name in _OP_TYPES}
    return sorted({*globals(), *_OP_TYPES, *_OP_TYPES.values(), *_KINDS, *_OUTPUT_NAMES, *fallbacks})
