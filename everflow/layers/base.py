"""`tf.layers.Layer`: variables in a variable scope, made at the first call, and the ops of each call in a name scope of the same name."""

from __future__ import annotations

import collections
import functools
import inspect
import re
import weakref

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import OperatorNotAllowedInGraphError
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, get_collection_ref, get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.keras.engine.input_spec import assert_input_compatibility
from everflow.ops import variable_scope as scopes
from everflow.ops.module import Module
from everflow.ops.partitioned_variables import PartitionedVariable
from everflow.ops.variables import VariableAggregation, VariableSynchronization, global_variables

_graph_layer_names: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_KNOWN_ARGUMENTS = {
    "input_shape",
    "batch_input_shape",
    "batch_size",
    "weights",
    "activity_regularizer",
    "autocast",
    "experimental_autocast",
    "dynamic",
}


def snake_case(name):
    """CamelCase as snake_case: the base of a layer's default name."""
    insecure = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
    return insecure if insecure[0] != "_" else "private" + insecure


def unique_layer_name(base_name):
    """The next free default name of layers in the default graph: dense_1, dense_2, …"""
    counts = _graph_layer_names.setdefault(get_default_graph(), collections.defaultdict(int))
    counts[base_name] += 1
    return f"{base_name}_{counts[base_name]}"


def _shape_of(tensor):
    return tensor.shape if isinstance(tensor.shape, TensorShape) else TensorShape(tensor.shape)


