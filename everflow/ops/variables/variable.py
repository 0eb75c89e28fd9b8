"""`tf.Variable`: what ref and resource variables share, the dispatch between them, collections of variables and their
initializers.

The two kinds live in `ref_variables.py` and `resource_variables.py`; `tf.Variable(...)` picks one through the creators
that `variable_creator_scope` puts in between.
"""

from __future__ import annotations

import functools
import inspect

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Reference, Tensor
from everflow.framework.scopes import (
    add_to_collections,
    colocate_with,
    device,
    executing_eagerly,
    get_collection,
    get_default_graph,
    get_default_session,
    init_scope,
    name_scope,
    register_proto_function,
)
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.array.slicing import slice_variable
from everflow.ops.control_flow import cond
from everflow.ops.control_flow.grouping import group
from everflow.ops.math.elementwise import logical_not
from everflow.ops.variables import assign as state
from everflow.ops.variables.options import (
    SaveSliceInfo,
    VariableAggregation,
    VariableSynchronization,
    check_creation_arguments,
    prepend_name_scope,  # noqa: F401  for whoever reads graphs from files
    validate_synchronization_aggregation_trainable,  # noqa: F401
)
from everflow.protos import variable_pb2

_resource_by_default = False


def enable_resource_variables():
    """Make `tf.Variable` and `tf.get_variable` create resource variables unless told otherwise.

    Returns:
        None.

    Example:
        >>> tf.enable_resource_variables()
        >>> type(tf.Variable(1.0)).__name__
        'ResourceVariable'
        >>> tf.disable_resource_variables()
    """
    global _resource_by_default
    _resource_by_default = True


def disable_resource_variables():
    """Make `tf.Variable` and `tf.get_variable` create ref variables unless told otherwise.

    Returns:
        None.

    Example:
        >>> tf.disable_resource_variables()
        >>> tf.resource_variables_enabled()
        False
    """
    global _resource_by_default
    _resource_by_default = False


def resource_variables_enabled():
    """Whether resource variables are what is made by default.

    Returns:
        A bool.

    Example:
        >>> tf.resource_variables_enabled()
        False
    """
    return _resource_by_default


