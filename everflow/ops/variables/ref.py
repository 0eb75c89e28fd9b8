"""Ref variables: a `VariableV2` node whose output is the buffer itself, with `v/Assign` and `v/read` beside it."""

from __future__ import annotations

import contextlib

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor, register_tensor_conversion_function
from everflow.framework.scopes import (
    colocate_with,
    device,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from everflow.framework.shapes import TensorShape, as_shape
from everflow.ops.variables import assign as state
from everflow.ops.variables import initial_values as safe_initial_value
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


@contextlib.contextmanager
def initializer_scope(op_name):
    """Where an initial value from a function is made: under `Initializer/`, in the variable's colocation group, on no
    device.
    """
    graph = get_default_graph()
    with graph._attr_scope({"_class": [f"loc:@{op_name}".encode()]}), name_scope("Initializer"), device(None):
        yield


class RefVariable(Variable):
    """A variable of the reference kind, TensorFlow 1's default. `expected_shape` has no meaning any more; `shape` has."""

    _in_graph_mode = True

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        collections=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        expected_shape=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("A variable is made of a variable_def or of an initial_value, not of both")
            self._init_from_proto(variable_def, import_scope)
            return
        if executing_eagerly():
            raise RuntimeError(
                "A RefVariable lives in a graph; when executing eagerly, make variables with use_resource=True"
            )
        self._create(
            self._build, initial_value, name, dtype, validate_shape, caching_device, shape,
            collections, constraint, synchronization, aggregation, trainable,
        )  # fmt: skip

    def _build(self, initial_value, scope, dtype, validate_shape, caching_device, shape):
        if callable(initial_value):
            op_name = scope[:-1]
            attr = [f"loc:@{op_name}".encode()]
            with initializer_scope(op_name):
                value = convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
            with get_default_graph()._attr_scope({"_class": attr}):
                self._variable = self._variable_node(value, scope, validate_shape, shape)
        else:
            value = convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
            safe_initial_value.check_outside_control_flow(value, scope)
            self._variable = self._variable_node(value, scope, validate_shape, shape)
        self._name = self._variable.name
        self._initial_value = value
        if validate_shape and not value.shape.is_fully_defined():
            raise ValueError(f"initial_value must have a shape specified: {value}")
        self._initializer_op = state.assign(
            self._variable, safe_initial_value.guarded(scope, value), validate_shape=validate_shape
        ).op
        if caching_device is not None:
            with device(caching_device):
                self._snapshot = raw.Identity(self._variable, name="read")
        else:
            with colocate_with(self._variable.op):
                self._snapshot = raw.Identity(self._variable, name="read")
        self._caching_device = caching_device

    @staticmethod
    def _variable_node(value, scope, validate_shape, shape):
        if shape is None:
            shape = value.shape if validate_shape else TensorShape(None)
        check_node_name(scope)
        return raw.VariableV2(shape=as_shape(shape), dtype=value.dtype.base_dtype, name=scope)

    def _init_from_proto(self, variable_def, import_scope):
        if not isinstance(variable_def, variable_pb2.VariableDef):
            raise AssertionError("variable_def must be a VariableDef")
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._variable = element(variable_def.variable_name)
        self._name = self._variable.name
        self._initializer_op = element(variable_def.initializer_name)
        self._initial_value = element(variable_def.initial_value_name) if variable_def.initial_value_name else None
        self._snapshot = element(variable_def.snapshot_name)
        take_options(self, variable_def, import_scope)
        self._caching_device = None
        self._graph_key = graph._graph_key

    def to_proto(self, export_scope=None):
        """A VariableDef of its nodes' names, or None where it is outside `export_scope`."""
        return to_variable_def(self, self._variable, self._snapshot, export_scope)

    # --- facts -------------------------------------------------------------------------------

    name = property(lambda self: self._name, doc='The name, "v:0".')
    op = property(lambda self: self._variable.op, doc="The VariableV2 operation.")
    dtype = property(lambda self: self._variable.dtype, doc="The dtype, a reference one.")
    device = property(lambda self: self._variable.device, doc="The device asked for.")
    graph = property(lambda self: self._variable.graph)
    shape = property(lambda self: self._variable.shape, doc="The static shape.")
    _shared_name = property(lambda self: self._name[:-2])

    def _as_graph_element(self):
        return self._variable

    def _ref(self):
        return self._variable

    def value(self):
        """The buffer as a tensor: `v/read`."""
        return self._snapshot

    def read_value(self):
        """A new read of the buffer, which waits for the control dependencies around."""
        return raw.Identity(self._variable, name="read")

    # --- changes -----------------------------------------------------------------------------

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Set the value."""
        result = state.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Add to the value."""
        result = state.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtract from the value."""
        result = state.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Set rows inside each batch entry."""
        return state.batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name
        )

    def _strided_slice_assign(
        self, begin, end, strides, value, name, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    ):
        return raw.StridedSliceAssign(
            self._ref(),
            begin,
            end,
            strides,
            value,
            name=name,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis_mask,
            new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask,
        )

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


def _scatter_method(kind, doc):
    def scatter(self, sparse_delta, use_locking=False, name=None):
        values, indices = state.slices_of(sparse_delta)
        return getattr(raw, f"Scatter{kind}")(self._variable, indices, values, use_locking=use_locking, name=name)

    scatter.__name__ = f"scatter_{kind.lower()}"
    scatter.__doc__ = doc
    return scatter


def _scatter_nd_method(kind, doc):
    def scatter(self, indices, updates, name=None):
        return getattr(raw, f"ScatterNd{kind}")(self._variable, indices, updates, use_locking=True, name=name)

    scatter.__name__ = f"scatter_nd_{kind.lower()}"
    scatter.__doc__ = doc
    return scatter


for _kind, _verb in state.SCATTER_KINDS.items():
    setattr(
        RefVariable,
        f"scatter_{_kind.lower()}",
        _scatter_method(_kind, f"{_verb} the rows that an IndexedSlices names."),
    )
for _kind in ("Update", "Add", "Sub"):
    setattr(
        RefVariable,
        f"scatter_nd_{_kind.lower()}",
        _scatter_nd_method(_kind, f"{state.SCATTER_KINDS[_kind]} the slices at `indices`."),
    )


def _to_tensor(variable, dtype=None, name=None, as_ref=False):
    check_conversion(variable, dtype)
    return variable._ref() if as_ref else variable.value()


register_tensor_conversion_function(RefVariable, _to_tensor)
