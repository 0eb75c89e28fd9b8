"""`tf.variable_scope` and `tf.get_variable`: names and defaults for variables, shared by asking for the same name
again.
"""

from __future__ import annotations

import contextlib
import functools
import threading

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    executing_eagerly,
    get_collection,
    get_default_graph,
    graph_from_inputs,
    name_scope,
)
from everflow.ops.variables import variable as variables
from everflow.ops.variables.store import AUTO_REUSE, get_variable_store
from everflow.ops.variables.variable import VariableAggregation, VariableSynchronization

_SCOPES_KEY = ("__varscope",)


def no_regularizer(_):
    """Use as a regularizer to have none where the scope would give one.

    Returns:
        None.

    Example:
        >>> with tf.variable_scope("s", regularizer=tf.contrib.layers.l2_regularizer(0.1)):
        ...     v = tf.get_variable("v", [2], regularizer=tf.no_regularizer)
        >>> tf.losses.get_regularization_losses()
        []
    """
    return None


# What a scope sets for the variables in it.
_OVERRIDES = (
    "initializer",
    "regularizer",
    "caching_device",
    "partitioner",
    "custom_getter",
    "dtype",
    "use_resource",
    "constraint",
)


class VariableScope:
    """The defaults that `get_variable` uses inside a `variable_scope`, and the name before its own.

    Args:
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.
        name: The name before those of variables.
        initializer: What variables start as unless they say it themselves.
        regularizer: A function of the variable whose result is added to the losses.
        caching_device: A device on which reads of the variable are kept.
        partitioner: A function that says into how many parts a variable is cut.
        custom_getter: A function that is called in place of the one that gets the variable.
        name_scope: The name scope that goes with it.
        dtype: The type of the elements.
        use_resource: Whether the variable is a resource, whose reads are snapshots.
        constraint: A function that gives the variable back as it may be, applied after each step of an optimizer.

    Example:
        >>> with tf.variable_scope("layer", reuse=tf.AUTO_REUSE) as scope:
        ...     pass
        >>> isinstance(scope, tf.VariableScope), scope.name
        (True, 'layer')
    """

    def __init__(
        self,
        reuse,
        name="",
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        name_scope="",
        dtype=dtypes.float32,
        use_resource=None,
        constraint=None,
    ):
        self._reuse = reuse
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint
        if executing_eagerly():
            # A scope keeps nothing there: whether a variable is used again is for a store to say.
            self._reuse, self._use_resource = AUTO_REUSE, True

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope, doc="The name scope that was opened with it.")
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    constraint = property(lambda self: self._constraint)

    def reuse_variables(self):
        """From here on, ask for variables that are there."""
        self._reuse = True

    def set_initializer(self, initializer):
        """Set the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype):
        """Set the default dtype."""
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        """Set whether resource variables are made."""
        if executing_eagerly() and not use_resource:
            raise ValueError("Executing eagerly, all variables are resources: use_resource can't be False.")
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        """Set the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Set the device that reads are cached on."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        """Set the function that cuts variables into parts."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        """Set the function that stands before `get_variable`."""
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The items of a collection that are in this scope."""
        return get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self):
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store,
        name,
        shape=None,
        dtype=None,
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
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
    ):
        """The variable of a name in this scope, from a store."""
        asked = dict(locals())
        del asked["self"], asked["var_store"]
        for setting in (*_OVERRIDES, "reuse"):
            if asked[setting] is None:
                asked[setting] = getattr(self, f"_{setting}")
        if name or partitioner is None:
            # An optimizer's slot has an empty name: with the slash after it, the scope's own name is taken as it is.
            full_name = f"{self._name}/{name}" if self._name else name
        else:
            full_name = self._name
        # A variable's name comes from variable scopes alone.
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    raise ValueError(
                        f"{full_name!r} was asked for with dtype {dtype!r}, but its initializer is {found!r}"
                    )
            return var_store.get_variable(**{**asked, "name": full_name})