class VariableMetaclass(type):
    """Makes `tf.Variable(...)` give a variable of the kind that the surroundings ask for, and that of version 2 one of
    the resource kind.
    """

    def __call__(cls, *args, **kwargs):
        if cls not in _LAST_CREATORS:
            return super().__call__(*args, **kwargs)
        bound = _constructor_signature(cls).bind(None, *args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        del arguments["self"]
        if arguments["aggregation"] is None:
            arguments["aggregation"] = VariableAggregation.NONE
        create = functools.partial(_LAST_CREATORS[cls], None)
        for _, creator in get_default_graph()._variable_creator_stack:
            create = _bind_creator(creator, create)
        return create(**arguments)


@functools.cache
def _constructor_signature(cls):
    return inspect.signature(cls.__init__)


def _bind_creator(creator, next_creator):
    return lambda **kwargs: creator(next_creator, **kwargs)


def default_variable_creator(next_creator=None, **kwargs):
    """The creator at the end of the chain: makes the variable, of the kind that `use_resource` or the scope asks for."""
    from everflow.ops.variables.scope import get_variable_scope  # builds on this module

    if next_creator is not None:
        return next_creator(**kwargs)
    use_resource = kwargs.pop("use_resource", None)
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = _resource_by_default
    ref, resource = _kinds()
    if use_resource or executing_eagerly():  # where there is no graph, no variable could live in one
        kwargs.pop("expected_shape", None)
        return resource(**kwargs)
    return ref(**kwargs)


def default_variable_creator_v2(next_creator=None, **kwargs):
    """The end of the chain for variables of version 2, which are of the resource kind."""
    if next_creator is not None:
        return next_creator(**kwargs)
    kwargs.pop("use_resource", None)  # strategies ask every creator for it, and here is nothing else
    return _kinds()[1](**kwargs)


def _kinds():
    from everflow.ops.variables.ref import RefVariable  # builds on this module
    from everflow.ops.variables.resource import ResourceVariable  # builds on this module

    return RefVariable, ResourceVariable


def _left_to_the_kind(self):
    raise NotImplementedError


class VariableV2(metaclass=VariableMetaclass):
    """What variables of all kinds can do; as `tf.compat.v2.Variable(...)` it makes those of the resource kind.

    Example:
        >>> tf.compat.v2.Variable(1.0).dtype
        tf.float32
    """

    # Numpy leaves `array * variable` to the variable.
    __array_priority__ = 100
    _is_tensor_like = True
    SaveSliceInfo = SaveSliceInfo

    def _create(self, build, initial_value, name, dtype, validate_shape, caching_device, shape,
                collections, constraint, synchronization, aggregation, trainable):  # fmt: skip
        """What the constructors of both kinds do: check the arguments, build the ops outside of functions and control
        flow, join collections.
        """
        self._save_slice_info = None
        self._graph_key = get_default_graph()._graph_key
        options = check_creation_arguments(
            initial_value, collections, constraint, synchronization, aggregation, trainable, name
        )
        self._synchronization, self._aggregation, self._trainable, collections = options
        self._constraint = constraint
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        with init_scope():
            with name_scope(name, "Variable", [] if callable(initial_value) else [initial_value]) as scope:
                build(initial_value, scope, dtype, validate_shape, caching_device, shape)
            # Eager variables live as long as somebody holds them, or a store that keeps them.
            if not executing_eagerly():
                add_to_collections(collections, self)

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        """A new variable; the kinds have constructors of their own, which calls of this class have with these
        arguments.
        """
        raise NotImplementedError

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable whose nodes a VariableDef names."""
        return _kinds()[bool(variable_def.is_resource)](variable_def=variable_def, import_scope=import_scope)

    # --- facts -------------------------------------------------------------------------------

    trainable = property(lambda self: self._trainable, doc="Whether optimizers change it by default.")
    synchronization = property(lambda self: self._synchronization)
    aggregation = property(lambda self: self._aggregation)

    @property
    def constraint(self):
        """The function that optimizers apply to a new value, or None."""
        return self._constraint

    initial_value = property(lambda self: self._initial_value, doc="The tensor that it is initialized with.")
    initializer = property(lambda self: self._initializer_op, doc="The operation that gives it its initial value.")

    name = property(_left_to_the_kind, doc='The name, "v:0".')
    op = property(_left_to_the_kind, doc="The operation that holds it.")
    dtype = property(_left_to_the_kind, doc="The dtype; a reference one for ref variables.")
    device = property(_left_to_the_kind, doc="The device asked for.")
    graph = property(_left_to_the_kind, doc="The graph it is in.")
    shape = property(_left_to_the_kind, doc="The static shape.")

    def get_shape(self):
        """The static shape."""
        return self.shape

    @property
    def _shape_tuple(self):
        return tuple(self.shape.as_list())

    @property
    def _shared_name(self):
        return self.name[: self.name.rindex(":")]

    _unique_id = property(lambda self: self._shared_name)

    def set_shape(self, shape):
        """Say more about the static shape."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    # --- values ------------------------------------------------------------------------------

    def eval(self, session=None):
        """The value in a session."""
        if executing_eagerly():
            raise RuntimeError("A variable's eval() is for sessions; when executing eagerly, numpy() gives its value")
        return self._as_graph_element().eval(session=session)

    def value(self):
        """The value as a tensor."""
        raise NotImplementedError

    def read_value(self):
        """A new read of the value, which waits for the control dependencies around."""
        raise NotImplementedError

    def sparse_read(self, indices, name=None):
        """The rows at `indices`; resource variables only."""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'sparse_read'")

    def gather_nd(self, indices, name=None):
        """The slices that `indices` address; resource variables only."""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'gather_nd'")

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Set the value."""
        raise NotImplementedError

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Add to the value."""
        raise NotImplementedError

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtract from the value."""
        raise NotImplementedError

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Set rows inside each batch entry."""
        raise NotImplementedError

    def to_proto(self, export_scope=None):
        """A VariableDef of its nodes' names, or None where it is outside `export_scope`."""
        raise NotImplementedError

    def initialized_value(self):
        """The value, or the initial value where it has not been initialized yet."""
        with init_scope():
            return cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def load(self, value, session=None):
        """Set the value in a session, without new nodes."""
        if executing_eagerly():
            self.assign(value)
            return
        session = session or require_load_session()
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def count_up_to(self, limit):
        """Add one and give the value before; OutOfRangeError at `limit`."""
        return state.count_up_to(self, limit=limit)

    def experimental_ref(self):
        """A hashable stand-in for the variable."""
        return Reference(self)

    # --- slices ------------------------------------------------------------------------------

    def _set_save_slice_info(self, save_slice_info):
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self):
        return self._save_slice_info

    # --- Python ------------------------------------------------------------------------------

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other


