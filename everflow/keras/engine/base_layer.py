"""`tf.keras.layers.Layer`: weights made at the first call, computation in `call`, and a record of the calls for models.

The part that keeps losses and updates is in layer_losses.py, the one about the graph of layers in connections.py.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import OperatorNotAllowedInGraphError
from everflow.framework.functions import FuncGraph
from everflow.framework.graph_scopes import reading_as
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    executing_eagerly,
    executing_eagerly_outside_functions,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.keras import backend as K
from everflow.keras import constraints, regularizers
from everflow.keras import initializers as keras_initializers
from everflow.keras.backend.config import floatx
from everflow.keras.backend.state import default_training, get_graph, track_variable, unique_object_name
from everflow.keras.engine import autocasting, saved_form
from everflow.keras.engine.autocast_variable import create_autocast_variable
from everflow.keras.engine.call_context import call_context
from everflow.keras.engine.connections import Connections
from everflow.keras.engine.input_spec import InputSpec, assert_input_compatibility
from everflow.keras.engine.layer_inner_names import LayerInnerNames
from everflow.keras.engine.layer_losses import LayerLosses, runs_at_once
from everflow.keras.engine.node import has_history
from everflow.keras.engine.ordered_calls import called_in_order
from everflow.keras.engine.symbolic_types import is_of_a_graph
from everflow.keras.engine.tracked_attributes import TrackedAttributes, claim, tracked, untracked
from everflow.ops.array.constants import placeholder
from everflow.ops.autograph.conversion import converted, is_users
from everflow.ops.variables import initializers
from everflow.ops.variables.module import Module
from everflow.ops.variables.variable import Variable, VariableAggregation, VariableSynchronization
from everflow.platform import logging
from everflow.platform.inspection import getfullargspec
from everflow.platform.signatures import takes

_KNOWN_ARGUMENTS = frozenset(
    "input_shape batch_input_shape batch_size weights activity_regularizer autocast input_dim".split()
)


class Layer(LayerInnerNames, TrackedAttributes, LayerLosses, Connections, Module):
    """Base class of layers: subclasses make weights in `build(input_shape)` and compute in `call(inputs)`.

    Args:
        trainable: Whether the variables are among those that optimizers train.
        name: Its name; made from its class if None.
        dtype: The type of the weights; that of the inputs if None.
        dynamic: Whether it runs Python code, and so only eagerly.

    Example:
        >>> class Scale(tf.keras.layers.Layer):
        ...     def build(self, input_shape):
        ...         self.scale = self.add_weight("scale", [], initializer="ones")
        ...     def call(self, inputs):
        ...         return inputs * self.scale
        >>> layer = Scale()
        >>> layer(tf.ones([2])).shape.as_list(), [w.name for w in layer.weights]
        ([2], ['scale/scale:0'])
    """

    _object_identifier = "_tf_keras_layer"  # what it is called in SavedModels
    _compute_output_and_mask_jointly = False  # whether `call` sets the masks of its outputs

    @untracked
    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        for keyword in kwargs:
            if keyword not in _KNOWN_ARGUMENTS:
                raise TypeError("Keyword argument not understood:", keyword)
        self._init_name(name)
        self._trainable = trainable
        self._dynamic = dynamic
        self.stateful = False
        self.built = False
        self.supports_masking = False
        self._input_spec = None
        policy = autocasting.default_policy if dtype is None else dtype
        self._casts_variables = getattr(policy, "should_cast_variables", False)
        self._computes_in = policy.compute_dtype if self._casts_variables else None
        if hasattr(policy, "should_cast_variables"):  # a policy of mixed precision
            dtype = policy.variable_dtype
        self._autocast = kwargs.get("autocast", autocasting.v2_dtype_behavior_enabled())
        if dtype is None and policy is None and autocasting.v2_dtype_behavior_enabled():
            dtype = floatx()
            self._type_is_default = True
        self._policy = policy if hasattr(policy, "should_cast_variables") else None
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._activity_regularizer = kwargs.pop("activity_regularizer", None)
        for kept in ("_trainable_weights", "_non_trainable_weights"):
            # Variables set as attributes before this call are there already.
            self.__dict__.setdefault(kept, [])
        self._updates, self._losses, self._eager_losses, self._callable_losses = [], [], [], []
        self._metrics, self._metrics_tensors = [], {}
        self._inbound_nodes, self._outbound_nodes = [], []
        self._initial_weights = kwargs.get("weights")
        self._note_input_shape(kwargs)

    def _init_name(self, name, zero_based=True):
        self._name = name if name else unique_object_name(snake_case(type(self).__name__), zero_based=zero_based)

    def _note_input_shape(self, kwargs):
        """The first layer of a Sequential may be told its input's shape."""
        if "input_dim" in kwargs and "input_shape" not in kwargs:
            kwargs["input_shape"] = (kwargs["input_dim"],)
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])

    # --- facts -------------------------------------------------------------------------------

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype, doc="The dtype's name; None until it is known.")
    _compute_dtype = property(
        lambda self: self._computes_in if self._casts_variables else self._dtype, doc="The type of what it computes."
    )
    dynamic = property(lambda self: self._dynamic, doc="Whether it can only run eagerly.")

    @property
    def _dtype_policy(self):
        """The policy of mixed precision that it was given, or that its type amounts to."""
        return autocasting.policy_of(self._policy, self._computes_in, self._dtype)

    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    variables = property(lambda self: self.weights)

    @property
    def input_spec(self):
        """What inputs it takes: an InputSpec or a list of them."""
        return self._input_spec

    @input_spec.setter
    @untracked
    def input_spec(self, value):
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"What inputs layer {self.name} takes is said by `InputSpec`s, not by {spec!r}.")
        self._input_spec = value

    @property
    def activity_regularizer(self):
        return self._activity_regularizer

    @activity_regularizer.setter
    @untracked
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for holder in self._holders_of_layers():
            # What a list or dict holds keeps its own mark, and doesn't count while that has none.
            holder.trainable = value

    @property
    def trainable_weights(self):
        """Variables that training changes; none while the layer is frozen."""
        if not self.trainable:
            return []
        return unique(self._trainable_weights + self._weights_inside("trainable_weights"))

    @property
    def non_trainable_weights(self):
        """Variables that training leaves alone."""
        if not self.trainable:
            return unique(self._trainable_weights + self._non_trainable_weights + self._weights_inside("weights"))
        return unique(self._non_trainable_weights + self._weights_inside("non_trainable_weights"))

    @property
    def weights(self):
        """All variables, those that are trained first."""
        return unique(self.trainable_weights + self.non_trainable_weights)

    def count_params(self):
        """How many numbers its variables hold."""
        # A model of layers knows its shapes, also where the last layer that was added didn't fit.
        if not self.built and not getattr(self, "inputs", None):
            raise ValueError(
                f"{self.name} isn't built, so it has no parameters to count: call it on inputs, or `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(w.shape.as_list()) for w in self.weights))

    def get_weights(self):
        """The values of its variables, in the order of `weights`."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights):
        """Give its variables values, in the order of `weights`."""
        set_values(f"layer {self.name}", self.weights, weights)

    # --- weights -----------------------------------------------------------------------------

    @takes(
        """name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
        partitioner=None, use_resource=None, synchronization=AUTO, aggregation=NONE, **kwargs""",
        AUTO=VariableSynchronization.AUTO,
        NONE=VariableAggregation.NONE,
    )
    def add_weight(self, name, shape, dtype, initializer, regularizer, trainable, partitioner, use_resource, **more):
        """Make a variable of the layer; floats start as Glorot's uniform numbers unless an initializer is given."""
        settings = {key: more.pop(key) for key in ("synchronization", "aggregation")}
        settings["constraint"] = constraints.get(more.pop("constraint"))
        for keyword in more:
            if keyword not in ("getter", "collections", "experimental_autocast"):
                raise TypeError("Unknown keyword argument:", keyword)
        shape = TensorShape(() if shape is None else shape)
        dtype = dtypes.as_dtype(dtype or self._dtype or floatx())
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        initializer = keras_initializers.get(initializer)
        regularizer = regularizers.get(regularizer)
        trainable = resolve_trainable(trainable, settings["synchronization"])
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        settings |= {"name": name, "dtype": dtype, "trainable": trainable}
        getter = more.get("getter")
        if callable(getter):
            variable = getter(
                shape=shape, initializer=initializer, partitioner=partitioner, use_resource=use_resource, **settings
            )
        else:
            with init_scope():
                initial_value = functools.partial(_made_by(initializer), shape, dtype=dtype)
                settings |= {"collections": more.get("collections"), "shape": shape if shape.rank else None}
                settings["use_resource"] = True if use_resource is None else use_resource
                variable = Variable(initial_value, validate_shape=True, **settings)
        track_variable(variable)
        if self._casts_variables and more.get("experimental_autocast", True):
            variable = create_autocast_variable(variable)
        self._track(name or variable.op.name, variable)
        if regularizer is not None:
            self._regularize_weight(variable.name[: variable.name.index(":")], variable, regularizer)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        return variable

    def add_variable(self, *args, **kwargs):
        """Deprecated name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    # --- building and calling ----------------------------------------------------------------

    def build(self, input_shape):
        """Make the weights, once the inputs' shape is known. Subclasses override it."""
        self.built = True

    def call(self, inputs, **kwargs):
        """Compute the outputs. Subclasses override it."""
        return inputs

    def apply(self, inputs, *args, **kwargs):
        """Deprecated name of calling the layer."""
        return self(inputs, *args, **kwargs)

    def _name_scope(self):
        return self.name

    @tracked
    def __call__(self, inputs, *args, **kwargs):
        """Make the weights at the first call, and compute the outputs."""
        from everflow.keras.engine.op_layers import give_history, needs_history  # builds on this module

        inputs = numbers_as_tensors(inputs)
        if executing_eagerly():
            if any(map(is_of_a_graph, nest.flatten(inputs, expand_composites=True))):
                # Models are drawn in a graph of their own, also where all else runs at once.
                with get_graph().as_default():
                    # A subclass may have a call of its own, which runs already.
                    return Layer.__call__(self, inputs, *args, **kwargs)
        if not call_context.in_call and runs_at_once():
            self._clear_losses()
        masks, said = _collected_masks(inputs), dict(kwargs)
        if self._call_takes("mask"):
            if self._is_given("mask", args, kwargs):
                masks = {**dict(zip(self._call_parameters[1:], args)), **kwargs}["mask"]
            elif masks is not None:
                kwargs["mask"] = masks
        training = self._resolve_training(args, kwargs)
        for tensors in (inputs, self._given_besides_inputs(args, said)):
            if needs_history(tensors):
                give_history(tensors)
        with call_context.enter(self, inputs, training):
            if not self.built or not executing_eagerly():
                # What runs at once fails by itself, in the layer's operations, once there are weights.
                assert_input_compatibility(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                if not self.built:
                    claim(self._nested_layers())  # Also what came into a list after it was set as an attribute.
                self._maybe_build(inputs)
                computed = self._compute_dtype
                given = inputs
                if self._autocast and computed:
                    given = autocasting.cast_inputs(inputs, computed, self._tell_of_cast)
                casts = self._casts_variables and computed and dtypes.as_dtype(computed).is_floating
                with reading_as(computed if casts else None):
                    outputs = self._compute(given, args, kwargs)
                if not executing_eagerly() and has_history(inputs) and nest.flatten(inputs):
                    outputs = self._connect(inputs, outputs, self._given_besides_inputs(args, said))
                self._regularize_activity(inputs, outputs)
                self._pass_masks_on(inputs, outputs, masks)
                self._note_call(inputs, outputs)
        return outputs

    def _tell_of_cast(self, given):
        """Warn, once, where a type that nobody chose for the layer changes that of its inputs."""
        if not self.__dict__.pop("_type_is_default", False):
            return
        logging.warn(
            f"Layer {self.name} casts an input of {given} to its own dtype, {self._dtype}, as layers of "
            f"TensorFlow 2 do. The layer has dtype {self._dtype} because nothing else was said, and that is `floatx()`: make it "
            f"with dtype='{given}' to have it compute in that, or with autocast=False to leave inputs as they are."
        )

    def _compute(self, inputs, args, kwargs):
        if self.dynamic and not executing_eagerly():
            return self._stand_ins(inputs)
        call = converted(self.call) if is_users(self.call) and not executing_eagerly() else self.call
        try:
            outputs = called_in_order(call, inputs, *args, **kwargs)
        except OperatorNotAllowedInGraphError as error:
            raise TypeError(
                f"Layer {self.name} uses Python control flow on values that are only known when the graph runs. A layer made with "
                f"`dynamic=True` may do so, in eager execution. The operation that failed: {error}"
            ) from error
        if outputs is None and not executing_eagerly():
            raise ValueError(f"The `call` of layer {self.name} returned None: it has to return a tensor, or several.")
        return outputs

    def _stand_ins(self, inputs):
        """Placeholders for the outputs of a layer that can't be drawn, of the shapes it says."""
        shapes = self.compute_output_shape(nest.map_structure(lambda x: x.shape, inputs))
        return map_shapes(lambda shape: placeholder(self._dtype or floatx(), shape), shapes)

    def _note_call(self, inputs, outputs):
        """Models that are built by being called note with what."""

    def _maybe_build(self, inputs):
        if self.built:
            return
        first = next((x for x in nest.flatten(inputs) if hasattr(x, "dtype")), None)
        if self._casts_variables and self._computes_in is None and first is not None:
            self._computes_in = dtypes.as_dtype(first.dtype).base_dtype.name
            self._casts_variables = self._computes_in != self._dtype
        if self._dtype is None and first is not None:
            self._dtype = dtypes.as_dtype(first.dtype).base_dtype.name
        shapes = None
        if nest.flatten(inputs) and all(hasattr(x, "shape") for x in nest.flatten(inputs)):
            shapes = nest.map_structure(_shape_of, inputs)
        # Where all else runs at once, what `build` makes is not of the graph that the model is drawn in.
        with init_scope() if executing_eagerly_outside_functions() else contextlib.nullcontext():
            self.build(shapes)
        # What SavedModels hold is traced for inputs like the first.
        self.__dict__["_first_inputs"] = nest.map_structure(_as_spec, inputs)
        # A `build` of the user's may not call the one here.
        Layer.build(self, None)
        if self._initial_weights is not None:
            with init_scope():
                self.set_weights(self._initial_weights)
            self._initial_weights = None

    # --- arguments of `call` -----------------------------------------------------------------

    _call_fn_args = property(lambda self: arguments_of_call(self))
    _call_accepts_kwargs = property(lambda self: takes_any_name(self.call))
    _expects_training_arg = property(lambda self: self._call_takes("training") or self._call_accepts_kwargs)
    _expects_mask_arg = property(lambda self: self._call_takes("mask"))

    @functools.cached_property
    def _call_parameters(self):
        parameters = inspect.signature(self.call).parameters.values()
        return [p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL]

    def _call_takes(self, name):
        return name in self._call_parameters[1:]

    def _is_given(self, name, args, kwargs):
        return name in kwargs or name in self._call_parameters[1 : 1 + len(args)]

    def _given_besides_inputs(self, args, kwargs):
        """The arguments of a call besides the inputs, by name; masks and phases that weren't given are found anew."""
        return dict(zip(self._call_parameters[1:], args)) | kwargs

    def _resolve_training(self, args, kwargs):
        """What the layer is told about training, or what the layer around it was told."""
        if not self._call_takes("training"):
            # It is for the layers inside where `call` has no use for it itself.
            return kwargs.get("training") if takes_any_name(self.call) else kwargs.pop("training", None)
        given = dict(zip(self._call_parameters[1:], args)) | kwargs
        if given.get("training") is not None:
            return given["training"]
        training = default_training() if call_context.training is None else call_context.training
        if training is not None and not self._is_given("training", args, kwargs):
            kwargs["training"] = training
        return training

    # --- masks -------------------------------------------------------------------------------

    def compute_mask(self, inputs, mask=None):
        """The mask that goes on with the outputs."""
        if self.supports_masking or all(m is None for m in nest.flatten(mask)):
            return mask if self.supports_masking else None
        raise TypeError(f"Layer {self.name} does not support masking, and its input has a mask: {mask}")

    def _pass_masks_on(self, inputs, outputs, masks):
        flat = nest.flatten(outputs)
        if all(getattr(x, "_keras_mask", None) is not None for x in flat) and self._compute_output_and_mask_jointly:
            return
        if type(self).compute_mask is Layer.compute_mask and (masks is None or not self.supports_masking):
            made = [None] * len(flat)
        else:
            made = nest.flatten(self.compute_mask(inputs, masks))
            made = made if len(made) == len(flat) else [made[0] if made else None] * len(flat)
        for tensor, mask in zip(flat, made):
            if isinstance(tensor, Tensor):
                tensor._keras_mask = mask

    # --- what subclasses may say -------------------------------------------------------------

    def compute_output_shape(self, input_shape):
        """The shape of the outputs for inputs of this shape; found by calling the layer, where that leaves nothing behind."""
        if not executing_eagerly():
            raise NotImplementedError(f"In a graph, {type(self).__name__} needs a `compute_output_shape` of its own.")
        return self._drawn_output_shape(input_shape)

    def _drawn_output_shape(self, input_shape):
        """The same, found by drawing the layer in a graph of its own."""
        if type(self).call is Layer.call:
            return input_shape
        with FuncGraph("shapes", get_default_graph()).as_default():
            inputs = map_shapes(lambda shape: placeholder(self._dtype or "float32", shape), input_shape)
            known = self._dtype
            self._maybe_build(inputs)
            if not self.weights:
                self._dtype = known  # The first call decides on it: these are no inputs.
            try:
                if self.dynamic:
                    raise TypeError("it is dynamic")
                outputs = self._compute(inputs, (), {"training": False} if self._call_takes("training") else {})
            except TypeError as e:
                raise NotImplementedError(
                    f"The shape of what {type(self).__name__} makes can't be found out by calling it: {e}. "
                    "Give it a `compute_output_shape`."
                ) from e
        return nest.map_structure(lambda t: t.shape, outputs)

    def compute_output_signature(self, input_signature):
        """The TensorSpecs of the outputs for inputs of these."""
        shapes = self.compute_output_shape(nest.map_structure(lambda s: s.shape, input_signature))
        dtype = self._dtype or nest.flatten(input_signature)[0].dtype
        if isinstance(shapes, (TensorShape, tuple)):
            return TensorSpec(shapes, dtype)
        return nest.map_structure(lambda shape: TensorSpec(shape, dtype), shapes)

    def get_config(self):
        """What it takes to make such a layer again, as plain data."""
        config = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self._dynamic:
            config["dynamic"] = True
        parameters = getfullargspec(type(self).__init__).args[1:]
        extra = [p for p in parameters if p not in ("name", "trainable", "dtype", "dynamic")]
        if extra and type(self).get_config is Layer.get_config and type(self) is not Layer:
            raise NotImplementedError(
                f"{type(self).__name__} takes {', '.join(extra)}: layers with arguments in `__init__` need a `get_config` "
                "that writes them down."
            )
        return config

    @classmethod
    def from_config(cls, config):
        """A layer from what `get_config` gave."""
        return cls(**config)

    def _saved_identity(self):
        return saved_form.identity(self)

    def _saved_branches(self):
        return saved_form.branches(self)

    @property
    def name_scope(self):
        """A context manager that enters the layer's name scope."""
        return name_scope(self._name_scope())


def arguments_of_call(layer):
    """The names of what a layer's `call` takes by position, besides the layer itself."""
    call = vars(layer).get("call") or inspect.getattr_static(type(layer), "call")
    return [name for name in getfullargspec(getattr(call, "python_function", call)).args if name != "self"]


def takes_any_name(call):
    """Whether a function takes arguments by any name, as `**kwargs`."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(call).parameters.values())


def _as_spec(x):
    """What kind of inputs one belongs to: batches of any size."""
    if not isinstance(x, Tensor):
        return x
    sizes = x.shape.as_list() if x.shape.rank else x.shape
    return TensorSpec([None, *sizes[1:]] if x.shape.rank else sizes, x.dtype.base_dtype)


def _shape_of(x):
    return x.shape if isinstance(x.shape, TensorShape) else TensorShape(x.shape)


def snake_case(name):
    """CamelCase as snake_case: the base of a layer's default name."""
    result = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
    return result if result[0] != "_" else "private" + result


def unique(items):
    """Items without repetition, by identity."""
    return list({id(item): item for item in items}.values())


def set_values(owner, variables, values, shapes=None):
    """Give variables values; ValueError where they don't fit. Their shapes are those of what they hold, unless given."""
    if len(variables) != len(values):
        raise ValueError(
            f"`set_weights` got a weight list of length {len(values)}; {owner} has {len(variables)}. Given: {str(values)[:50]}"
        )
    shapes = [present.shape for present in K.batch_get_value(variables)] if shapes is None else shapes
    for variable, shape, value in zip(variables, shapes, values):
        if shape != np.shape(value):
            raise ValueError(
                f"{variable.name} of {owner} has shape {shape}, the weight given for it {np.shape(value)}."
            )
    K.batch_set_value(list(zip(variables, values)))


def resolve_trainable(trainable, synchronization):
    """Whether a variable is trained, where the program may have left it open."""
    if synchronization == VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "A variable with VariableSynchronization.ON_READ has a value in each replica, and can't be trained: "
                "make it with trainable=False."
            )
        return False
    return True if trainable is None else trainable


def _default_initializer(name, dtype):
    if dtype.is_floating:
        return initializers.GlorotUniform()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
        return initializers.Zeros()
    raise ValueError(f"Variable {name} needs an initializer: there is no default one for {dtype.base_dtype}.")


def _made_by(initializer):
    return initializer() if isinstance(initializer, type) else initializer


def numbers_as_tensors(inputs):
    """Arrays and numbers among the inputs as tensors."""
    flat = nest.flatten(inputs)
    if any(isinstance(x, (np.ndarray, float, int)) for x in flat):
        return nest.map_structure(
            lambda x: convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x, inputs
        )
    return inputs


def _collected_masks(inputs):
    """The masks that came with the inputs, in their structure; None where there is none at all."""
    flat = nest.flatten(inputs)
    if all(getattr(x, "_keras_mask", None) is None for x in flat):
        return None
    return nest.map_structure(lambda x: getattr(x, "_keras_mask", None), inputs)


def map_shapes(make, shapes):
    """`make` for each shape in a shape or a structure of them."""
    if isinstance(shapes, dict):
        return {key: map_shapes(make, shape) for key, shape in shapes.items()}
    if isinstance(shapes, (list, tuple)) and any(isinstance(s, (TensorShape, tuple, list, dict)) for s in shapes):
        return type(shapes)(map_shapes(make, shape) for shape in shapes)
    return make(shapes)