class _ScopesOfGraph(threading.local):
    """The variable scope that is open in a graph, and how often each name was opened: in each thread its own."""

    def __init__(self):
        self.current = VariableScope(False)
        # By the first part of the name, so that closing a scope looks at its neighbours only.
        self._counts: dict[str, dict[str, int]] = {}

    current_scope = property(lambda self: self.current, doc="The scope that is open, as TensorFlow calls it.")

    @property
    def variable_scopes_count(self):
        """How often each name was opened."""
        return {name: count for counts in self._counts.values() for name, count in counts.items()}

    def open_variable_scope(self, name):
        counts = self._bucket(name)
        counts[name] = counts.get(name, 0) + 1

    def close_variable_subscopes(self, name):
        """Forget how often scopes inside `name` were opened, so that default names start anew."""
        prefix = name + "/"
        counts = self._bucket(name)
        for key in counts:
            if key.startswith(prefix):
                counts[key] = 0

    def variable_scope_count(self, name):
        return self._bucket(name).get(name, 0)

    def remember(self, name):
        """A function that takes back what happens from here on to counts inside `name`, but for its own."""
        if not name:
            saved = {key: dict(counts) for key, counts in self._counts.items()}
        else:
            saved = {name.split("/", 1)[0]: dict(self._bucket(name))}

        def restore():
            own = self.variable_scope_count(name)
            if not name:
                self._counts = saved
            else:
                self._counts.update(saved)
            self._bucket(name)[name] = own

        return restore

    def _bucket(self, name):
        return self._counts.setdefault(name.split("/", 1)[0], {})


def _scopes() -> _ScopesOfGraph:
    held = get_default_graph().get_collection_ref(_SCOPES_KEY)
    if not held:
        held.append(_ScopesOfGraph())
    return held[0]


def get_variable_scope():
    """The variable scope that is open now.

    Returns:
        A `tf.VariableScope`.

    Example:
        >>> with tf.variable_scope("layer"):
        ...     print(tf.get_variable_scope().name)
        layer
    """
    return _scopes().current


def _nested_getters(getter, outer):
    """A custom getter inside another: the inner one is called first and calls the outer one."""
    if getter is None:
        return outer
    if outer is None:
        return getter

    def nested(getter_, *args, **kwargs):
        return getter(functools.partial(outer, getter_), *args, **kwargs)

    return lambda getter, *args, **kwargs: nested(getter, *args, **kwargs)


def get_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """The variable of this name in the current variable scope: a new one, or where `reuse` is on the one there is.

    Args:
        name: The variable's name, to which the scope's is added.
        shape: Its shape; may be left out where the initializer is a tensor.
        dtype: The type of its elements; float32, or that of the scope, if None.
        initializer: What it starts as: an initializer, a tensor or an array. If None, that of the scope, else
            `glorot_uniform_initializer`.
        regularizer: A function of the variable whose result is added to the losses.
        trainable: Whether the variables are among those that optimizers train.
        collections: The graph's collections to add the result to.
        caching_device: A device on which reads of the variable are kept.
        partitioner: A function that says into how many parts a variable is cut.
        validate_shape: Whether the shape of the first value must be known.
        use_resource: Whether the variable is a resource, whose reads are snapshots.
        custom_getter: A function that is called in place of the one that gets the variable.
        constraint: A function that gives the variable back as it may be, applied after each step of an optimizer.
        synchronization: When copies on several devices are brought together.
        aggregation: How copies on several devices are brought together.

    Returns:
        A variable, or a `PartitionedVariable` where there is a partitioner.

    Raises:
        ValueError: If a new variable has the name of another one, one to be used again isn't there or has another shape
            or type, or a shape is missing.

    Example:
        >>> with tf.variable_scope("layer"):
        ...     w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        >>> w.name, w.shape.as_list()
        ('layer/w:0', [2, 3])
        >>> with tf.variable_scope("layer", reuse=True):
        ...     tf.get_variable("w") is w
        True
    """
    return get_variable_scope().get_variable(get_variable_store(), **locals())


