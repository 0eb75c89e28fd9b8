"""Resource variables: a `VarHandleOp` node, read by `ReadVariableOp` at each use, so that a read is a snapshot."""

from __future__ import annotations

import contextlib
import itertools

from everflow.framework import builder, dtypes, op_defs, tapes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor, register_tensor_conversion_function
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from everflow.framework.shapes import TensorShape, as_shape
from everflow.ops.variables import assign as state
from everflow.ops.variables import initial_values as safe_initial_value
from everflow.ops.variables.handles import handle_data
from everflow.ops.variables.options import (
    VariableAggregation,
    VariableSynchronization,
    check_node_name,
    prepend_name_scope,
    take_options,
    to_variable_def,
)
from everflow.ops.variables.variable import Variable, check_conversion
from everflow.protos import variable_pb2

_eager_numbers = itertools.count()
# Functions from a name to the value that a new variable of eager execution begins with, in place of its own initial
# value.
_initial_values: list = []


@contextlib.contextmanager
def initial_values_from(value_for):
    """A context in which variables that are made eagerly begin with `value_for(name)`."""
    _initial_values.append(value_for)
    try:
        yield
    finally:
        _initial_values.pop()


def is_resource_variable(var) -> bool:
    """Whether it is a variable of the resource kind."""
    return isinstance(var, Variable) and hasattr(var, "handle")


