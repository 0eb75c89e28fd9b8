"""Wrappers of cells: dropout, residual connections, placement on a device."""

from __future__ import annotations

import hashlib

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import device, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.keras.layers.lambda_layer import by_code, from_code
from everflow.ops import array, math
from everflow.ops.nn.dropout import dropout
from everflow.ops.random import distributions as random
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.platform.signatures import takes
from everflow.rnn.cells import LSTMStateTuple, RNNCell


def assert_like_rnncell(cell_name, cell):
    """Raise TypeError where an object is no cell."""
    missing = [
        what
        for what, there in (
            ("'output_size' property is missing", hasattr(cell, "output_size")),
            ("'state_size' property is missing", hasattr(cell, "state_size")),
            (
                "neither 'zero_state' nor 'get_initial_state' is a method of it",
                hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state"),
            ),
            ("is not callable", callable(cell)),
        )
        if not there
    ]
    if missing:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


class RNNCellWrapper(RNNCell):
    """A cell around a cell: it has no scope of its own, and the inner cell's sizes."""

    def __init__(self, cell, *args, **kwargs):
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell
        self._track("cell", cell)

    wrapped_cell = property(lambda self: self.cell)
    state_size = property(lambda self: self.cell.state_size)
    output_size = property(lambda self: self.cell.output_size)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        return self._call_wrapped(
            inputs, state, lambda *args: self.cell(*args, scope=scope) if scope is not None else self.cell(*args)
        )

    def _call_wrapped(self, inputs, state, call):
        raise NotImplementedError

    def get_config(self):
        """What `from_config` takes, but for the inner cell, which is described by class name and configuration."""
        return {
            **super().get_config(),
            "cell": {"class_name": type(self.cell).__name__, "config": self.cell.get_config()},
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A wrapper made from a configuration whose `cell` is a cell; ValueError where it only describes one."""
        if isinstance(config["cell"], dict):
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell from its configuration: put the cell itself into config['cell']"
            )
        return cls(**config)


def _keeps_all(state):
    """Which parts of a state dropout applies to: not to an LSTM's memory, nor to TensorArrays."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


def _tensor_or_number(name, value):
    """A keep probability as a Python number where it is known, checked; else as a tensor."""
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {float(known)}")
    return float(known)


class Dropping:
    """What wrappers for dropout do: on a cell's inputs, outputs or state; with `variational_recurrent` the same mask at every
    step.
    """

    @takes(
        """cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, variational_recurrent=False,
        input_size=None, dtype=None, seed=None, dropout_state_filter_visitor=None, **kwargs""",
    )
    def __init__(self, cell, variational_recurrent, input_size, dtype, seed, dropout_state_filter_visitor, **kwargs):
        kept = {f"{part}_keep_prob": kwargs.pop(f"{part}_keep_prob") for part in ("input", "state", "output")}
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._state_filter = dropout_state_filter_visitor or _keeps_all
        with name_scope("DropoutWrapperInit"):
            for name, probability in kept.items():
                setattr(self, f"_{name}", _tensor_or_number(name, probability))
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._input_noise = self._state_noise = self._output_noise = None
        if variational_recurrent:
            self._make_noise(cell, dtype, input_size)

    def _make_noise(self, cell, dtype, input_size):
        if dtype is None:
            raise ValueError("variational_recurrent=True draws masks in advance and needs their `dtype`")

        def noise(index, size, salt):
            shape = array.concat(([1], TensorShape(size).as_list()), 0)
            return random.random_uniform(shape, seed=self._gen_seed(salt, index), dtype=dtypes.as_dtype(dtype))

        if not isinstance(self._input_keep_prob, float) or self._input_keep_prob < 1.0:
            if input_size is None:
                raise ValueError(
                    "variational_recurrent=True draws the mask of inputs in advance: pass `input_size`, or input_keep_prob=1.0"
                )
            self._input_noise = _enumerated_map(lambda i, s: noise(i, s, "input"), input_size)
        self._state_noise = _enumerated_map(lambda i, s: noise(i, s, "state"), cell.state_size)
        self._output_noise = _enumerated_map(lambda i, s: noise(i, s, "output"), cell.output_size)

    def _gen_seed(self, salt_prefix, index):
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, values, salt, noise, keep_prob, chosen=None):
        if chosen is None:
            chosen = nest.map_structure(lambda _: True, values)
        flat_chosen = nest.flatten(chosen)
        parts = nest.flatten_up_to(chosen, values)
        masks = nest.flatten_up_to(chosen, noise) if noise is not None else [None] * len(parts)

        def one(i, keep, value, mask):
            if isinstance(keep, bool) and not keep:
                return value
            if not self._variational_recurrent:
                return dropout(value, keep_prob=keep_prob, seed=self._gen_seed(salt, i))
            kept = math.floor(keep_prob + mask)
            result = math.div(value, keep_prob) * kept
            result.set_shape(value.shape)
            return result

        made = [one(i, keep, v, m) for i, (keep, v, m) in enumerate(zip(flat_chosen, parts, masks))]
        return nest.pack_sequence_as(chosen, made) if nest.is_sequence(chosen) else made[0]

    @staticmethod
    def _applies(keep_prob):
        return not isinstance(keep_prob, float) or keep_prob < 1

    def _call_wrapped(self, inputs, state, call):
        if self._applies(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_noise, self._input_keep_prob)
        output, new_state = call(inputs, state)
        if self._applies(self._state_keep_prob):
            chosen = nest.get_traverse_shallow_structure(self._state_filter, new_state)
            new_state = self._dropped(new_state, "state", self._state_noise, self._state_keep_prob, chosen)
        if self._applies(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_noise, self._output_keep_prob)
        return output, new_state

    def get_config(self):
        facts = "input_keep_prob output_keep_prob state_keep_prob variational_recurrent input_size seed".split()
        config = {**super().get_config(), **{fact: getattr(self, "_" + fact) for fact in facts}}
        if self._state_filter is not _keeps_all:
            code = by_code(self._state_filter)
            config.update(zip(("dropout_fn", "dropout_fn_type", "dropout_fn_module"), code))
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return super().from_config(_with_function(config, "dropout_fn", "dropout_state_filter_visitor"), custom_objects)