class Variable(VariableV2):
    """State that lives in a session from one run to the next.

    It has no value in a session until its `initializer` has run there: `tf.global_variables_initializer()` runs all.
    Optimizers train it unless `trainable=False`; checkpoints save it.

    Args:
        *args: The first value, and then any of the arguments below.
        **kwargs: `initial_value` (a tensor, or a function that makes one), `trainable`, `collections`,
            `validate_shape`, `caching_device`, `name`, `variable_def`, `dtype`, `expected_shape`, `import_scope`,
            `constraint`, `use_resource`, `synchronization`, `aggregation`, `shape`.

    Raises:
        ValueError: If the shape of the first value isn't known and `validate_shape` is not False.

    Example:
        >>> v = tf.Variable(1.0, name="v")
        >>> sess.run(v.initializer)
        >>> sess.run(v.assign_add(2.0))
        np.float32(3.0)
        >>> sess.run(v)
        np.float32(3.0)
    """

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
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        """A new variable; the kinds have constructors of their own, which `tf.Variable(...)` calls with these
        arguments.
        """
        raise NotImplementedError


_LAST_CREATORS = {Variable: default_variable_creator, VariableV2: default_variable_creator_v2}


VariableV1 = Variable


def _declare_scatters():
    """The scatter methods, which each kind defines."""

    def rows(self, sparse_delta, use_locking=False, name=None):
        raise NotImplementedError

    def slices(self, indices, updates, name=None):
        raise NotImplementedError

    for kind in ("update", "add", "sub", "mul", "div", "min", "max"):
        setattr(Variable, f"scatter_{kind}", rows)
    for kind in ("update", "add", "sub"):
        setattr(Variable, f"scatter_nd_{kind}", slices)


_declare_scatters()


def check_conversion(variable, dtype):
    """ValueError where a variable can't stand for a tensor of the dtype asked for."""
    if dtype and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}': {variable.name} is '{variable.dtype.name}'"
        )


def require_load_session():
    """The default session; ValueError where there is none."""
    session = get_default_session()
    if session is None:
        raise ValueError("There is no default session to run in: give one as `session`, or work in a `with session:`")
    return session


# --- operators ----------------------------------------------------------------------------


def _operator(name):
    """Let an operator of tensors work on a variable's value."""

    def run(self, *args, **kwargs):
        return getattr(Tensor, name)(self.value(), *args, **kwargs)

    run.__name__ = name
    return run


for _name in Tensor.OVERLOADABLE_OPERATORS:
    if _name not in ("__eq__", "__ne__", "__getitem__"):
        setattr(Variable, _name, _operator(_name))
Variable.__getitem__ = slice_variable


# --- collections of variables -------------------------------------------------------------


def global_variables(scope=None):
    """The variables shared across a cluster, which checkpoints hold.

    Args:
        scope: Only variables whose names match this at their start, a regular expression.

    Returns:
        A list of variables.

    Example:
        >>> v = tf.get_variable("v", [])
        >>> tf.global_variables() == [v]
        True
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope=None):
    """The variables of one process, which checkpoints leave out.

    Args:
        scope: Only variables whose names match this at their start, a regular expression.

    Returns:
        A list of variables.

    Example:
        >>> v = tf.get_local_variable("v", [])
        >>> tf.local_variables() == [v]
        True
    """
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    """The variables that a model needs for inference.

    Args:
        scope: Only variables whose names match this at their start, a regular expression.

    Returns:
        A list of variables.

    Example:
        >>> v = tf.get_variable("v", [], collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES])
        >>> len(tf.model_variables())
        1
    """
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    """The variables that optimizers change by default.

    Args:
        scope: Only variables whose names match this at their start, a regular expression.

    Returns:
        A list of variables.

    Example:
        >>> with tf.variable_scope("layer"):
        ...     w = tf.get_variable("w", [2, 3])
        >>> step = tf.Variable(0, trainable=False)
        >>> [v.name for v in tf.trainable_variables()]
        ['layer/w:0']
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    """The variables that moving averages are kept of.

    Args:
        scope: Only variables whose names match this at their start, a regular expression.

    Returns:
        A list of variables.

    Example:
        >>> v = tf.Variable(1.0)
        >>> update = tf.train.ExponentialMovingAverage(0.99).apply([v])
        >>> tf.moving_average_variables() == [v]
        True
    """
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def all_variables():
    """Deprecated name of `global_variables`.

    Returns:
        A list of variables.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.all_variables() == [v]
        True
    """
    return global_variables()


