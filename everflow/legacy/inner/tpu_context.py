"""`TPUContext`: what functions that run for TPUs are told of them; programs look for the class also where there are none."""

from __future__ import annotations


class TPUContext:
    """How many replicas and hosts there are, and which of them a call is for.

    Args:
        internal_ctx: What knows the system: its numbers of hosts and replicas, and how inputs are spread.
        input_device: The device that the inputs of this call go to.
        invocation_index: The number of this call.
        call_from_input_fn: Whether an input function is called, rather than a model function.
    """

    def __init__(self, internal_ctx, input_device=None, invocation_index=None, call_from_input_fn=True):
        self._internal_ctx = internal_ctx
        self._input_device, self._invocation_index = input_device, invocation_index
        self._call_from_input_fn = call_from_input_fn

    def current_input_fn_deployment(self):
        """(device, number of this call, number of calls, replicas that a call serves) of an input function."""
        if not self._call_from_input_fn:
            raise RuntimeError("Only an input function is deployed: this is the context of a model function")
        known = self._internal_ctx
        if known.is_input_sharded_per_core():
            calls, replicas = known.num_hosts * known.num_of_replicas_per_host, 1
        elif known.is_input_broadcast_with_iterators():
            calls, replicas = 1, known.num_replicas
        elif known.is_replica_across_hosts():
            calls, replicas = known.num_replicas, 1
        else:
            calls, replicas = known.num_hosts, known.num_of_replicas_per_host
        return self._input_device, self._invocation_index, calls, replicas

    num_replicas = property(lambda self: self._internal_ctx.num_replicas, doc="How many replicas there are.")
    num_hosts = property(lambda self: self._internal_ctx.num_hosts, doc="How many hosts there are.")
    current_host = property(lambda self: self._invocation_index, doc="The number of the host of this call.")

    @property
    def num_of_replicas_per_host(self):
        """How many replicas a host has; ValueError where a replica has several cores."""
        if self._internal_ctx.model_parallelism_enabled:
            raise ValueError("With several cores for a replica there is no fixed number of replicas on a host")
        return self._internal_ctx.num_of_replicas_per_host

    @property
    def device_assignment(self):
        """Where the cores of replicas are, for model functions."""
        if self._call_from_input_fn:
            raise RuntimeError("Cores are assigned to models: this is the context of an input function")
        return self._internal_ctx.device_assignment

    def device_for_replica(self, replica_id):
        """(device, core) of a replica."""
        return self._internal_ctx.device_for_replica(replica_id)

    @property
    def tpu_host_placement_function(self):
        """`fn(host_id)` that names the device of a host."""
        return lambda host_id=0: self._internal_ctx.tpu_host_placement_function(host_id=host_id)
