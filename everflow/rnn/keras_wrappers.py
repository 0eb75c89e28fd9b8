"""Wrappers of Keras's cells: dropout, residual connections and placement, as TensorFlow 2 has them in `tf.nn`."""

from __future__ import annotations

from everflow.keras.layers import AbstractRNNCell, deserialize
from everflow.rnn import wrappers


class _KerasCellWrapper(AbstractRNNCell):
    """A layer around a cell: it makes the cell's weights, and changes what goes in and comes out."""

    def __init__(self, cell, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cell = cell

    state_size = property(lambda self: self.cell.state_size)
    output_size = property(lambda self: self.cell.output_size)

    def build(self, inputs_shape):
        self.cell.build(inputs_shape)
        self.built = True

    def call(self, inputs, state, **kwargs):
        """(output, new state) of one step."""
        return self._call_wrapped(inputs, state, lambda *args: self.cell.call(*args, **kwargs))

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The cell's own."""
        return self.cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)

    def get_config(self):
        """The cell, as a class and its configuration, and what is the wrapper's own."""
        # The base class would refuse a layer with arguments that doesn't list them.
        written = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype, "cell": written}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A wrapper from what `get_config` gave."""
        config = dict(config)
        return cls(deserialize(config.pop("cell"), custom_objects=custom_objects), **config)


class DropoutWrapper(wrappers.Dropping, _KerasCellWrapper):
    """Dropout on the inputs, outputs or state of a Keras cell."""


class ResidualWrapper(wrappers.Residual, _KerasCellWrapper):
    """Adds the inputs of a Keras cell to its outputs."""


class DeviceWrapper(wrappers.OnDevice, _KerasCellWrapper):
    """Runs a Keras cell on a device."""