def _all_saveable_objects(scope=None):
    """All that a Saver writes by default."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)


def variables_initializer(var_list, name="init"):
    """An operation that initializes these variables, all at once.

    Args:
        var_list: The variables.
        name: The name of the operation in the graph.

    Returns:
        An operation.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(tf.variables_initializer([v]))
        >>> sess.run(v)
        np.float32(1.0)
    """
    if var_list:
        return group(*[v.initializer for v in var_list], name=name)
    return group(name=name)


def global_variables_initializer():
    """An operation that initializes all global variables.

    Returns:
        An operation.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(v)
        array([1., 2.], dtype=float32)
    """
    return variables_initializer(global_variables())


def local_variables_initializer():
    """An operation that initializes all local variables.

    Returns:
        An operation.

    Example:
        >>> value, update = tf.metrics.mean([1.0, 3.0])
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update)
        np.float32(2.0)
    """
    return variables_initializer(local_variables())


def initialize_variables(var_list, name="init"):
    """Deprecated name of `variables_initializer`.

    Args:
        var_list: The variables.
        name: The name of the operation in the graph.

    Returns:
        An operation.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(tf.initialize_variables([v]))
        >>> sess.run(v)
        np.float32(1.0)
    """
    return variables_initializer(var_list, name=name)


def initialize_all_variables():
    """Deprecated name of `global_variables_initializer`.

    Returns:
        An operation.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(tf.initialize_all_variables())
        >>> sess.run(v)
        np.float32(1.0)
    """
    return global_variables_initializer()


def initialize_local_variables():
    """Deprecated name of `local_variables_initializer`.

    Returns:
        An operation.

    Example:
        >>> value, update = tf.metrics.mean([1.0, 3.0])
        >>> sess.run(tf.initialize_local_variables())
        >>> sess.run(update)
        np.float32(2.0)
    """
    return local_variables_initializer()


def is_variable_initialized(variable):
    """Whether a variable has a value.

    Args:
        variable: The variable.

    Returns:
        A scalar bool tensor.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(tf.is_variable_initialized(v))
        np.False_
    """
    return state.is_variable_initialized(variable)


def _variable_nodes():
    """Variables that a program put into the graph by hand, without collections."""
    kinds = ("Variable", "VariableV2", "AutoReloadVariable")
    return [op.outputs[0] for op in get_default_graph().get_operations() if op.type in kinds]


def assert_variables_initialized(var_list=None):
    """A tensor whose computation raises FailedPreconditionError where a variable has no value; None without variables.

    Args:
        var_list: The variables; all global and local ones if None.

    Returns:
        A tensor to depend on, or None.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> sess.run(tf.assert_variables_initialized([v])).shape
        ()
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
        var_list = var_list or _variable_nodes()
    if not var_list:
        return None
    ranks = []
    for variable in var_list:
        with colocate_with(variable.op):
            ranks.append(array.rank_internal(variable, optimize=False))
    return ranks[0] if len(ranks) == 1 else array.stack(ranks)


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A string tensor with the names of the variables that have no value yet.

    Args:
        var_list: The variables; all global and local ones if None.
        name: The name of the operation in the graph.

    Returns:
        A vector of strings.

    Example:
        >>> v = tf.Variable(1.0, name="v")
        >>> sess.run(tf.report_uninitialized_variables())
        array([b'v'], dtype=object)
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
        var_list = var_list or _variable_nodes()
    with name_scope(name):
        flags = [is_variable_initialized(v) for v in var_list] if var_list else None
        with device("/cpu:0"):
            if flags is None:
                return constant([], dtype=dtypes.string)
            missing = logical_not(array.stack(flags))
            names = constant([v.op.name for v in var_list])
            return array.boolean_mask(names, missing)


def _to_proto(variable, export_scope=None):
    return variable.to_proto(export_scope=export_scope)


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.GLOBAL_STEP,
):
    register_proto_function(
        _key, proto_type=variable_pb2.VariableDef, to_proto=_to_proto, from_proto=Variable.from_proto
    )
