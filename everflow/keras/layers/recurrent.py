"""Recurrent layers: a cell over the time axis."""

from __future__ import annotations

import numpy as np

from everflow.framework import nest
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.engine.known_classes import deserialize
from everflow.keras.generic import named_config
from everflow.keras.layers.configured import looked_up, written
from everflow.keras.layers.recurrent_cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    call_takes,
    first_state,
    output_size_of,
    require_cells,
    without,
)
from everflow.ops import array
from everflow.platform.signatures import REQUIRED, constructor, inserted, parameters_of, takes


def standardize_arguments(inputs, initial_state, constants, num_constants):
    """(inputs, states, constants) from a call where the states may come in a list with the inputs."""
    if isinstance(inputs, list):
        if num_constants:
            constants = inputs[-num_constants:]
            inputs = inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state = inputs[1:]
            inputs = inputs[:1]
        inputs = inputs[0] if len(inputs) == 1 else inputs

    def listed(x):
        return x if x is None or isinstance(x, list) else list(x) if isinstance(x, tuple) else [x]

    return inputs, listed(initial_state), listed(constants)


_LOOP_SETTINGS = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")


class RNN(Layer):
    """A cell (or a list of cells, stacked) called for each time step of [batch, time, features].

    Args:
        cell: The cell to run at each step.
        return_sequences: Whether the result has the outputs of all steps, or of the last one.
        return_state: Whether the last state is returned after the output.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        unroll: Whether the graph has each step for itself, which needs sequences of known length.
        time_major: Whether the first axis is time, not the batch.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.RNN(tf.keras.layers.LSTMCell(4), return_sequences=True)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 4]
    """

    @takes(
        """cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
        time_major=False, **kwargs""",
    )
    def __init__(self, cell, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        require_cells([cell])
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        loop = {name: kwargs.pop(name) for name in _LOOP_SETTINGS}
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim", None))
        super().__init__(**kwargs)
        self.cell = cell
        for name, value in loop.items():
            setattr(self, name, value)
        self.supports_masking = True
        self.__dict__.update(state_spec=None, _states=None, constants_spec=None, _num_constants=0)

    # --- states ----------------------------------------------------------------------------------

    @property
    def states(self):
        """The states: variables where the layer keeps them from batch to batch, else None."""
        return self._for_each_state(lambda size: None) if self._states is None else self._states

    @states.setter
    def states(self, states):
        self.__dict__["_states"] = states

    def _for_each_state(self, make):
        """What a function gives for each size of the cell's state, in the structure of the states."""
        sizes = self.cell.state_size
        return nest.map_structure(make, sizes if nest.is_sequence(sizes) else [sizes])

    def get_initial_state(self, inputs):
        """What the cell begins with, for these inputs."""
        if nest.is_sequence(inputs):
            inputs = nest.flatten(inputs)[0]
        batch = array.shape(inputs)[1 if self.time_major else 0]
        state = first_state(self.cell, None, batch, inputs.dtype)
        return list(state) if nest.is_sequence(state) else [state]

    def reset_states(self, states=None):
        """Begin anew, with zeros or with the states given."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        specs = nest.flatten(self.input_spec)
        spec = specs[0] if specs else None
        batch = None
        if spec is not None and spec.shape is not None:
            batch = spec.shape[1] if self.time_major else spec.shape[0]
        if not batch:
            raise ValueError(
                f"{self.name} keeps its states, so it needs to know its batch size: give the first layer of a "
                "Sequential model a `batch_input_shape`, or `tf.keras.Input` a `batch_shape`."
            )
        if nest.flatten(self.states)[0] is None:
            self.__dict__["_states"] = self._for_each_state(lambda size: K.zeros([batch, *TensorShape(size).as_list()]))
            if states is None:
                return
        flat = nest.flatten(self.states)
        if states is None:
            K.batch_set_value([(state, np.zeros(state.shape.as_list())) for state in flat])
            return
        given = nest.flatten(states) if isinstance(states, (list, tuple)) else [states]
        if len(given) != len(flat):
            raise ValueError(
                f"Layer {self.name} expects {len(flat)} states, but it received {len(given)} state values. "
                f"Input received: {states}"
            )
        for state, value in zip(flat, given):
            if tuple(state.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"State is incompatible with layer {self.name}: expected shape={tuple(state.shape.as_list())}, "
                    f"found shape={np.shape(value)}"
                )
        K.batch_set_value(list(zip(flat, given)))

    # --- building and calling ----------------------------------------------------------------------

    @staticmethod
    def _shapes(input_shape):
        """The shapes of inputs: one, or where a step takes several tensors, a structure of them."""
        several = nest.is_sequence(input_shape) and any(
            isinstance(one, (TensorShape, tuple, list)) for one in nest.flatten(input_shape)
        )
        return input_shape if several else TensorShape(input_shape)

    def _spec_of(self, shape):
        sizes = list(TensorShape(shape).as_list())
        batch, time = (1, 0) if self.time_major else (0, 1)
        if not self.stateful:
            sizes[batch] = None
        sizes[time] = None
        return InputSpec(shape=tuple(sizes))

    def build(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        shapes = self._shapes(input_shape)
        spec = nest.map_structure(self._spec_of, shapes)
        self.input_spec = [spec, *self.input_spec[1:]] if isinstance(self.input_spec, list) else [spec]

        def of_step(shape):
            sizes = TensorShape(shape).as_list()
            return TensorShape([sizes[1 if self.time_major else 0], *sizes[2:]])

        step_shape = nest.map_structure(of_step, shapes)
        if isinstance(self.cell, Layer) and not self.cell.built:
            if self.cell._dtype is None:
                self.cell._dtype = self._dtype
            self.cell.build(step_shape)
            self.cell.built = True
        self._set_state_spec()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _set_state_spec(self):
        sizes = nest.flatten(self.cell.state_size)
        self.__dict__["state_spec"] = [InputSpec(shape=(None, *TensorShape(size).as_list())) for size in sizes]

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """Compute the outputs; `initial_state` is the state to begin with."""
        inputs, initial_state, constants = standardize_arguments(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        extra = list(nest.flatten(initial_state or ())) + list(constants or ())
        if constants is not None:
            self.__dict__["_num_constants"] = len(constants)
        if not all(hasattr(t, "_keras_history") for t in extra):
            if initial_state is not None:
                kwargs["initial_state"] = initial_state
            if constants is not None:
                kwargs["constants"] = constants
            return super().__call__(inputs, **kwargs)
        # States that come from layers are inputs like the others.
        specs = [InputSpec(shape=(None, *t.shape.as_list()[1:])) for t in extra]
        before = self._input_spec
        if before is not None:
            self.input_spec = [before[0] if isinstance(before, list) else before, *specs]
        output = super().__call__([inputs, *extra], **kwargs)
        self.input_spec = self._input_spec[:1] if isinstance(self._input_spec, list) else before
        return output

    def _states_and_constants(self, inputs, initial_state, constants):
        if isinstance(inputs, list):
            extra = inputs[1:]
            if self._num_constants:
                constants, extra = extra[-self._num_constants :], extra[: -self._num_constants]
            initial_state = extra if extra else initial_state
            inputs = inputs[0]
        if self.stateful:
            # A state that is given for this call takes the place of the one kept.
            initial_state = self.states if initial_state is None else initial_state
        elif initial_state is None:
            initial_state = self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(f"Layer has {len(self.states)} states but was passed {len(initial_state)} initial states.")
        return inputs, initial_state, constants

    def _reset_masks(self):
        for cell in getattr(self.cell, "cells", [self.cell]):
            if hasattr(cell, "reset_dropout_mask"):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        inputs, initial_state, constants = self._states_and_constants(inputs, initial_state, constants)
        self._reset_masks()
        if isinstance(mask, list):
            mask = mask[0]
        if nest.is_sequence(mask):
            mask = nest.flatten(mask)[0]  # several tensors of a step have one time axis
        time_steps = nest.flatten(inputs)[0].shape.as_list()[0 if self.time_major else 1]
        if self.unroll and time_steps is None:
            raise ValueError(
                f"Cannot unroll {self.name} over an unknown number of time steps: give the first layer of a Sequential "
                "model an `input_shape` that has it, or `tf.keras.Input` such a `shape`."
            )
        last, outputs, states = K.rnn(
            self._step_function(training, constants),
            inputs,
            initial_state,
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            input_length=self._input_length(time_steps),
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        return self._finished(last, outputs, states)

    def _input_length(self, time_steps):
        """How many steps the loop is told to expect: the inputs themselves say it."""
        return None

    def _step_function(self, training, constants):
        kwargs = {"training": training} if call_takes(self.cell, "training") else {}
        of_tf = getattr(self.cell, "_is_tf_rnn_cell", False)
        cell = self.cell.call
        if constants is not None:
            if not call_takes(self.cell, "constants"):
                raise ValueError("RNN cell does not support constants")

            def step(inputs, states):
                given = states[-self._num_constants :]
                return cell(inputs, list(states[: -self._num_constants]), constants=list(given), **kwargs)

            return step

        def step(inputs, states):
            states = states[0] if len(states) == 1 and of_tf else states
            output, new_states = cell(inputs, states, **kwargs)
            return output, new_states if nest.is_sequence(new_states) else [new_states]

        return step

    def _finished(self, last, outputs, states):
        """What the layer returns; states that are kept are updated."""
        if self.stateful:
            flat = zip(nest.flatten(self._states), nest.flatten(states))
            self.add_update([state.assign(new) for state, new in flat])
        output = outputs if self.return_sequences else last
        return [output, *list(states)] if self.return_state else output

    def compute_mask(self, inputs, mask=None):
        mask = nest.flatten(mask)[0] if mask is not None else None
        of_output = mask if self.return_sequences else None
        return [of_output, *[None for _ in self.states]] if self.return_state else of_output

    def compute_output_shape(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        sizes = TensorShape(nest.flatten(self._shapes(input_shape))[0]).as_list()
        batch, time = (sizes[1], sizes[0]) if self.time_major else (sizes[0], sizes[1])

        def with_batch(size):
            return TensorShape([batch, *TensorShape(size).as_list()])

        def of_output(size):
            if not self.return_sequences:
                return with_batch(size)
            both = (time, batch) if self.time_major else (batch, time)
            return TensorShape([*both, *TensorShape(size).as_list()])

        sizes = nest.flatten(output_size_of(self.cell))
        outputs = [of_output(size) for size in sizes]
        if self.return_state:
            return outputs + [with_batch(size) for size in nest.flatten(self.cell.state_size)]
        return outputs[0] if len(outputs) == 1 else outputs

    # --- as data -------------------------------------------------------------------------------------

    def _rnn_config(self):
        config = {**Layer.get_config(self), **{name: getattr(self, name) for name in _LOOP_SETTINGS}}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        return config

    def get_config(self):
        return {**self._rnn_config(), "cell": named_config(self.cell)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        count = config.pop("num_constants", 0)
        layer = cls(deserialize(config.pop("cell"), custom_objects=custom_objects), **config)
        layer.__dict__["_num_constants"] = count
        return layer


def cell_arguments(names):
    """Class decorator: these arguments of the cell are attributes of the layer as well."""

    def decorate(cls):
        for name in names:
            setattr(cls, name, property(lambda self, name=name: getattr(self.cell, name), doc=f"The cell's `{name}`."))
        return cls

    return decorate


class OfCell:
    """What layers with a cell of their own kind add to `RNN`: their arguments are the cell's."""

    def call(self, inputs, mask=None, training=None, initial_state=None):
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    def get_config(self):
        of_cell = written(self.cell, self.cell._kept_arguments)
        return {
            **self._rnn_config(),
            **inserted(of_cell, bias_regularizer=written(self, ["activity_regularizer"])),
        }


_LOOP_ARGUMENTS = dict.fromkeys(_LOOP_SETTINGS[:-1], False)


class _OfDenseCell(OfCell, RNN):
    """A recurrent layer over vectors."""

    cell_class = None

    def _keep_settings(self, given):
        """Take arguments that are neither the cell's nor the loop's out of those given."""

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        if config.get("implementation") == 0:
            config["implementation"] = 1
        return cls(**config)


def over(cell_class, *last, **loop):
    """Class decorator: a layer over this kind of cell takes what the cell takes, and what the loop takes.

    Arguments of the cell that are named in `last` come after those of the loop, where they came to be.
    """
    of_cell = parameters_of(cell_class.__init__, ("**kwargs",))
    first = inserted(without(*last, of=of_cell), bias_regularizer={"activity_regularizer": None})
    loop = {**without(*loop, of=_LOOP_ARGUMENTS), **loop}
    parameters = {**first, **loop, **{name: of_cell[name] for name in last}, "**kwargs": REQUIRED}

    def start(self, activity_regularizer, **given):
        if "implementation" not in of_cell:
            given.pop("implementation", None)  # files of all times have it
        self._keep_settings(given)
        cell = {name: given.pop(name) for name in of_cell}
        cell.update({name: given[name] for name in ("dtype", "trainable") if name in given})
        RNN.__init__(self, self.cell_class(**cell), **given)
        self.activity_regularizer = looked_up("activity_regularizer", activity_regularizer)
        self.input_spec = [InputSpec(ndim=3)]

    def decorate(cls):
        cls.cell_class, cls.__init__ = cell_class, constructor(parameters, start)
        return cell_arguments(of_cell)(cls)

    return decorate


@over(SimpleRNNCell)
class SimpleRNN(_OfDenseCell):
    """The output of each step is fed to the next.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        return_sequences: Whether the result has the outputs of all steps, or of the last one.
        return_state: Whether the last state is returned after the output.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        unroll: Whether the graph has each step for itself, which needs sequences of known length.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.SimpleRNN(4, return_sequences=True)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 4]
    """


@over(GRUCell, "reset_after")
class GRU(_OfDenseCell):
    """Gated recurrent units.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        recurrent_activation: The function applied to the gates.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        implementation: 1 has smaller products, 2 joins those of all gates.
        return_sequences: Whether the result has the outputs of all steps, or of the last one.
        return_state: Whether the last state is returned after the output.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        unroll: Whether the graph has each step for itself, which needs sequences of known length.
        reset_after: Whether the reset gate comes after the product with the state.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.GRU(4, return_sequences=True)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 4]
    """


@over(LSTMCell)
class LSTM(_OfDenseCell):
    """Long short-term memory.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        recurrent_activation: The function applied to the gates.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        recurrent_initializer: What the kernel of the state starts as.
        bias_initializer: What the bias starts as.
        unit_forget_bias: Whether the bias of the forget gate starts as 1.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        recurrent_regularizer: A function of the kernel of the state whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        recurrent_constraint: A function that gives the kernel of the state back as it may be.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        dropout: The part of the inputs that is dropped while training.
        recurrent_dropout: The part of the state that is dropped while training.
        implementation: 1 has smaller products, 2 joins those of all gates.
        return_sequences: Whether the result has the outputs of all steps, or of the last one.
        return_state: Whether the last state is returned after the output.
        go_backwards: Whether the sequence is read from its end.
        stateful: Whether a batch begins with the state that the one before ended with.
        unroll: Whether the graph has each step for itself, which needs sequences of known length.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.LSTM(4, return_sequences=True)(tf.ones([2, 5, 3])).shape.as_list()
        [2, 5, 4]
    """