def get_local_variable(
    name,
    shape=None,
    dtype=None,
    initializer=None,
    regularizer=None,
    trainable=False,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
):
    """As `get_variable`, for a variable of this process alone: not trained, not in checkpoints.

    Args:
        name: The variable's name, to which the scope's is added.
        shape: Its shape; may be left out where the initializer is a tensor.
        dtype: The type of its elements; float32, or that of the scope, if None.
        initializer: What it starts as: an initializer, a tensor or an array. If None, that of the scope, else
            `glorot_uniform_initializer`.
        regularizer: A function of the variable whose result is added to the losses.
        trainable: Whether the variables are among those that optimizers train.
        collections: The graph's collections to add the result to.
        caching_device: A device on which reads of the variable are kept.
        partitioner: A function that says into how many parts a variable is cut.
        validate_shape: Whether the shape of the first value must be known.
        use_resource: Whether the variable is a resource, whose reads are snapshots.
        custom_getter: A function that is called in place of the one that gets the variable.
        constraint: A function that gives the variable back as it may be, applied after each step of an optimizer.
        synchronization: When copies on several devices are brought together.
        aggregation: How copies on several devices are brought together.

    Returns:
        A variable.

    Raises:
        ValueError: As `get_variable`.

    Example:
        >>> total = tf.get_local_variable("total", [], initializer=tf.zeros_initializer())
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(total)
        np.float32(0.0)
    """
    return get_variable(
        **{**locals(), "trainable": False, "collections": [*(collections or ()), GraphKeys.LOCAL_VARIABLES]}
    )


class _Entered:
    """A scope made the current one, without a name scope. It stays so until it is left, even where nobody holds this."""

    def __init__(self, name_or_scope, reuse, overrides, old_name_scope):
        self._scopes = scopes = _scopes()
        self._outer = outer = scopes.current
        self._restore = None
        if isinstance(name_or_scope, VariableScope):
            base, name = name_or_scope, name_or_scope.name
            reuse = reuse or base.reuse
            self._restore = scopes.remember(name)
        else:
            base = outer
            name = f"{outer.name}/{name_or_scope}" if outer.name else name_or_scope
            reuse = reuse or outer.reuse
        scopes.open_variable_scope(name)
        settings = {key: getattr(base, key) if overrides[key] is None else overrides[key] for key in _OVERRIDES}
        if overrides["custom_getter"] is not None:
            settings["custom_getter"] = _nested_getters(overrides["custom_getter"], base.custom_getter)
        if not isinstance(name_or_scope, VariableScope):
            settings["constraint"] = overrides["constraint"]  # scopes inside don't take it over
        scopes.current = self.scope = VariableScope(reuse, name=name, name_scope=old_name_scope, **settings)

    def leave(self):
        """Make the scope around it the current one again; an error, and nothing else, where one inside isn't left."""
        if self._scopes.current is not self.scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._scopes.close_variable_subscopes(self.scope.name)
        if self._restore is not None:
            self._restore()
        self._scopes.current = self._outer


def _unique_scope_name(prefix):
    """`prefix`, with a number where a scope of that name was opened already."""
    scopes = _scopes()
    name = f"{scopes.current.name}/{prefix}" if scopes.current.name else prefix
    if scopes.variable_scope_count(name) == 0:
        return prefix
    index = 1
    while scopes.variable_scope_count(f"{name}_{index}") > 0:
        index += 1
    return f"{prefix}_{index}"