def _enumerated_map(function, structure):
    flat = nest.flatten(structure)
    if not nest.is_sequence(structure):
        return function(0, structure)
    return nest.pack_sequence_as(structure, [function(i, item) for i, item in enumerate(flat)])


def _with_function(config, key, argument):
    """A configuration with a function for what was written down of it."""
    config = dict(config)
    kind = config.pop(f"{key}_type", None)
    for name in [name for name in config if name in (f"{key}_module", "residule_fn_module")]:
        del config[name]
    if kind is not None:
        config[argument] = from_code(config.pop(key), kind)
    return config


class Residual:
    """What residual wrappers do: add a cell's inputs to its outputs, or combine them with `residual_fn(inputs, outputs)`."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _call_wrapped(self, inputs, state, call):
        outputs, new_state = call(inputs, state)

        def add(inputs, outputs):
            nest.assert_same_structure(inputs, outputs)
            nest.map_structure(lambda i, o: i.shape.assert_is_compatible_with(o.shape), inputs, outputs)
            return nest.map_structure(lambda i, o: i + o, inputs, outputs)

        result = (self._residual_fn or add)(inputs, outputs)
        nest.assert_same_structure(outputs, result)
        return result, new_state

    def get_config(self):
        config = super().get_config()
        if self._residual_fn is not None:
            # The last key is spelt as files have it.
            keys = ("residual_fn", "residual_fn_type", "residule_fn_module")
            config.update(zip(keys, by_code(self._residual_fn)))
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return super().from_config(_with_function(config, "residual_fn", "residual_fn"), custom_objects)


class OnDevice:
    """What wrappers for devices do: run a cell there."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped(self, inputs, state, call):
        with device(self._device):
            return call(inputs, state)

    def get_config(self):
        return {**super().get_config(), "device": self._device}


class DropoutWrapper(Dropping, RNNCellWrapper):
    """Dropout on a cell's inputs, outputs or state; with `variational_recurrent` the same mask at every step.

    Args:
        cell: The cell to run at each step.
        input_keep_prob: The share of inputs that is kept.
        output_keep_prob: The share of outputs that is kept.
        state_keep_prob: The share of the state that is kept.
        variational_recurrent: Whether the same mask is used at every step.
        input_size: The shape of the inputs, which masks for all steps need.
        dtype: The type of inputs and state, which masks for all steps need.
        seed: A number that makes the random numbers the same in each run of the program.
        dropout_state_filter_visitor: A function that says which parts of the state are dropped; the memory of LSTM
            cells isn't.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5)
        >>> cell.state_size
        4
    """


class ResidualWrapper(Residual, RNNCellWrapper):
    """Adds a cell's inputs to its outputs, or combines them with `residual_fn(inputs, outputs)`.

    Args:
        cell: The cell to run at each step.
        residual_fn: A function of inputs and outputs; their sum if None.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(3))
        >>> cell(tf.ones([2, 3]), tf.zeros([2, 3]))[0].shape.as_list()
        [2, 3]
    """


class DeviceWrapper(OnDevice, RNNCellWrapper):
    """Runs a cell on a device.

    Args:
        cell: The cell to run at each step.
        device: The device's name.
        **kwargs: What every layer takes: `trainable` and the like.

    Example:
        >>> cell = tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.GRUCell(4), "/cpu:0")
        >>> cell.output_size
        4
    """
