"""`tf.layers.Layer`: a Keras layer whose variables live in a variable scope, and so can be shared by name."""

from __future__ import annotations

import contextlib
import copy
import inspect

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    add_to_collection,
    executing_eagerly,
    get_collection_ref,
    get_default_graph,
    name_scope,
)
from everflow.keras.backend.state import track_variable, unique_object_name
from everflow.keras.engine import base_layer
from everflow.layers import experimental
from everflow.ops.variables import scope as scopes
from everflow.ops.variables.module import Module
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.variable import (
    VariableAggregation,
    VariableSynchronization,
    global_variables,
    trainable_variables,
)
from everflow.platform.signatures import takes


class Layer(base_layer.Layer):
    """Base class of layers: subclasses make variables in `build(input_shape)` and compute in `call(inputs)`.

    Args:
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        dtype: The type of the variables; that of the inputs if None.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> class Scale(tf.layers.Layer):
        ...     def build(self, input_shape):
        ...         self.scale = self.add_weight("scale", [], initializer=tf.ones_initializer())
        ...         super().build(input_shape)
        ...     def call(self, inputs):
        ...         return inputs * self.scale
        >>> layer = Scale()
        >>> layer(tf.ones([2])).shape.as_list(), [v.name for v in layer.variables]
        ([2], ['scale/scale:0'])
    """

    _is_legacy_layer = True
    _use_resource_variables = False  # Until a Keras layer holds it.

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        self._keras_style = experimental.keras_style
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._graph = self._scope = self._current_scope = None
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        if self._keras_style:
            _refuse_in_keras_style("scope", scope)
            _refuse_in_keras_style("reuse", self._reuse)
        if scope:
            with scopes.variable_scope(scope) as captured:
                self._scope = captured

    # Unlike a Keras layer it doesn't own what is put into its attributes: `weights`, `losses` and checkpoints know what
    # `add_weight` and its kin made, not layers inside, but for those that a class keeps as its `_layers`.

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def _holders(self):
        return [self.__dict__.get("_given_layers") or ()]

    submodules = Module.submodules

    def _init_name(self, name, zero_based=False):
        if isinstance(name, scopes.VariableScope):
            self._base_name = name.name
        elif name:
            self._name = self._base_name = name
            return
        else:
            self._base_name = base_layer.snake_case(type(self).__name__)
        self._name = unique_object_name(base_layer.snake_case(type(self).__name__), zero_based=False)

    graph = property(lambda self: self._graph, doc="The graph its variables are in.")

    @property
    def scope_name(self):
        """The name of its variable scope; ValueError before it has one."""
        if not self._scope:
            raise ValueError(
                f"Layer {self._name} has no scope yet, and so no `scope_name`: it gets one when it is first called."
            )
        return self._scope.name

    @property
    def name_scope(self):
        """A context manager that enters the layer's name scope; there is one once the layer has been called."""
        if self._scope is None:
            raise AttributeError(f"{type(self).__name__!r} object has no scope before it is called")
        return name_scope(self._scope.original_name_scope)

    # --- losses also join the graph's collections, as updates do after each call ----------------------------------

    def add_loss(self, losses, inputs=None):
        """Add a loss, or a function that makes one; it joins REGULARIZATION_LOSSES."""
        known, known_functions = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        if executing_eagerly():
            return
        made = self._losses[known:] + [
            loss for loss in (make() for make in self._callable_losses[known_functions:]) if loss is not None
        ]
        _add_to_collection(made, GraphKeys.REGULARIZATION_LOSSES)

    # --- variables in a scope ------------------------------------------------------------------

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        if self._reuse:
            context = scopes.variable_scope(scope if scope is not None else self._base_name)
        else:
            context = scopes.variable_scope(scope, default_name=self._base_name)
        with context as captured:
            self._scope = captured

    @contextlib.contextmanager
    def _within_scope(self):
        """A context in the layer's variable scope, which finds variables that are there; the scope before comes back."""
        saved = self._current_scope
        with scopes.variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self.__dict__["_current_scope"] = scope
            yield scope
        self.__dict__["_current_scope"] = saved

    def _name_scope(self):
        return super()._name_scope() if self._keras_style else self._current_scope.original_name_scope

    @takes(
        """name, shape, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
        use_resource=None, synchronization=AUTO, aggregation=NONE, partitioner=None, **kwargs""",
        AUTO=VariableSynchronization.AUTO,
        NONE=VariableAggregation.NONE,
    )
    def add_weight(self, name, shape, dtype, initializer, regularizer, trainable, use_resource, **more):
        """Make, or with reuse find, a variable of the layer."""
        settings = {key: more.pop(key) for key in ("constraint", "synchronization", "aggregation", "partitioner")}
        for keyword in more:
            if keyword != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", keyword)
        if self._keras_style:
            of_keras = {"trainable": trainable, "use_resource": use_resource, **settings}
            return super().add_weight(name, shape, dtype, initializer, regularizer, **of_keras)
        trainable = base_layer.resolve_trainable(trainable, settings["synchronization"])
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32)
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        self._set_scope(None)
        before = set(map(id, global_variables()))
        with self._within_scope() as scope, name_scope(self._name_scope()):
            made = {"trainable": trainable and self.trainable, "initializer": initializer or scope.initializer}
            made["use_resource"] = use_resource or self._use_resource_variables or scope.use_resource
            variable = scopes.get_variable(name, shape, dtype, **made, **settings)
            if regularizer is not None and _is_new(variable, before):
                for part in _parts(variable):
                    self._regularize_weight(name, part, regularizer)
        self._hold(name, variable, trainable)
        return variable

    def _hold(self, name, variable, trainable):
        """Count a variable among the layer's weights."""
        self.__dict__["_graph"] = get_default_graph()
        self._track(name, variable)
        for part in _parts(variable):
            track_variable(part)
        is_collected = executing_eagerly() or any(variable is other for other in trainable_variables())
        trained = trainable and self.trainable and is_collected
        (self._trainable_weights if trained else self._non_trainable_weights).append(variable)

    def __call__(self, inputs, *args, **kwargs):
        """Build the layer at the first call, and compute its outputs."""
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            _refuse_in_keras_style("scope", scope)
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with self._within_scope() as current:
            if "scope" in inspect.signature(type(self).call).parameters:
                kwargs["scope"] = current
            outputs = super().__call__(inputs, *args, **kwargs)
        if not executing_eagerly():
            _add_to_collection(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _maybe_build(self, inputs):
        if not self.built and not self._keras_style:
            self.__dict__["_graph"] = get_default_graph()
        super()._maybe_build(inputs)

    def __deepcopy__(self, memo):
        """A copy with its own lists and inner layers, over the same variables and scope."""
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        result.__dict__.update((key, _own(value, memo)) for key, value in self.__dict__.items())
        return result


def _own(value, memo):
    """What a copy of a layer holds in place of a value: layers and what contains them are copied, all else is shared."""
    if isinstance(value, Layer):
        return copy.deepcopy(value, memo)
    if isinstance(value, dict):
        result = copy.copy(value)
        result.update((key, _own(item, memo)) for key, item in value.items())
        return result
    if type(value) in (list, tuple):
        return type(value)(_own(item, memo) for item in value)
    return copy.copy(value) if isinstance(value, list) else value


def _refuse_in_keras_style(argument, value):
    if value is not None:
        raise ValueError(
            f"{argument} argument not allowed for layers in Keras style, which own their variables: {value}"
        )


def _parts(variable):
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _is_new(variable, before):
    return all(id(part) not in before for part in _parts(variable))


def _add_to_collection(items, name):
    known = get_collection_ref(name)
    for item in items:
        if not any(item is other for other in known):
            add_to_collection(name, item)
