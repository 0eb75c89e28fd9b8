"""The variables that `get_variable` has made in a graph, by name: finding, sharing, and making them whole or in parts."""

from __future__ import annotations

import contextlib
import enum
import inspect

from everflow.framework import dtypes, strategy_context
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    add_to_collection,
    add_to_collections,
    colocate_with,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.framework.shapes import as_shape
from everflow.ops import array
from everflow.ops.variables import initializers
from everflow.ops.variables import variable as variables
from everflow.ops.variables.partitioned import PartitionedVariable


class _ReuseMode(enum.Enum):
    """Values of `reuse` beside True and False."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
_STORE_KEY = ("__variable_store",)


def _check_sizes(what, sizes, full_shape):
    if not isinstance(sizes, (list, tuple)):
        raise TypeError(f"{what} must be a list or a tuple, not {type(sizes).__name__}")
    if len(sizes) != len(full_shape):
        raise ValueError(
            f"{what} must be of equal length with the whole variable's shape; got {sizes} for {full_shape}"
        )


class PartitionInfo:
    """Told to an initializer that fills one part of a variable: the whole's shape and where the part begins."""

    def __init__(self, full_shape, var_offset):
        _check_sizes("full_shape", full_shape, full_shape)
        _check_sizes("var_offset", var_offset, full_shape)
        if not all(0 <= offset < size for offset, size in zip(var_offset, full_shape, strict=True)):
            raise ValueError(f"A part can't begin at {var_offset} of a variable of shape {full_shape}")
        self._full_shape = full_shape
        self._var_offset = var_offset

    full_shape = property(lambda self: self._full_shape, doc="The whole variable's shape.")
    var_offset = property(lambda self: self._var_offset, doc="Where this part begins.")

    def single_offset(self, shape):
        """The offset along the one axis that is cut; 0 where none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape):
        """The one axis along which a part of this shape is cut, or None; ValueError where there are several."""
        _check_sizes("shape", shape, self.full_shape)
        if any(at + part > whole for at, part, whole in zip(self.var_offset, shape, self.full_shape, strict=True)):
            raise ValueError(
                f"A part of shape {shape} at {self.var_offset} doesn't lie in the whole variable, {self.full_shape}"
            )
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape, strict=True)) if part != whole]
        if len(cut) > 1:
            raise ValueError(
                f"A part of shape {shape} is cut along several axes of {self.full_shape}, {cut}, where one at most is wanted"
            )
        return cut[0] if cut else None


# What is handed on to a new variable as it is.
_OPTIONS = (
    *(
        "trainable",
        "collections",
        "caching_device",
        "validate_shape",
        "use_resource",
        "constraint",
        "synchronization",
        "aggregation",
    ),
)


class VariableStore:
    """The variables of one graph that were made by `get_variable`.

    When executing eagerly variables live as long as somebody holds them: a store then remembers them only if it
    `keeps_eager` ones.
    """

    keeps_eager = False

    def __init__(self):
        self._vars = {}
        self._partitioned_vars = {}

    def get_variable(
        self,
        name,
        shape=None,
        dtype=dtypes.float32,
        initializer=None,
        regularizer=None,
        reuse=None,
        trainable=None,
        collections=None,
        caching_device=None,
        partitioner=None,
        validate_shape=True,
        use_resource=None,
        custom_getter=None,
        constraint=None,
        synchronization=variables.VariableSynchronization.AUTO,
        aggregation=variables.VariableAggregation.NONE,
    ):
        """The variable of this full name: the one there is, or a new one, as `reuse` allows."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"custom_getter must be a function or other callable, not {custom_getter!r}")
        dtype = dtypes.as_dtype(dtype).base_dtype
        synchronization, aggregation, trainable = variables.validate_synchronization_aggregation_trainable(
            synchronization, aggregation, trainable, name
        )
        arguments = dict(locals())
        del arguments["self"], arguments["custom_getter"]
        if custom_getter is None:
            return self._get(**arguments)
        # Getters written before there were constraints don't take one.
        if not _accepts(custom_getter, "constraint") and constraint is None:
            del arguments["constraint"]
        return custom_getter(getter=self._get, **arguments)

    def _get(
        self,
        name,
        shape=None,
        dtype=dtypes.float32,
        initializer=None,
        regularizer=None,
        reuse=None,
        trainable=None,
        collections=None,
        caching_device=None,
        partitioner=None,
        validate_shape=True,
        use_resource=None,
        constraint=None,
        synchronization=variables.VariableSynchronization.AUTO,
        aggregation=variables.VariableAggregation.NONE,
    ):
        given = locals()
        options = {option: given[option] for option in _OPTIONS}
        if executing_eagerly():
            # A read is a value: there is nothing to cache.
            reuse, options["use_resource"], options["caching_device"] = AUTO_REUSE, True, None
        frame = strategy_context.current()
        if frame is not None and not frame.strategy.extended._has_partitioned_variables:
            partitioner = None
        is_scalar = shape is not None and isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self._get_partitioned(name, partitioner, shape, dtype, initializer, regularizer, reuse, options)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._get_partitioned(name, None, shape, dtype, initializer, regularizer, reuse, options)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                f"Variable {name} was made in parts, as {name}/part_0 is there: ask for it with its partitioner"
            )
        return self._get_single(name, shape, dtype, initializer, regularizer, reuse, options)

    # --- whole variables ---------------------------------------------------------------------

    def _get_single(self, name, shape, dtype, initializer, regularizer, reuse, options, partition_info=None):
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError(f"The initializer of {name} is a value, with a shape of its own: do not specify shape")
        dtype = dtypes.as_dtype(dtype)
        shape = as_shape(shape)
        if name in self._vars:
            return self._shared(name, shape, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or tf.get_variable() did not make it. "
                "reuse=tf.AUTO_REUSE in its variable_scope would make it now."
            )
        if initializer is None:
            initializer = default_initializer(name, dtype)
        with init_scope():
            initial_value, variable_dtype = _initial_value(initializer, from_value, shape, dtype, partition_info)
        if options["use_resource"] is None:
            options = {**options, "use_resource": variables.resource_variables_enabled()}
        variable = variables.Variable(initial_value=initial_value, name=name, dtype=variable_dtype, **options)
        if self.keeps_eager or not executing_eagerly():
            self._vars[name] = variable
        if self.keeps_eager and executing_eagerly():
            add_to_collections(options["collections"] or [GraphKeys.GLOBAL_VARIABLES], variable)
            if options["trainable"]:
                add_to_collection(GraphKeys.TRAINABLE_VARIABLES, variable)
        if regularizer:
            with colocate_with(variable.op), name_scope(name + "/Regularizer/"), init_scope():
                loss = regularizer(variable)
            if loss is not None:
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable

    def _shared(self, name, shape, dtype, reuse):
        found = self._vars[name]
        if reuse is False:
            message = f"Variable {name} already exists, disallowed. To get it, give its variable_scope reuse=True or tf.AUTO_REUSE."
            frame = getattr(found.op, "user_frame", None)
            if frame is not None:
                message += (
                    f' Originally defined at:\n\n  File "{frame[0]}", line {frame[1]}, in {frame[2]}\n    {frame[3]}\n'
                )
            raise ValueError(message)
        _check_alike(name, found, shape, dtype)
        return found

    # --- variables in parts ------------------------------------------------------------------

    def _get_partitioned(self, name, partitioner, shape, dtype, initializer, regularizer, reuse, options):
        from_value = initializer is not None and not callable(initializer)
        if name in self._vars:
            raise ValueError(f"Variable {name} was made in one piece: ask for it without a partitioner")
        shape = as_shape(shape)
        if from_value:
            initializer = convert_to_tensor(initializer)
            shape = shape.merge_with(initializer.get_shape())
        partitions = None
        if not reuse or partitioner:
            partitions = _call_partitioner(partitioner, shape, dtype)
        if name in self._partitioned_vars:
            return self._shared_partitioned(name, shape, dtype, reuse, partitions)
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or tf.get_variable() did not make it. "
                "reuse=tf.AUTO_REUSE in its variable_scope would make it now."
            )
        axis = next((i for i, count in enumerate(partitions) if count > 1), 0)
        count = partitions[axis]
        if f"{name}/part_0" in self._vars and f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"The partitioner wants {count} parts of {name}, which was made with another number")
        parts = []
        for i, (offset, part_shape) in enumerate(_parts_of(shape.as_list(), axis, count)):
            parts.append(
                self._make_part(
                    name, i, offset, part_shape, shape, dtype, initializer, from_value, regularizer, reuse, options
                )
            )
        whole = PartitionedVariable(name=name, shape=shape, dtype=dtype, variable_list=parts, partitions=partitions)
        if self.keeps_eager or not executing_eagerly():
            self._partitioned_vars[name] = whole
        return whole

    def _make_part(
        self, name, index, offset, part_shape, shape, dtype, initializer, from_value, regularizer, reuse, options
    ):
        full_name = f"{name}/part_{index}"
        info = PartitionInfo(full_shape=shape.as_list(), var_offset=offset)
        with name_scope(full_name + "/PartitionedInitializer"):
            if initializer is None:
                initializer = default_initializer(name, dtype)
            if from_value:
                initializer, given_shape = array.slice_(initializer, offset, part_shape), None
            else:
                given_shape = part_shape
        with name_scope(None):
            part = self._get_single(
                full_name, given_shape, dtype, initializer, regularizer, reuse, options, partition_info=info
            )
        part._set_save_slice_info(variables.SaveSliceInfo(name, shape.as_list(), offset, part_shape))
        return part

    def _shared_partitioned(self, name, shape, dtype, reuse, partitions):
        if reuse is False:
            raise ValueError(
                f"Partitioned variable {name} already exists. To get it, give its variable_scope reuse=True or tf.AUTO_REUSE."
            )
        found = self._partitioned_vars[name]
        _check_alike(name, found, shape, dtype)
        if partitions is not None and found._get_partitions() != partitions:
            raise ValueError(
                f"Variable {name} is in {found._get_partitions()} parts along its axes, not in {partitions}"
            )
        return found