class BaseResourceVariable(Variable):
    """What a resource variable and the result of assigning to one share: reads and writes through a handle."""

    # The VarHandleOp of a variable that was made eagerly; its tensor doesn't know it.
    _eager_op = None

    # --- facts -------------------------------------------------------------------------------

    name = property(lambda self: self._handle_name, doc='The name, "v:0".')
    handle = property(lambda self: self._handle, doc="The resource handle, which ops on the variable take.")
    op = property(lambda self: self._eager_op or self._handle.op, doc="The VarHandleOp operation.")
    dtype = property(lambda self: self._dtype, doc="The dtype.")
    device = property(lambda self: self._handle.device, doc="The device asked for.")
    graph = property(lambda self: self._handle.graph)
    shape = property(lambda self: self._shape, doc="The static shape.")
    create = property(lambda self: self._initializer_op, doc="The operation that gives it its initial value.")
    _shared_name = property(lambda self: self._handle_name[: self._handle_name.index(":")])

    @property
    def _unique_id(self):
        """What tells it from all others: its name in a graph; eagerly, several may have one name."""
        if not self._handle.is_eager:
            return self._shared_name
        if "_number" not in self.__dict__:
            self.__dict__["_number"] = next(_eager_numbers)
        return f"{self._shared_name}_{self._number}"

    def set_shape(self, shape):
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def _as_graph_element(self):
        return self._graph_element

    _in_graph_mode = property(lambda self: not self._handle.is_eager)

    @property
    def initial_value(self):
        """The tensor that it is initialized with."""
        if not self._in_graph_mode:
            raise RuntimeError(f"{self.name} was made eagerly: its initial value is not kept")
        return self._initial_value

    def numpy(self):
        """The value as a numpy array, when executing eagerly."""
        _need_eager("numpy()")
        return self.read_value().numpy()

    def __bool__(self):
        return bool(self.read_value())

    def __int__(self):
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(f"A variable of dtype {self._dtype.name} is no int; convert it with float() first")
        return int(self.value().numpy())

    def __complex__(self):
        return complex(self.value().numpy())

    def __float__(self):
        return float(self.value().numpy())

    # --- reads -------------------------------------------------------------------------------

    def _note_read(self):
        """Tell tapes and the body of a function that is drawn that it is read."""
        tapes.variable_accessed(self)
        get_default_graph().variable_accessed(self)

    def _read_variable_op(self):
        self._note_read()
        value = raw.ReadVariableOp(self._handle, dtype=self._dtype)
        graph = get_default_graph()
        if tapes.active() and graph._get_control_flow_context() is not None:
            # In a branch or a loop the read is of what stands for the handle there; tapes watch the handle.
            handle = graph.capture(self._handle) if graph.building_function else self._handle
            tapes.record(tapes.CallRecord([handle], [value], lambda grad: [grad]))
        return value

    def value(self):
        """A read of the value, made anew at each call."""
        if self._cached_value is not None:
            return self._cached_value
        if get_default_graph().executes:  # where the handle is, whatever the scopes around ask for
            return self._read_variable_op()
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read_variable_op()

    def read_value(self):
        """A new read of the value, which waits for the control dependencies around."""
        with name_scope("Read"), device(self._handle.device):
            value = self._read_variable_op()
        return raw.Identity(value)

    def sparse_read(self, indices, name=None):
        """The rows at `indices`."""
        with name_scope("Gather" if name is None else name) as scope:
            self._note_read()
            value = raw.ResourceGather(self._handle, indices, dtype=self._dtype, name=scope)
        return raw.Identity(value)

    def gather_nd(self, indices, name=None):
        """The slices that `indices` address."""
        with name_scope("GatherNd" if name is None else name) as scope:
            self._note_read()
            value = raw.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=scope)
        return raw.Identity(value)

    def is_initialized(self, name=None):
        """Whether it has a value."""
        return raw.VarIsInitializedOp(self._handle, name=name)

    # --- changes -----------------------------------------------------------------------------

    def _lazy_read(self, op):
        return UnreadVariable(self, op)

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """Set the value."""
        value = convert_to_tensor(value, dtype=self._dtype)
        self._shape.assert_is_compatible_with(value.shape)
        op = raw.AssignVariableOp(self._handle, value, name=name)
        return self._lazy_read(op) if read_value else op

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """Add to the value."""
        op = raw.AssignAddVariableOp(self._handle, convert_to_tensor(delta, dtype=self._dtype), name=name)
        return self._lazy_read(op) if read_value else op

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """Subtract from the value."""
        op = raw.AssignSubVariableOp(self._handle, convert_to_tensor(delta, dtype=self._dtype), name=name)
        return self._lazy_read(op) if read_value else op

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Set rows inside each batch entry."""
        values, indices = state.slices_of(sparse_delta)
        return state.batch_scatter_update(self, indices, values, use_locking=use_locking, name=name)

    def _strided_slice_assign(
        self, begin, end, strides, value, name, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    ):
        op = raw.ResourceStridedSliceAssign(
            self._handle,
            begin,
            end,
            strides,
            convert_to_tensor(value, dtype=self._dtype),
            name=name,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis_mask,
            new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask,
        )
        return self._lazy_read(op)

    def __repr__(self):
        value = f", numpy={self.read_value()._text()}" if executing_eagerly() and not self._in_graph_mode else ""
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}{value}>"


class ResourceVariable(BaseResourceVariable):
    """A variable of the resource kind: reads are snapshots, in the order that the graph says."""

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        collections=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        dtype=None,
        variable_def=None,
        import_scope=None,
        constraint=None,
        distribute_strategy=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("A variable is made of a variable_def or of an initial_value, not of both")
            self._init_from_proto(variable_def, import_scope)
            return
        self._distribute_strategy = distribute_strategy
        safe_initial_value.check_outside_functions(initial_value)
        self._create(
            self._build_now_or_in_graph, initial_value, name, dtype, validate_shape, caching_device, shape,
            collections, constraint, synchronization, aggregation, trainable,
        )  # fmt: skip

    def _build_now_or_in_graph(self, *arguments):
        (self._build_eagerly if executing_eagerly() else self._build)(*arguments)

    def __deepcopy__(self, memo):
        """Another variable of the same name and value, when executing eagerly."""
        _need_eager("copy.deepcopy()")
        memo[id(self)] = made = ResourceVariable(
            initial_value=self.read_value(),
            trainable=self._trainable,
            constraint=self._constraint,
            dtype=self._dtype,
            name=self._shared_name,
            synchronization=self._synchronization,
            aggregation=self._aggregation,
        )
        return made

    def _build(self, initial_value, scope, dtype, validate_shape, caching_device, shape):
        graph = get_default_graph()
        op_name = scope[:-1]
        with graph._attr_scope({"_class": [f"loc:@{op_name}".encode()]}):
            with name_scope("Initializer"), device(None):
                value = initial_value() if callable(initial_value) else initial_value
                value = convert_to_tensor(value, name="initial_value", dtype=dtype)
            if shape is None:
                shape = value.shape if validate_shape or value.shape.ndims is not None else TensorShape(None)
            self._shape = as_shape(shape)
            check_node_name(scope)
            self._handle = raw.VarHandleOp(
                dtype=value.dtype.base_dtype, shape=self._shape, shared_name=op_name, name=scope
            )
        self._dtype = value.dtype.base_dtype
        self._handle_name = op_name + ":0"
        self._initial_value = value
        safe_initial_value.check_outside_control_flow(value, scope)
        with name_scope("IsInitialized"):
            self._is_initialized_op = raw.VarIsInitializedOp(self._handle)
        with (
            name_scope("Assign") as assign_scope,
            colocate_with(None, ignore_existing=True),
            device(self._handle.device),
        ):
            self._initializer_op = raw.AssignVariableOp(
                self._handle, safe_initial_value.guarded(scope, value), name=assign_scope
            )
        with name_scope("Read"):
            with device(self._handle.device):
                read = self._read_variable_op()
            self._graph_element = read
            self._cached_value = None
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(caching_device):
                    self._cached_value = raw.Identity(read)

    def _build_eagerly(self, initial_value, scope, dtype, validate_shape, caching_device, shape):
        with tapes.stop_recording():
            with name_scope("Initializer"):
                value = convert_to_tensor(initial_value() if callable(initial_value) else initial_value, dtype=dtype)
            self._dtype = value.dtype.base_dtype
            if _initial_values:
                value = convert_to_tensor(_initial_values[-1](scope[:-1]), dtype=self._dtype)
            self._shape = value.shape if shape is None else as_shape(shape)
            if not self._shape.is_compatible_with(value.shape):
                raise ValueError(f"An initial value of shape {value.shape} is none for a variable of shape {shape}.")
            self._handle_name = scope[:-1] + ":0"
            # Many may have one name; the number makes each another resource.
            shared_name = f"{scope[:-1]}_{next(_eager_numbers)}"
            attrs = {"dtype": self._dtype, "shape": self._shape, "shared_name": shared_name}
            self._eager_op = builder.create(op_defs.get("VarHandleOp"), scope, attrs)
            (self._handle,) = self._eager_op.outputs
            raw.AssignVariableOp(self._handle, value)
        self._initial_value = self._initializer_op = self._is_initialized_op = self._graph_element = (
            self._cached_value
        ) = None

    def _init_from_proto(self, variable_def, import_scope):
        if not isinstance(variable_def, variable_pb2.VariableDef):
            raise AssertionError("variable_def must be a VariableDef")
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(prepend_name_scope(name, import_scope)) if name else None

        self._handle = element(variable_def.variable_name)
        self._shape, self._dtype = handle_data(self._handle)
        self._handle_name = self._handle.name
        self._initializer_op = element(variable_def.initializer_name)
        self._initial_value = element(variable_def.initial_value_name)
        take_options(self, variable_def, import_scope)
        snapshot = element(variable_def.snapshot_name)
        if snapshot is not None:
            # A snapshot that is not the read itself is a copy on another device, which reads then use.
            cached = snapshot.op.type != "ReadVariableOp"
            self._cached_value = snapshot if cached else None
            self._graph_element = snapshot.op.inputs[0] if cached else snapshot
        else:
            self._cached_value = None
            self._graph_element = graph.get_tensor_by_name(self._handle.op.name + "/Read/ReadVariableOp:0")
        self._distribute_strategy = None
        self._graph_key = graph._graph_key

    def to_proto(self, export_scope=None):
        """A VariableDef of its nodes' names, or None where it is outside `export_scope`."""
        if not self._in_graph_mode:
            raise RuntimeError(f"{self.name} was made eagerly: it has no nodes whose names to_proto could give")
        snapshot = self._graph_element if self._cached_value is None else self._cached_value
        return to_variable_def(self, self._handle, snapshot, export_scope, is_resource=True)


