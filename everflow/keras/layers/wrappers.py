"""Layers around other layers: the same layer for each time step, and a recurrent layer in both directions."""

from __future__ import annotations

import copy

from everflow.framework import nest
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.engine.known_classes import deserialize
from everflow.keras.generic import named_config
from everflow.keras.layers.recurrent import standardize_arguments
from everflow.ops import array


class Wrapper(Layer):
    """Base of layers around another layer.

    Args:
        layer: The layer to wrap.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> isinstance(tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(1)), tf.keras.layers.Wrapper)
        True
    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise AssertionError(f"{type(self).__name__} wraps a layer, not {layer}")
        self.layer = layer
        super().__init__(**kwargs)

    def build(self, input_shape=None):
        if not self.layer.built:
            if self.layer._dtype is None:
                self.layer._dtype = self._dtype
            self.layer.build(input_shape)
        self.layer.built = True
        self.built = True

    @property
    def activity_regularizer(self):
        return getattr(self.layer, "activity_regularizer", None)

    @activity_regularizer.setter
    def activity_regularizer(self, value):
        """The layer's own."""

    def get_config(self):
        return {**super().get_config(), "layer": named_config(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = copy.deepcopy(config)
        layer = deserialize(config.pop("layer"), custom_objects=custom_objects)
        return cls(layer, **config)


# Classes that version 2 of Keras has another of by that name, or none.
_ONLY_IN_VERSION_1 = frozenset(
    ["BatchNormalization", "CuDNNGRU", "CuDNNLSTM", "DenseFeatures", "GRU", "GRUCell", "LSTM", "LSTMCell"]
)


def is_builtin_layer(layer):
    """Whether a layer is of a class that both versions of Keras share, or of one made of such a class."""
    known = next(c for c in type(layer).__mro__ if c.__module__.startswith("everflow.keras."))
    return known is not Layer and (known.__name__ not in _ONLY_IN_VERSION_1 or known.__module__.endswith("_v2"))


class TimeDistributed(Wrapper):
    """A layer for each time step of [batch, time, …].

    Args:
        layer: The layer to wrap.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(8))(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 8]
    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"TimeDistributed wraps a layer, not {layer!r}.")
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        # A layer that keeps its state from batch to batch has to see steps one by one, and one of a class that Keras
        # doesn't know might.
        self._always_use_reshape = is_builtin_layer(layer) and not getattr(layer, "stateful", False)

    def build(self, input_shape=None):
        sizes = TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                f"TimeDistributed takes [batch, time, ...], of at least 3 dimensions; the inputs have shape {sizes}."
            )
        self.input_spec = InputSpec(shape=(None, None, *sizes[2:]))
        super().build(TensorShape([sizes[0], *sizes[2:]]))

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        child = TensorShape(self.layer.compute_output_shape(TensorShape([sizes[0], *sizes[2:]]))).as_list()
        return TensorShape([child[0], sizes[1], *child[1:]])

    def call(self, inputs, training=None, mask=None):
        kwargs = {"training": training} if self.layer._call_takes("training") else {}
        sizes = inputs.shape.as_list()
        if sizes[0] and not self._always_use_reshape:
            return self._step_by_step(inputs, kwargs, sizes)
        length = sizes[1] or array.shape(inputs)[1]
        inner = self._tail_shape((-1,), inputs, 2)
        flat = array.reshape(inputs, inner)
        self.__dict__["_flattened"] = (inputs, flat)
        if self.layer._call_takes("mask") and mask is not None:
            kwargs["mask"] = K.reshape(mask, self._tail_shape((-1,), mask, 2))
        y = self.layer(flat, **kwargs)
        output_sizes = self.compute_output_shape(TensorShape(sizes)).as_list()
        outer = self._tail_shape((-1, length), y, 1, output_sizes[2:])
        return array.reshape(y, outer)

    @staticmethod
    def _tail_shape(start, tensor, skip, known=None):
        """A shape that begins with `start` and goes on like the tensor's after its first dimensions."""
        rest = list(tensor.shape.as_list()[skip:]) if known is None else list(known)
        if None in rest:
            dynamic = array.shape(tensor)
            rest = [dynamic[i + skip] if size is None else size for i, size in enumerate(rest)]
        return (*start, *rest)

    def _step_by_step(self, inputs, kwargs, sizes):
        def step(x, _):
            return self.layer(x, **kwargs), []

        _, outputs, _ = K.rnn(step, inputs, initial_states=[], input_length=sizes[1], unroll=False)
        return outputs

    def compute_mask(self, inputs, mask=None):
        """What the layer makes of the steps' masks, where batches may have any size; where it makes none, a step counts
        if any of it does.
        """
        if inputs.shape.as_list()[0]:
            return mask
        given, flat = self.__dict__.get("_flattened", (None, None))
        if given is not inputs:
            flat = array.reshape(inputs, self._tail_shape((-1,), inputs, 2))
        made = self.layer.compute_mask(
            flat, None if mask is None else K.reshape(mask, self._tail_shape((-1,), mask, 2))
        )
        if made is not None:
            length = inputs.shape.as_list()[1] or array.shape(inputs)[1]
            return K.reshape(made, self._tail_shape((-1, length), made, 1))
        while mask is not None and mask.shape.rank > 2:
            mask = K.any(mask, axis=-1)
        return mask


# Settings that both directions have.
_ALIKE = ("stateful", "return_sequences", "return_state")

# What a bidirectional layer makes of the outputs of both directions.
_MERGES = {
    "sum": lambda y, back: y + back,
    "mul": lambda y, back: y * back,
    "ave": lambda y, back: (y + back) / 2,
    "concat": lambda y, back: K.concatenate([y, back]),
    None: lambda y, back: [y, back],
}


class Bidirectional(Wrapper):
    """A recurrent layer over the sequence and another over the reversed sequence, merged.

    Args:
        layer: The layer to wrap.
        merge_mode: `concat`, `sum`, `mul`, `ave`, or None for a list of both.
        weights: First weights.
        backward_layer: The layer over the reversed sequence; made from the other if None.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))(tf.ones([2, 5, 3])).shape.as_list()
        [2, 8]
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Bidirectional wraps a layer, not {layer!r}.")
        if merge_mode not in _MERGES:
            raise ValueError(f"Invalid merge mode {merge_mode!r}: it is 'sum', 'mul', 'ave', 'concat' or None.")
        super().__init__(layer, **kwargs)
        self.__dict__["_tracked"].pop("layer", None)
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"`backward_layer` is a layer or None, not {backward_layer!r}.")
        self.forward_layer = self._again(layer)
        self._given_backward = None if backward_layer is None else named_config(backward_layer)
        if backward_layer is None:
            self.backward_layer = self._again(layer, go_backwards=True)
        else:
            self.backward_layer = backward_layer
            self._check_backward()
        self.forward_layer._name = "forward_" + self.forward_layer.name
        self.backward_layer._name = "backward_" + self.backward_layer.name
        self.merge_mode = merge_mode
        if getattr(layer, "return_sequences", False):
            # Steps that are masked in one direction must not bring in outputs of the other.
            self.forward_layer.zero_output_for_mask = self.backward_layer.zero_output_for_mask = True
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights, self.backward_layer._initial_weights = weights[:half], weights[half:]
        # It isn't `stateful` itself, as in TensorFlow: models leave its states alone.
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.supports_masking = True
        self.__dict__["_num_constants"] = 0
        self.input_spec = layer.input_spec

    @staticmethod
    def _again(layer, go_backwards=None):
        config = layer.get_config()
        if go_backwards is not None:
            config["go_backwards"] = not config["go_backwards"]
        return type(layer).from_config(config)

    def _check_backward(self):
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError(
                "The layers of Bidirectional go opposite ways, but `go_backwards` is "
                f"{self.forward_layer.go_backwards} for both."
            )
        for name in _ALIKE:
            forward, backward = getattr(self.forward_layer, name), getattr(self.backward_layer, name)
            if forward != backward:
                raise ValueError(
                    f"`{name}` is {forward} for the forward layer and {backward} for the backward one: "
                    "it has to be the same."
                )

    def build(self, input_shape):
        # The dtype of the inputs is that of both.
        for inner in (self.forward_layer, self.backward_layer):
            if inner._dtype is None:
                inner._dtype = self._dtype
        with name_scope(self.forward_layer.name):
            self.forward_layer.build(input_shape)
        with name_scope(self.backward_layer.name):
            self.backward_layer.build(input_shape)
        self.built = True

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """Compute the outputs; `initial_state` has the states of the forward layer, then those of the backward one."""
        inputs, initial_state, constants = standardize_arguments(inputs, initial_state, constants, self._num_constants)
        if isinstance(inputs, list) and len(inputs) > 1:
            inputs, initial_state = inputs[0], inputs[1:]
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        extra = list(initial_state or ()) + list(constants or ())
        if initial_state is not None and len(initial_state) % 2:
            raise ValueError(
                f"`initial_state` has the states of the forward layer, then those of the backward one, not {initial_state}."
            )
        if constants is not None:
            self.__dict__["_num_constants"] = self.forward_layer.__dict__["_num_constants"] = len(constants)
            self.backward_layer.__dict__["_num_constants"] = len(constants)
        if all(hasattr(t, "_keras_history") for t in extra):
            before = self._input_spec
            self.input_spec = [
                *nest.flatten(before)[:1],
                *[InputSpec(shape=(None, *t.shape.as_list()[1:])) for t in extra],
            ]
            output = super().__call__([inputs, *extra], **kwargs)
            self.input_spec = before
            return output
        return super().__call__(inputs, initial_state=initial_state, constants=constants, **kwargs)

    def call(self, inputs, training=None, mask=None, initial_state=None, constants=None):
        kwargs = {}
        if self.forward_layer._call_takes("training"):
            kwargs["training"] = training
        if self.forward_layer._call_takes("mask"):
            kwargs["mask"] = mask[0] if isinstance(mask, list) else mask
        if constants is not None:
            kwargs["constants"] = constants
        forward_inputs = backward_inputs = inputs
        forward_state, backward_state = {}, {}
        if isinstance(inputs, list) and len(inputs) > 1:
            end = len(inputs) - self._num_constants
            half = (end - 1) // 2
            forward_inputs = [inputs[0], *inputs[1 : 1 + half], *inputs[end:]]
            backward_inputs = [inputs[0], *inputs[1 + half : end], *inputs[end:]]
        elif initial_state is not None:
            half = len(initial_state) // 2
            forward_state = {"initial_state": initial_state[:half]}
            backward_state = {"initial_state": initial_state[half:]}
        y = self.forward_layer(forward_inputs, **forward_state, **kwargs)
        back = self.backward_layer(backward_inputs, **backward_state, **kwargs)
        if self.return_state:
            states = y[1:] + back[1:]
            y, back = y[0], back[0]
        if self.return_sequences:
            back = K.reverse(back, 0 if getattr(self.forward_layer, "time_major", False) else 1)
        output = _MERGES[self.merge_mode](y, back)
        if self.return_state:
            return [*(output if self.merge_mode is None else [output]), *states]
        return output

    @shape_tuples
    def compute_output_shape(self, input_shape):
        shape = self.forward_layer.compute_output_shape(input_shape)
        states = []
        if self.return_state:
            shape, states = shape[0], shape[1:]
        if self.merge_mode == "concat":
            sizes = TensorShape(shape).as_list()
            output = TensorShape([*sizes[:-1], sizes[-1] * 2])
        elif self.merge_mode is None:
            output = [shape, copy.copy(shape)]
        else:
            output = shape
        if self.return_state:
            return [*(output if self.merge_mode is None else [output]), *states, *copy.copy(states)]
        return output

    def reset_states(self):
        """Begin the states of both directions anew."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_mask(self, inputs, mask=None):
        mask = mask[0] if isinstance(mask, list) else mask
        if self.return_sequences:
            of_output = [mask, mask] if not self.merge_mode else mask
        else:
            of_output = [None, None] if not self.merge_mode else None
        if self.return_state:
            states = [None for _ in self.forward_layer.states] * 2
            return [*(of_output if isinstance(of_output, list) else [of_output]), *states]
        return of_output

    @property
    def constraints(self):
        """Of the weights of both layers."""
        found = {}
        for layer in (self.forward_layer, self.backward_layer):
            found.update(getattr(layer, "constraints", {}))
        return found

    def get_config(self):
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self._given_backward is not None:
            config["backward_layer"] = self._given_backward
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = copy.deepcopy(config)
        count = config.pop("num_constants", 0)
        backward = config.pop("backward_layer", None)
        if backward is not None:
            config["backward_layer"] = deserialize(backward, custom_objects=custom_objects)
        layer = cls(deserialize(config.pop("layer"), custom_objects=custom_objects), **config)
        layer.__dict__["_num_constants"] = count
        return layer