def _accepts(function, argument):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == argument or p.kind is p.VAR_KEYWORD for p in parameters)


def default_initializer(name, dtype):
    """What fills a variable for which no initializer was given: Glorot's uniform one for floats, zeros for the rest."""
    if dtype.is_floating:
        return initializers.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
        return initializers.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _initial_value(initializer, from_value, shape, dtype, partition_info):
    """(initial value or function that makes it, dtype) for the variable's constructor."""
    if from_value:
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        keywords = {"dtype": dtype.base_dtype}
        if _names_argument(initializer, "partition_info"):
            keywords["partition_info"] = partition_info
        return lambda: initializer(shape.as_list(), **keywords), dtype.base_dtype
    if _needs_no_arguments(initializer):
        return initializer, None
    raise ValueError(
        f"The initializer {initializer!r} doesn't fit: one that takes a shape needs it fully known, here {shape}; else it must take nothing"
    )


def _names_argument(function, argument):
    try:
        return argument in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _needs_no_arguments(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return not any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _check_alike(name, found, shape, dtype):
    """ValueError unless the variable that is there under a name is what was asked for."""
    if not shape.is_compatible_with(found.shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {shape}, where it has {found.shape}")
    if not dtype.is_compatible_with(found.dtype):
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name}, where it has {found.dtype.name}"
        )