class Layer(Module):
    """Base class of layers: subclasses make variables in `build(input_shape)` and compute in `call(inputs)`.

    >>> class Scale(tf.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.scale = self.add_weight("scale", [], initializer=tf.ones_initializer())
    ...         super().build(input_shape)
    ...     def call(self, inputs):
    ...         return inputs * self.scale
    """

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        for keyword in kwargs:
            if keyword not in _KNOWN_ARGUMENTS:
                raise TypeError("Keyword argument not understood:", keyword)
        self._trainable = trainable
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._activity_regularizer = kwargs.get("activity_regularizer")
        self._initial_weights = kwargs.get("weights")
        self.built = False
        self.stateful = False
        self.supports_masking = False
        self._input_spec = None
        self._graph = None
        self._trainable_weights = []
        self._non_trainable_weights = []
        self._updates = []
        self._losses = []
        self._callable_losses = []
        self._metrics = []
        self._inbound_nodes, self._outbound_nodes = [], []
        self._set_name(name)
        self._scope = None
        self._current_scope = None
        self._always_reuse_variable_scope = None
        if scope:
            with scopes.variable_scope(scope) as captured:
                self._scope = captured

    def _set_name(self, name):
        if isinstance(name, scopes.VariableScope):
            self._base_name = name.name
            self._name = unique_layer_name(snake_case(type(self).__name__))
        elif name:
            self._name = self._base_name = name
        else:
            self._base_name = snake_case(type(self).__name__)
            self._name = unique_layer_name(self._base_name)

    # --- facts -------------------------------------------------------------------------------

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype, doc="The dtype's name; None until it is known.")
    inbound_nodes = property(lambda self: self._inbound_nodes)
    outbound_nodes = property(lambda self: self._outbound_nodes)
    dynamic = property(lambda self: False)
    metrics = property(lambda self: list(self._metrics))

    @property
    def graph(self):
        """The graph its variables are in."""
        return self._graph

    @property
    def scope_name(self):
        """The name of its variable scope; ValueError before it has one."""
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. The scope name is determined the first time the layer instance is called. You must therefore call the layer before querying `scope_name`.'
            )
        return self._scope.name

    @property
    def input_spec(self):
        """What inputs have to look like: an `InputSpec`, a list of them, or None for anything."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, spec):
        self._input_spec = spec

    @property
    def activity_regularizer(self):
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for layer in self._nested_layers():
            layer.trainable = value

    def _nested_layers(self):
        """Layers held as attributes, directly or in lists and dicts."""
        found = []
        for key, value in self.__dict__.items():
            if not key.startswith("_inbound") and not key.startswith("_outbound"):
                found += [v for v in _flat(value) if isinstance(v, Layer)]
        return list(dict.fromkeys(found))

    @property
    def submodules(self):
        """All layers inside."""
        return tuple(inner for layer in self._nested_layers() for inner in (layer, *layer.submodules))

    @property
    def trainable_weights(self):
        """Variables that training changes; none while the layer is frozen."""
        if not self.trainable:
            return []
        return _unique(self._trainable_weights + [w for layer in self._nested_layers() for w in layer.trainable_weights])

    @property
    def non_trainable_weights(self):
        nested = self._nested_layers()
        if not self.trainable:
            return _unique(self._trainable_weights + self._non_trainable_weights + [w for layer in nested for w in layer.weights])
        return _unique(self._non_trainable_weights + [w for layer in nested for w in layer.non_trainable_weights])

    @property
    def weights(self):
        """All variables, those that are trained first."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    variables = property(lambda self: self.weights)

    def count_params(self):
        """How many numbers its variables hold."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(w.shape.num_elements() for w in self.weights))

    def get_weights(self):
        """The values of its variables in the default session."""
        from everflow.framework.scopes import get_default_session

        weights = self.weights
        return get_default_session().run(weights) if weights else []

    def set_weights(self, weights):
        """Give its variables values, in the order of `weights`, in the default session."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length {len(weights)}, but the layer was expecting {len(own)} weights.'
            )
        for variable, value in zip(own, weights):
            if tuple(variable.shape.as_list()) != tuple(value.shape):
                raise ValueError(f"Layer weight shape {variable.shape} not compatible with provided weight shape {value.shape}")
            variable.load(value)

    # --- losses and updates ------------------------------------------------------------------

    @property
    def updates(self):
        """Ops to run with each training step, e.g. moving averages."""
        if not self.trainable and not self.stateful:
            return []
        return self._updates + [u for layer in self._nested_layers() for u in layer.updates]

    def add_update(self, updates, inputs=None):
        """Add ops to run with each training step; they join UPDATE_OPS."""
        made = [u() if callable(u) else u for u in (updates if isinstance(updates, (list, tuple)) else [updates])]
        made = [u.op if isinstance(u, Tensor) or hasattr(u, "_is_tensor_like") else u for u in made]
        self._updates += made
        _add_to_collection(made, GraphKeys.UPDATE_OPS)

    @property
    def losses(self):
        """Losses that belong to the layer: regularizers of its variables, and what `add_loss` was given."""
        regularizers = [loss for loss in (fn() for fn in self._callable_losses) if loss is not None]
        return self._losses + regularizers + [loss for layer in self._nested_layers() for loss in layer.losses]

    def add_loss(self, losses, inputs=None):
        """Add a loss, or a function that makes one; it joins REGULARIZATION_LOSSES."""
        made = []
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if callable(loss):
                self._callable_losses.append(loss)
                loss = loss()
            elif loss is not None:
                loss = convert_to_tensor(loss)
                self._losses.append(loss)
            if loss is not None:
                made.append(loss)
        _add_to_collection(made, GraphKeys.REGULARIZATION_LOSSES)

    def add_metric(self, value, aggregation=None, name=None):
        """Note a tensor as a metric of the layer."""
        if aggregation not in (None, "mean"):
            raise ValueError(f"We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`{aggregation}`")
        self._metrics.append(value)

    def get_updates_for(self, inputs):
        """The updates that depend on `inputs`; for None those that depend on none."""
        return self._depending(self.updates, inputs)

    def get_losses_for(self, inputs):
        """The losses that depend on `inputs`; for None those that depend on none."""
        return self._depending(self.losses, inputs)

    @staticmethod
    def _depending(things, inputs):
        inputs = nest.flatten(inputs) if inputs is not None else None

        def depends(thing):
            seen, stack = set(), [thing.op if isinstance(thing, Tensor) else thing]
            targets = {t.op for t in inputs} if inputs is not None else None
            while stack:
                op = stack.pop()
                if op in seen:
                    continue
                seen.add(op)
                if targets is not None and op in targets or targets is None and op.type == "Placeholder":
                    return True
                stack.extend(t.op for t in op.inputs)
                stack.extend(op.control_inputs)
            return False

        return [t for t in things if depends(t) == (inputs is not None)]

    # --- building and calling ----------------------------------------------------------------

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        if self._reuse:
            context = scopes.variable_scope(scope if scope is not None else self._base_name)
        else:
            context = scopes.variable_scope(scope, default_name=self._base_name)
        with context as captured:
            self._scope = captured

    def _name_scope(self):
        return self._current_scope.original_name_scope

    def add_weight(self, name, shape, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None, use_resource=None,
                   synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, partitioner=None, **kwargs):  # fmt: skip
        """Make, or with reuse find, a variable of the layer."""
        for keyword in kwargs:
            if keyword != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", keyword)
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
                )
            trainable = False
        elif trainable is None:
            trainable = True
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32)
        self._set_scope(None)
        before = set(map(id, global_variables()))
        reuse = self.built or self._reuse
        saved = self._current_scope
        with scopes.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = scopes.get_variable(
                    name,
                    shape=shape,
                    dtype=dtype,
                    initializer=initializer or scope.initializer,
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource if use_resource is not None else scope.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if regularizer is not None and _is_new(variable, before):
                    self._regularize(name, variable, regularizer)
        self._current_scope = saved
        self._graph = get_default_graph()
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        (self._trainable_weights if trainable else self._non_trainable_weights).extend(parts)
        return variable

    def _regularize(self, name, variable, regularizer):
        def loss(part):
            with name_scope(name + "/Regularizer"):
                return regularizer(part)

        for part in list(variable) if isinstance(variable, PartitionedVariable) else [variable]:
            self.add_loss(functools.partial(loss, part))

    def add_variable(self, *args, **kwargs):
        """Deprecated name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def build(self, input_shape):
        """Make the variables, once the inputs' shape is known. Subclasses override it."""
        self.built = True

    def call(self, inputs, **kwargs):
        """Compute the outputs. Subclasses override it."""
        return inputs

    def apply(self, inputs, *args, **kwargs):
        """Another name of calling the layer."""
        return self(inputs, *args, **kwargs)

    def __call__(self, inputs, *args, **kwargs):
        """Build the layer at the first call, and compute its outputs."""
        scope = kwargs.pop("scope", None)
        self._set_scope(scope)
        if self.built:
            context = scopes.variable_scope(self._scope, reuse=True, auxiliary_name_scope=False)
        else:
            context = scopes.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        saved = self._current_scope
        with context as current:
            self._current_scope = current
            if _takes(type(self).call, "scope"):
                kwargs["scope"] = current
            inputs = self._as_tensors(inputs)
            assert_input_compatibility(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                if not self.built:
                    self._build_for(inputs)
                try:
                    outputs = self.call(inputs, *args, **kwargs)
                except OperatorNotAllowedInGraphError as error:
                    raise TypeError(
                        "You are attempting to use Python control flow in a layer that was not declared to be dynamic. Pass "
                        f'`dynamic=True` to the class constructor.\nEncountered error:\n"""\n{error}\n"""'
                    ) from error
                if self._activity_regularizer is not None:
                    self._regularize_activity(outputs)
        self._current_scope = saved
        return outputs

    def _as_tensors(self, inputs):
        def converted(x):
            if isinstance(x, Tensor) or hasattr(x, "_type_spec") or hasattr(x, "_is_tensor_like") or x is None:
                return x
            return convert_to_tensor(x)

        return nest.map_structure(converted, inputs)

    def _build_for(self, inputs):
        first = [x for x in nest.flatten(inputs) if hasattr(x, "dtype")]
        if self._dtype is None and first:
            self._dtype = first[0].dtype.base_dtype.name
        shapes = nest.map_structure(lambda x: _shape_of(x) if hasattr(x, "shape") else None, inputs)
        self._graph = get_default_graph()
        self.build(shapes)
        self.built = True

    def _regularize_activity(self, outputs):
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                self.add_loss(self._activity_regularizer(output))

    # --- what subclasses may say -------------------------------------------------------------

    def compute_output_shape(self, input_shape):
        """The shape of the outputs for inputs of this shape."""
        raise NotImplementedError(f"{type(self).__name__} does not say its output shape")

    def compute_output_signature(self, input_signature):
        """The TensorSpecs of the outputs for inputs of these."""
        from everflow.framework.type_specs import TensorSpec

        shapes = self.compute_output_shape(nest.map_structure(lambda s: s.shape, input_signature))
        dtype = self._dtype or nest.flatten(input_signature)[0].dtype
        return nest.map_structure(lambda shape: TensorSpec(shape, dtype), shapes)

    def compute_mask(self, inputs, mask=None):
        """The mask that goes on with the outputs."""
        if not self.supports_masking:
            if any(m is not None for m in nest.flatten(mask)):
                raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
            return None
        return mask

    def get_config(self):
        """What it takes to make such a layer again, as plain data."""
        if (
            len(inspect.signature(type(self).__init__).parameters) > 2
            and type(self).get_config is Layer.get_config
            and type(self) is not Layer
        ):
            raise NotImplementedError(f"Layers with arguments in `__init__` must override `get_config`: {type(self).__name__}")
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        """A layer from what `get_config` gave."""
        return cls(**config)

    @classmethod
    def with_name_scope(cls, method):
        """Decorator that runs a method inside the layer's name scope."""

        @functools.wraps(method)
        def inside(self, *args, **kwargs):
            with name_scope(self._name_scope()):
                return method(self, *args, **kwargs)

        return inside

    @property
    def name_scope(self):
        if self._scope is None:
            raise AttributeError(f"{type(self).__name__!r} object has no scope before it is called")
        return name_scope(self._scope.original_name_scope)

    def __deepcopy__(self, memo):
        """A copy with its own lists, over the same variables and scope."""
        import copy

        shared = {"_graph", "_current_scope", "_always_reuse_variable_scope"}
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        for key, value in self.__dict__.items():
            result.__dict__[key] = (
                value if key in shared or isinstance(value, Tensor) else copy.copy(value) if isinstance(value, (list, dict)) else value
            )
        return result


def _no_nodes(kind, message):
    def refuse(self, *args):
        raise AttributeError(message.format(self.name))

    refuse.__doc__ = f"{kind} of a Keras model's node; a layer of `tf.layers` has none."
    return refuse


# Layers of `tf.layers` keep no record of calls; only Keras models have nodes.
for _attribute in ("input", "input_mask"):
    setattr(Layer, _attribute, property(_no_nodes(_attribute, "Layer {} is not connected, no input to return.")))
for _attribute in ("output", "output_mask"):
    setattr(Layer, _attribute, property(_no_nodes(_attribute, "Layer {} has no inbound nodes.")))
Layer.input_shape = property(_no_nodes("Input shape", "The layer has never been called and thus has no defined input shape."))
Layer.output_shape = property(_no_nodes("Output shape", "The layer has never been called and thus has no defined output shape."))


def _at_node(kind):
    def get(self, node_index):
        raise RuntimeError(f"The layer has never been called and thus has no defined {kind}.")

    get.__doc__ = f"The {kind} of a Keras model's node; a layer of `tf.layers` has none."
    return get


for _kind in ("input", "output", "input_mask", "output_mask", "input_shape", "output_shape"):
    setattr(Layer, f"get_{_kind}_at", _at_node(_kind))


def _unique(items):
    seen, result = set(), []
    for item in items:
        if id(item) not in seen:
            seen.add(id(item))
            result.append(item)
    return result


def _flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def _takes(function, argument):
    return argument in inspect.signature(function).parameters


def _is_new(variable, before):
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    return all(id(part) not in before for part in parts)


def _add_to_collection(items, name):
    known = get_collection_ref(name)
    for item in items:
        if not any(item is other for other in known):
            add_to_collection(name, item)