class _UnreadVariable(BaseResourceVariable):
    """The result of changing a resource variable: that variable, read after the change."""

    def __init__(self, variable, parent_op):
        self._handle = variable._handle
        self._handle_name = variable._handle_name
        self._dtype = variable._dtype
        self._shape = variable._shape
        self._trainable = variable._trainable
        self._synchronization = variable._synchronization
        self._aggregation = variable._aggregation
        self._constraint = variable._constraint
        self._initializer_op = variable._initializer_op
        self._initial_value = variable._initial_value
        self._graph_key = variable._graph_key
        self._save_slice_info = None
        self._cached_value = None
        self._parent_op = parent_op
        self._eager_op = variable._eager_op
        self._graph_element = None
        # Bodies of functions have a read only where the value is used.
        if not executing_eagerly() and not get_default_graph().building_function:
            with control_dependencies([parent_op]):
                self._graph_element = raw.ReadVariableOp(self._handle, dtype=self._dtype)

    name = property(lambda self: "UnreadVariable" if self._parent_op is None else self._parent_op.name)
    op = property(lambda self: self._parent_op, doc="The operation that changed the variable.")

    def _read_variable_op(self):
        with control_dependencies([self._parent_op]):
            return super()._read_variable_op()

    # Both are the read alone: on the device and beside what the program says, and without a scope of its own.

    def value(self):
        return self._read_variable_op()

    def read_value(self):
        return self._read_variable_op()