def _call_partitioner(partitioner, shape, dtype):
    if not shape.is_fully_defined():
        raise ValueError(f"A variable in parts needs a fully known shape, but has {shape}")
    if shape.ndims < 1:
        raise ValueError("A scalar can't be cut into parts")
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != shape.ndims:
        raise ValueError(f"The partitioner must return a number for each size of {shape}, but returned {partitions}")
    if any(p < 1 for p in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(p > 1 for p in partitions) > 1:
        raise ValueError(f"A variable is cut along one axis; the partitioner wants {partitions} parts of {shape}")
    return list(partitions)


def _parts_of(shape, axis, count):
    """(offset, shape) of each of `count` parts along an axis; the first ones take what is left over."""
    size, rest = divmod(shape[axis], count)
    position = 0
    for i in range(count):
        length = size + (i < rest)
        offset = [0] * len(shape)
        offset[axis] = position
        part = list(shape)
        part[axis] = length
        position += length
        yield offset, part


@contextlib.contextmanager
def default_store(store):
    """A context in which `get_variable` of the default graph uses this store."""
    held = get_default_graph().get_collection_ref(_STORE_KEY)
    before = list(held)
    held[:] = [store]
    try:
        yield store
    finally:
        held[:] = before


def get_variable_store() -> VariableStore:
    """The store of the default graph."""
    held = get_default_graph().get_collection_ref(_STORE_KEY)
    if not held:
        held.append(VariableStore())
    return held[0]