class variable_scope:
    """A context that names the variables of `get_variable` and gives them defaults; it opens a name scope as well.

    Args:
        name_or_scope: The name of the scope, or a scope to open again.
        default_name: The name where `name_or_scope` is None, made unique.
        values: Tensors that say which graph is meant.
        initializer: What variables start as unless they say it themselves.
        regularizer: The regularizer of variables that have none themselves.
        caching_device: A device on which reads of the variable are kept.
        partitioner: A function that says into how many parts a variable is cut.
        custom_getter: A function that is called in place of the one that gets the variable.
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.
        dtype: The type of variables that don't say it themselves.
        use_resource: Whether the variable is a resource, whose reads are snapshots.
        constraint: A function that gives the variable back as it may be, applied after each step of an optimizer.
        auxiliary_name_scope: Whether a name scope is opened, too.

    Raises:
        ValueError: If a scope is opened without a name, or with `reuse` inside of one that is new.

    Example:
        >>> with tf.variable_scope("net"):
        ...     with tf.variable_scope("layer"):
        ...         w = tf.get_variable("w", [1])
        >>> w.name
        'net/layer/w:0'
        >>> with tf.variable_scope("net/layer", reuse=True):
        ...     tf.get_variable("w", [1]) is w
        True
    """

    def __init__(
        self,
        name_or_scope,
        default_name=None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource=None,
        constraint=None,
        auxiliary_name_scope=True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("variable_scope() wants a name_or_scope, or a default_name to make one from")
        if reuse not in (None, False, True, AUTO_REUSE):
            raise ValueError(f"reuse must be True, False, None or tf.AUTO_REUSE, not {reuse!r}")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"auxiliary_name_scope must be a bool, not {auxiliary_name_scope!r}")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = [] if values is None else list(values)
        # `reuse=False` can't undo what is inherited: it is the same as None.
        self._reuse = reuse or None
        self._overrides = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._auxiliary_name_scope = auxiliary_name_scope
        self._graph = graph_from_inputs(self._values)
        self._entered = self._around = None

    def __enter__(self):
        if self._graph.building_function and not get_default_graph().building_function:
            self._graph = get_default_graph()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._graph.as_default())
            self._entered = self._enter(stack)
            self._around = stack.pop_all()
        return self._entered.scope

    def __exit__(self, *exc):
        self._entered.leave()
        self._around.__exit__(*exc)

    def _enter(self, stack):
        given = self._name_or_scope
        if given is None:
            if self._reuse:
                raise ValueError("reuse=True wants a name_or_scope: a scope of its own has nothing to reuse")
            opened = self._open_name_scope(stack, self._default_name)
            return _Entered(_unique_scope_name(self._default_name), None, self._overrides, opened)
        if not isinstance(given, (str, VariableScope)):
            raise TypeError(f"name_or_scope must be a name or a VariableScope, not {given!r}")
        if isinstance(given, VariableScope):
            self._open_name_scope(stack, given.name.split("/")[-1])
            return _Entered(given, self._reuse, self._overrides, given.original_name_scope)
        opened = self._open_name_scope(stack, given)
        return _Entered(given, self._reuse, self._overrides, opened)

    def _open_name_scope(self, stack, name):
        """Open the name scope that goes with the scope, and say what it is called."""
        if not self._auxiliary_name_scope:
            # The current name scope is entered again, as it is.
            current = self._graph.get_name_scope()
            return stack.enter_context(name_scope(current + "/" if current else ""))
        if not name:
            return ""
        return stack.enter_context(name_scope(name))


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None, caching_device=None,
                      partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None):  # fmt: skip
    """Deprecated form of `variable_scope` with the values first.

    Args:
        values: Tensors that say which graph is meant.
        name_or_scope: The name of the scope, or a scope to open again.
        default_name: The name where `name_or_scope` is None, made unique.
        initializer: What variables start as unless they say it themselves.
        regularizer: The regularizer of variables that have none themselves.
        caching_device: A device on which reads of the variable are kept.
        partitioner: A function that says into how many parts a variable is cut.
        custom_getter: A function that is called in place of the one that gets the variable.
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.
        dtype: The type of variables that don't say it themselves.
        use_resource: Whether the variable is a resource, whose reads are snapshots.
        constraint: A function that gives the variable back as it may be, applied after each step of an optimizer.

    Yields:
        The `tf.VariableScope`.

    Example:
        >>> with tf.variable_op_scope([], "layer"):
        ...     print(tf.get_variable("w", []).name)
        layer/w:0
    """
    with variable_scope(
        name_or_scope,
        default_name=default_name,
        values=values,
        initializer=initializer,
        regularizer=regularizer,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        reuse=reuse,
        dtype=dtype,
        use_resource=use_resource,
        constraint=constraint,
    ) as scope:
        yield scope


def variable_creator_scope(variable_creator):
    """A context in which variables are made by `variable_creator(next_creator, **kwargs)`.

    Args:
        variable_creator: The function; `next_creator(**kwargs)` makes a variable.

    Yields:
        None.

    Example:
        >>> def untrained(next_creator, **kwargs):
        ...     return next_creator(**{**kwargs, "trainable": False})
        >>> with tf.variable_creator_scope(untrained):
        ...     v = tf.Variable(1.0)
        >>> tf.trainable_variables()
        []
    """
    return get_default_graph()._variable_creator_scope(variable_creator)


default_variable_creator = variables.default_variable_creator
variable = variables.Variable  # the name by which optimizers of programs make theirs
_get_unique_variable_scope = _unique_scope_name