UnreadVariable = _UnreadVariable  # the class keeps the name that programs see in TensorFlow


def _scatter_method(kind):
    def scatter(self, sparse_delta, use_locking=False, name=None):
        values, indices = state.slices_of(sparse_delta)
        resource_scatter = getattr(raw, f"ResourceScatter{kind}")
        return self._lazy_read(
            resource_scatter(self._handle, indices, convert_to_tensor(values, self._dtype), name=name)
        )

    scatter.__name__ = f"scatter_{kind.lower()}"
    scatter.__doc__ = f"{state.SCATTER_KINDS[kind]} the rows that an IndexedSlices names."
    return scatter


def _scatter_nd_method(kind):
    def scatter(self, indices, updates, name=None):
        resource_scatter = getattr(raw, f"ResourceScatterNd{kind}")
        return self._lazy_read(
            resource_scatter(self._handle, indices, convert_to_tensor(updates, self._dtype), name=name)
        )

    scatter.__name__ = f"scatter_nd_{kind.lower()}"
    scatter.__doc__ = f"{state.SCATTER_KINDS[kind]} the slices at `indices`."
    return scatter


def _need_eager(what):
    if not executing_eagerly():
        raise NotImplementedError(
            f"{what} is for variables that have a value at once, as when executing eagerly; run a session instead"
        )


def _no_in_place(symbol, advice):
    def refuse(self, other):
        raise RuntimeError(
            f"Variable {symbol} value not supported: `{advice}` changes the variable, `var = var {symbol[:-1]} value` gives a new tensor"
        )

    return refuse


for _kind in state.SCATTER_KINDS:
    setattr(BaseResourceVariable, f"scatter_{_kind.lower()}", _scatter_method(_kind))
for _kind in ("Update", "Add", "Sub"):
    setattr(BaseResourceVariable, f"scatter_nd_{_kind.lower()}", _scatter_nd_method(_kind))
for _name, _symbol, _advice in (
    ("__iadd__", "+=", "var.assign_add(value)"),
    ("__isub__", "-=", "var.assign_sub(value)"),
    ("__imul__", "*=", "var.assign(var * value)"),
    ("__itruediv__", "/=", "var.assign(var / value)"),
    ("__idiv__", "/=", "var.assign(var / value)"),
    ("__irealdiv__", "/=", "var.assign(var / value)"),
    ("__ipow__", "**=", "var.assign(var ** value)"),
):
    setattr(BaseResourceVariable, _name, _no_in_place(_symbol, _advice))


def _to_tensor(variable, dtype=None, name=None, as_ref=False):
    check_conversion(variable, dtype)
    return variable.read_value().op.inputs[0] if as_ref else variable.value()


register_tensor_conversion_function(BaseResourceVariable, _to_tensor)
