"""Where eager operations run: here, on one of the devices that the CPU was divided into or on the only one, or on
another task of a cluster that the program is connected to.

An operation runs where a resource is that it takes, else where `tf.device` says. What it gives stays there, as a
`RemoteTensor`, and comes here when it is looked at or used by an operation here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everflow.eager.tensor import WITHOUT_ARRAYS, EagerTensor
from everflow.framework import devices, errors
from everflow.framework.shapes import TensorShape
from everflow.kernels import tensors
from everflow.protos.attr_value_pb2 import NameAttrList
from everflow.runtime.process_options import PROCESS

if TYPE_CHECKING:
    from everflow.cluster.eager_client import Connection, RemoteValue
    from everflow.framework.dtypes import DType
    from everflow.framework.graph_scopes import DeviceScope
    from everflow.framework.hints import Attributes, GraphFunctionLike
    from everflow.framework.op_defs import OpDef
    from everflow.framework.operation import Tensor
    from everflow.runtime.hints import Value

HERE = ""  # as a place
_numbers = itertools.count()
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class RemoteTensor(EagerTensor):
    """An eager tensor whose value is on another task."""

    _fetched: Value = None

    def __init__(self, remote: RemoteValue, connection: Connection) -> None:
        super().__init__(None, remote.dtype)
        self.remote = remote
        self.connection = connection
        self._known_shape = TensorShape(remote.shape)

    # Kernels here take the value of a tensor from this attribute: it comes when it is first needed.
    @property
    def _value(self) -> Value:
        if self._fetched is None:
            self._fetched = self.connection.fetch(self.remote)
        return self._fetched

    @_value.setter
    def _value(self, value: Value) -> None:
        self._fetched = value

    @property
    def device(self) -> str:
        return self.remote.device

    backing_device = device

    def cpu(self) -> EagerTensor:
        """A copy here."""
        return EagerTensor(self._value, self._dtype)


class Places:
    """The cluster that the program is connected to, if there is one."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        # Whether any operation was asked to run on another device of this task than its first one.
        self.divided = False

    def requested(self, stack: Iterable[DeviceScope]) -> tuple[str, str]:
        """The place that `tf.device` scopes ask for: HERE, or the name of a device of another task; and HERE or the
        name of the device of this task, where that is not its first one.
        """
        name = ""
        for entry, _, _ in reversed(list(stack)):
            if entry is None:
                break
            if not callable(entry) and entry:
                name = devices.merged_name(entry, name)
        spec = devices.DeviceSpec.from_string(name)
        here = devices.DeviceSpec.from_string(PROCESS.task)
        spec = here.make_merged_spec(spec)
        spec.device_type, spec.device_index = spec.device_type or "CPU", spec.device_index or 0
        if spec.job != here.job or spec.task != here.task:
            return spec.to_string(), HERE
        if spec.device_index == 0 or spec.device_type != "CPU" or spec.device_index >= _devices_here():
            return HERE, HERE
        self.divided = True
        return HERE, spec.to_string()

    @staticmethod
    def within(local: str, op_type: str, inputs: Sequence[Tensor]) -> str:
        """The device of this task for an operation on these inputs, where `local` is asked for: that of a resource
        among them; functions may take resources of several.
        """
        return (
            local
            if op_type in _CALLS
            else next((t._place for t in inputs if t._dtype in WITHOUT_ARRAYS and isinstance(t, EagerTensor)), local)
        )

    def of(self, requested: str, inputs: Sequence[Tensor]) -> str:
        """The place of an operation on these inputs: resources and variants are used where they are."""
        for tensor in inputs:
            if tensor._dtype in WITHOUT_ARRAYS:
                return tensor.remote.device if isinstance(tensor, RemoteTensor) else HERE
        return requested

    def run(
        self,
        place: str,
        definition: OpDef,
        inputs: Sequence[Tensor],
        attrs: Attributes,
        dtypes: Sequence[DType],
        functions: Mapping[str, GraphFunctionLike],
    ) -> list[Tensor]:
        """The outputs of an operation that runs on another task."""
        connection = self.connection
        if connection is None:
            raise RuntimeError(
                f"{place} unknown device: the program is connected to no cluster (tf.config.experimental_connect_to_cluster)."
            )
        context = connection.context(place)
        for name in _functions_in(attrs.values()):
            if name in functions:
                context.learn(functions[name], functions)
        try:
            if definition.name == "Const":
                made = [context.send(place, *_constant(attrs))]
            else:
                given = [_there(connection, tensor, place) for tensor in inputs]
                made = context.run(place, *_named(connection, definition, attrs), given, dtypes)
        except errors.OpError as e:
            if e.message.endswith("]") and "[Op:" in e.message:
                raise
            raise errors.of_code(e.error_code, None, None, f"{e.message} [Op:{definition.name}]") from None
        for value in made:
            value.destroys = value.dtype.name == "resource" and not inputs
        return [RemoteTensor(value, connection) for value in made]


def _devices_here() -> int:
    return len(PROCESS.logical_devices("CPU"))


def _there(connection: Connection, tensor: Tensor, place: str) -> RemoteValue | tuple[Value, DType]:
    """An input for an operation on a place: the value there, or one of this process that is sent along."""
    if not isinstance(tensor, RemoteTensor):
        return tensor._value, tensor._dtype
    if tensor.connection is not connection:
        text = f"A tensor on {tensor.device} is of a connection to a cluster that the program has ended"
        raise errors.AbortedError(None, None, text)
    if tensor.remote.device.partition("/device:")[0] == place.partition("/device:")[0]:
        return tensor.remote
    return connection.move(tensor.remote, place)


def _named(connection: Connection, definition: OpDef, attrs: Attributes) -> tuple[str, Attributes]:
    """What an operation is called on a task, and its attributes there."""
    if definition.name in _CALLS:  # TensorFlow's tasks want a function called by its own name
        return attrs["f"].name, {key: attrs[key] for key in ("config_proto", "executor_type")}
    shared = attrs.get("shared_name")
    if shared is None or definition.inputs or definition.name != "VarHandleOp" and shared:
        return definition.name, attrs
    # Programs must not meet there by chance.
    name = shared or b"%s_%d" % (definition.name.encode(), next(_numbers))
    return definition.name, {**attrs, "shared_name": connection.unique(name)}


def _constant(attrs: Attributes) -> tuple[Value, DType]:
    return tensors.from_numpy(attrs["value"].array), attrs["dtype"]


def _functions_in(values: Iterable[Any]) -> list[str]:
    """The names of the functions among attributes."""
    lists = [value if isinstance(value, list) else [value] for value in values]
    return [item.name for each in lists for item in each if isinstance(item, NameAttrList)]


PLACES = Places()
