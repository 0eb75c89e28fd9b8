"""The cluster of a replicated computation: what marks its nodes, and those of it that run on the host."""

from __future__ import annotations

from everflow.framework import devices
from everflow.framework.scopes import get_default_graph
from everflow.ops.control_flow.clusters import ClusterContext
from everflow.ops.control_flow.contexts import enclosing
from everflow.platform import logging

REPLICATE_MARK = "_tpu_replicate"
COMPILATION_STATUS_MARK = "_tpu_compilation_status"
OUTSIDE_MARK = "_xla_outside_compilation"

# What can't be in a cluster: it would have no value there, or none that anybody sees.
FORBIDDEN = frozenset(["Placeholder"])
UNSUPPORTED = frozenset(
    [
        "AudioSummary",
        "AudioSummaryV2",
        "HistogramSummary",
        "ImageSummary",
        "MergeSummary",
        "Print",
        "ScalarSummary",
        "TensorSummary",
        "TensorSummaryV2",
    ]
)


class TPUReplicateContext(ClusterContext):
    """Nodes of one computation that TPU cores run, each its own copy."""

    mark = REPLICATE_MARK

    def __init__(self, name, num_replicas, pivot):
        super().__init__(name, pivot)
        self._num_replicas = num_replicas
        self._outer_devices = list(get_default_graph()._device_stack)
        self._unsupported = []
        # The part that runs on the host now, if any, how many there were, and the cores that they were asked for on.
        self._outside = None
        self._outside_count = 0
        self._host_compute_core = []

    num_replicas = property(lambda self: self._num_replicas)

    def AddOp(self, op):
        if op.type in FORBIDDEN:
            logging.error(
                "%s %r inside of a TPU computation: it has no value there, and running it will fail", op.type, op.name
            )
        elif op.type in UNSUPPORTED:
            self._unsupported.append(op)
        if any(tensor.dtype._is_ref_dtype for tensor in op.inputs):
            raise NotImplementedError(
                f"TPU computations take resource variables only, and {op.name!r} uses one of another kind: make it with use_resource=True."
            )
        super().AddOp(op)
        if self._outside is not None:
            op._set_attr(OUTSIDE_MARK, self._outside.encode())

    AddInnerOp = AddOp

    def report_unsupported_operations(self):
        """Tell of nodes that do nothing in a cluster."""
        if self._unsupported:
            some = "\n".join(f"  {op.type} ({op.name})" for op in self._unsupported[:5])
            logging.warning("%d unsupported operations found:\n%s", len(self._unsupported), some)

    def EnterOutsideCompilation(self):
        """From here on nodes are the host's: they go where they would without the cluster."""
        if self._outside is not None:
            raise NotImplementedError("outside_compilation is used inside of outside_compilation.")
        graph = get_default_graph()
        self._outside = str(self._outside_count)
        self._outside_count += 1
        core = _replicated_core(graph)
        if core is not None:
            self._host_compute_core.append(f"{self._outside}:{core}")
        self._inner_devices, graph._device_stack = graph._device_stack, list(self._outer_devices)

    def ExitOutsideCompilation(self):
        self._outside = None
        get_default_graph()._device_stack = self._inner_devices

    def HostComputeCore(self):
        return self._host_compute_core


def _replicated_core(graph):
    """The logical core that a device scope around asks for, if one does."""
    for scope in reversed(graph._device_stack):
        if isinstance(scope.request, str) and scope.request:
            spec = devices.DeviceSpec.from_string(scope.request)
            if spec.device_type == "TPU_REPLICATED_CORE" and spec.device_index is not None:
                return spec.device_index
    return None


def enclosing_replication():
    """The replicated computation that is being drawn now, and the graph it is in; (None, None) where none is."""
    graph = get_default_graph()
    while graph is not None:
        context = enclosing(graph._get_control_flow_context(), lambda c: isinstance(c, TPUReplicateContext))
        if context is not None:
            return context, graph
        graph = getattr(graph, "outer_graph", None)
    return None, None


def outside_compilation(computation, *args, **kwargs):
    """What a function returns, its nodes marked to run on the host of the TPU rather than on its cores."""
    context, _ = enclosing_replication()
    if context is None:
        return computation(*args, **kwargs)
    context.EnterOutsideCompilation()
    try:
        return computation(*args, **kwargs)
    finally:
        context.ExitOutsideCompilation()
