"""Computations that TPU cores run: one copy of the nodes, marked as a cluster, with inputs and outputs for each replica."""

from __future__ import annotations

import inspect

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation
from everflow.framework.scopes import control_dependencies, device
from everflow.ops import array
from everflow.ops.control_flow.clusters import as_output, check_tensor, keeps_structure, new_cluster
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.tpu.shard_context import tpu_shard_context
from everflow.ops.variables.scope import get_variable_scope
from everflow.tpu.context import COMPILATION_STATUS_MARK, TPUReplicateContext
from everflow.tpu.dynamic_shapes import pad_inputs
from everflow.tpu.system import core


def replicate(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None, maximum_shapes=None):
    """What replicas of a computation return: a list for each replica, whose inputs are a list in `inputs`."""
    return split_compile_and_replicate(
        computation, inputs, infeed_queue, device_assignment, name, maximum_shapes=maximum_shapes
    )[1]


def rewrite(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None):
    """What a computation returns that runs on one TPU core."""
    replicated = None if inputs is None else [inputs]
    return replicate(computation, replicated, infeed_queue, device_assignment, name)[0]


def split_compile_and_replicate(
    computation, inputs=None, infeed_queue=None, device_assignment=None, name=None, use_tpu=True, maximum_shapes=None
):
    """[the operation that compiles, what the replicas return], so that compiling can be waited for by itself."""
    inputs = [[]] if inputs is None else inputs
    if not isinstance(inputs, list) or any(not isinstance(replica, (list, tuple)) for replica in inputs):
        raise TypeError(
            f"Inputs of a replicated computation are a list with a list or tuple for each replica, not {inputs!r}."
        )
    structure = inputs[0]
    for replica in inputs[1:]:
        nest.assert_same_structure(structure, replica)
    flat = [[convert_to_tensor(x) for x in nest.flatten(replica)] for replica in inputs]
    _check_replicas(flat)
    _check_arguments(computation, structure, infeed_queue)
    padding_maps = []
    if maximum_shapes is not None:
        flat, padding_maps = pad_inputs(flat, maximum_shapes)
    metadata = {
        "num_replicas": len(inputs),
        "use_tpu": use_tpu,
        "step_marker_location": getattr(computation, "step_marker_location", "STEP_MARK_AT_ENTRY"),
        "padding_map": [m.SerializeToString() for m in padding_maps],
        **_placement(device_assignment),
    }
    replicated = [
        raw.TPUReplicatedInput(inputs=[replica[i] for replica in flat], name=f"input{i}") for i in range(len(flat[0]))
    ]
    cluster, pivot = new_cluster()
    context = TPUReplicateContext(cluster, len(flat), pivot)
    with context:
        node = raw.TPUReplicateMetadata(**metadata)
        with tpu_shard_context(len(inputs)), control_dependencies([node]):
            arguments = _arguments(replicated, maximum_shapes is not None)[: len(nest.flatten(structure))]
            outputs = _call(computation, nest.pack_sequence_as(structure, arguments), infeed_queue)
        keeping = keeps_structure(outputs)
        tensors, operations = _structured_outputs(outputs) if keeping else _flat_outputs(outputs)
        context.report_unsupported_operations()
    node._set_attr("host_compute_core", [c.encode() for c in context.HostComputeCore()])
    with control_dependencies([node]):
        compiled = raw.TPUCompilationResult() if use_tpu else no_op(name="compilation_status")
    compiled.op._set_attr(COMPILATION_STATUS_MARK, cluster.encode())
    results = _replica_outputs(tensors, operations, len(inputs))
    if tensors and keeping:
        results = [nest.pack_sequence_as(outputs, result) for result in results]
    return [compiled, results]


def _check_replicas(flat):
    types = [[tensor.dtype for tensor in replica] for replica in flat]
    for number, others in enumerate(types[1:], 1):
        if len(others) != len(types[0]):
            raise ValueError(f"Replica 0 has {len(types[0])} inputs and replica {number} has {len(others)}.")
        if others != types[0]:
            raise ValueError(f"The inputs of replica 0 are {types[0]}, those of replica {number} are {others}.")


def _check_arguments(computation, structure, infeed_queue):
    fed = 0 if infeed_queue is None else infeed_queue.number_of_tuple_elements
    count = len(structure) + fed
    wrong = wrong_arity(computation, count)
    if wrong:
        names = [getattr(x, "name", x) for x in nest.flatten(structure)]
        also = f" and {fed} from the infeed" if fed else ""
        raise TypeError(f"The computation is given {len(names)} inputs, {names}{also}; it takes {wrong}.")


def wrong_arity(function, count):
    """What a function takes, in words, where it can't be called with so many arguments; else None."""
    kinds = inspect.Parameter
    given = inspect.signature(function).parameters.values()
    positional = [p for p in given if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is kinds.empty for p in positional)
    if any(p.kind is kinds.VAR_POSITIONAL for p in given):
        return None if count >= least else f"at least {least}"
    if least <= count <= len(positional):
        return None
    return f"exactly {least}" if least == len(positional) else f"{least} to {len(positional)}"


def _placement(device_assignment):
    if device_assignment is None:
        return {}
    return {
        "topology": device_assignment.topology.serialized(),
        "device_assignment": device_assignment.core_assignment.flatten().tolist(),
        "num_cores_per_replica": device_assignment.num_cores_per_replica,
    }


def _arguments(replicated, padded):
    made = []
    for i, tensor in enumerate(replicated):
        tensor = array.identity(tensor, name=f"replicated_input_{i}")
        if not padded:
            tensor.op._set_attr("_tpu_input_identity", True)
        made.append(tensor)
    return made


def _call(computation, arguments, infeed_queue):
    """Call the computation; variables that it makes are resource variables."""
    fed = []
    if infeed_queue is not None:
        infeed_queue.set_number_of_shards(infeed_queue.number_of_shards or 1)
        fed = list(infeed_queue.generate_dequeue_op(tpu_device=0))
    scope = get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        return computation(*arguments, *fed)
    finally:
        scope.set_use_resource(before)


def _output(tensor):
    """A tensor as an output of the cluster, on the core where it is made."""
    with device(tensor.device if tensor.device else core(0)):
        result = array.identity(tensor)
    result.op._set_attr("_tpu_output_identity", True)
    return result


def _flat_outputs(outputs):
    flat = [] if outputs is None else list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    # Something of the cluster runs even where it returns nothing.
    flat.append(no_op())
    flat = [x if isinstance(x, Operation) else as_output(x) for x in flat]
    operations = [x for x in flat if isinstance(x, Operation)]
    tensors = flat[: len(flat) - len(operations)]
    if any(isinstance(x, Operation) for x in tensors):
        raise ValueError(f"A computation for TPUs returns its Tensors followed by its Operations, not {outputs}.")
    return [_output(tensor) for tensor in tensors], operations


def _structured_outputs(outputs):
    tensors = []
    for x in nest.flatten(outputs):
        check_tensor(x)
        made = _output(as_output(x))
        with device(made.device):
            tensors.append(array.identity(made))
    return tensors, []


def _replica_outputs(tensors, operations, count):
    """For each replica its outputs, or one operation where there are none."""
    if not tensors:
        return [group(*operations, name=f"shard_{i}") for i in range(count)]
    shards = []
    for i, tensor in enumerate(tensors):
        outputs = raw.TPUReplicatedOutput(input=tensor, num_replicas=count, name=f"output{i}")
        with control_dependencies(operations):
            shards.append([array.identity(t, name=f"output_{i}_shard_{k}") for k, t in enumerate(outputs)])
    return [list(replica) for replica in zip(*shards, strict=True)]
