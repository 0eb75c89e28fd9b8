"""What rewrites ask of graphs, and do to them: `common` and `input_to_ops` of tensorflow.contrib.quantize.python."""

from __future__ import annotations

import re
from collections.abc import Collection

from everflow.contrib.quantize.fake_quant import quantization_step
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph

SKIPPED_PREFIXES = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")
_ACTIVATIONS = ("Relu6", "Relu", "Identity")
_BATCH_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")


def CreateOrGetQuantizationStep() -> Tensor:
    """The count of runs that delays look at, made when first asked for in a graph."""
    graph = get_default_graph()
    if "fake_quantization_step/Identity" in graph._nodes_by_name:
        return graph.get_tensor_by_name("fake_quantization_step/Identity:0")
    return quantization_step()


def RerouteTensor(t0: Tensor, t1: Tensor, can_modify: Collection[Operation] | None = None) -> int:
    """Let ops that take `t1` take `t0`, all or those of `can_modify`; how many inputs that changed."""
    changed = 0
    for op in list(dict.fromkeys(t1.consumers())):
        if can_modify is not None and op not in can_modify:
            continue
        for place, tensor in enumerate(list(op.inputs)):
            if tensor is t1:
                op._update_input(place, t0)
                changed += 1
    return changed


def DropStringPrefix(s: str, prefix: str) -> str:
    """A text without what it begins with."""
    return s.removeprefix(prefix)


def GetEndpointActivationOp(graph: Graph, prefix: str) -> Operation | None:
    """The activation right below a scope, or None."""
    found = (graph._nodes_by_name.get(f"{prefix}/{kind}") for kind in _ACTIVATIONS)
    return next((op for op in found if op is not None), None)


def BatchNormGroups(graph: Graph) -> list[str]:
    """The scopes of layers with a batch normalization, sorted."""
    names = [op.name for op in graph.get_operations() if not op.name.startswith(SKIPPED_PREFIXES)]
    found = (_BATCH_NORM.search(name) for name in names)
    return sorted({match[1] for match in found if match})


class InputToOps:
    """Which ops take what another one gives."""

    def __init__(self, graph: Graph) -> None:
        self._users: dict[Operation, list[Operation]] = {}
        for op in graph.get_operations():
            for source in dict.fromkeys(t.op for t in op.inputs):
                self._users.setdefault(source, []).append(op)

    def ConsumerOperations(self, producer_op: Operation) -> set[Operation]:
        """The ops that take an output of one."""
        return set(self._users.get(producer_op, ()))
