"""tf.keras.optimizers.schedules: learning rates that follow the count of steps."""

from __future__ import annotations

import abc

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.keras.generic import deserialize_keras_object, serialize_keras_object
from everflow.ops import array, math
from everflow.ops.constants import constant
from everflow.ops.control_flow.conditionals import case


class LearningRateSchedule(abc.ABC):
    """Base of schedules: `schedule(step)` is the rate at that step."""

    @abc.abstractmethod
    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule must override __call__")

    @abc.abstractmethod
    def get_config(self):
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config):
        """A schedule from what `get_config` gave."""
        return cls(**config)


class ExponentialDecay(LearningRateSchedule):
    """The rate times `decay_rate` every `decay_steps`, smoothly or, as a staircase, at once."""

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "ExponentialDecay") as name:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            decay_steps = math.cast(self.decay_steps, initial.dtype)
            decay_rate = math.cast(self.decay_rate, initial.dtype)
            part = math.cast(step, initial.dtype) / decay_steps
            if self.staircase:
                part = math.floor(part)
            return math.multiply(initial, math.pow(decay_rate, part), name=name)

    def get_config(self):
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "decay_steps": self.decay_steps,
            "decay_rate": self.decay_rate,
            "staircase": self.staircase,
            "name": self.name,
        }


class InverseTimeDecay(ExponentialDecay):
    """The rate divided by 1 + decay_rate * step / decay_steps."""

    def __call__(self, step):
        with name_scope(self.name or "InverseTimeDecay") as name:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            decay_steps = math.cast(self.decay_steps, initial.dtype)
            decay_rate = math.cast(self.decay_rate, initial.dtype)
            part = math.cast(step, initial.dtype) / decay_steps
            if self.staircase:
                part = math.floor(part)
            one = math.cast(constant(1), initial.dtype)
            return math.divide(initial, math.add(one, math.multiply(decay_rate, part)), name=name)


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to each boundary and another beyond the last."""

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "PiecewiseConstant"):
            boundaries = [convert_to_tensor(boundary) for boundary in self.boundaries]
            values = [convert_to_tensor(value) for value in self.values]
            step = convert_to_tensor(step)
            for i, boundary in enumerate(boundaries):
                if boundary.dtype.base_dtype == step.dtype.base_dtype:
                    continue
                # Steps are int64 or float32 while boundaries come as Python numbers.
                boundaries[i] = math.cast(boundary, step.dtype.base_dtype)
            pairs = [(step <= boundaries[0], lambda: values[0]), (step > boundaries[-1], lambda: values[-1])]
            for low, high, value in zip(boundaries[:-1], boundaries[1:], values[1:-1]):
                pairs.append(((step > low) & (step <= high), lambda value=value: value))
            return case(pairs, lambda: values[0], exclusive=True)

    def get_config(self):
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another within `decay_steps`, along a power; again and again with `cycle`."""

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "PolynomialDecay") as name:
            initial = convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            end = math.cast(self.end_learning_rate, initial.dtype)
            power = math.cast(self.power, initial.dtype)
            step = math.cast(step, initial.dtype)
            decay_steps = math.cast(self.decay_steps, initial.dtype)
            if self.cycle:
                rounds = _rounds(step, self.decay_steps)
                decay_steps = math.multiply(decay_steps, rounds)
            else:
                step = math.minimum(step, self.decay_steps)
            part = math.divide(step, decay_steps)
            return math.add(math.multiply(initial - end, math.pow(1 - part, power)), end, name=name)

    def get_config(self):
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "decay_steps": self.decay_steps,
            "end_learning_rate": self.end_learning_rate,
            "power": self.power,
            "cycle": self.cycle,
            "name": self.name,
        }


def _rounds(step, decay_steps):
    """How many rounds a step takes; the first begins at step 0."""
    from everflow.ops.control_flow.conditionals import cond

    return cond(math.equal(step, 0), lambda: 1.0, lambda: math.ceil(step / decay_steps))


def serialize(learning_rate_schedule):
    """A schedule as a dict."""
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """A schedule from what `serialize` gave."""
    return deserialize_keras_object(config, module_objects=globals(), custom_objects=custom_objects, printable_module_name="decay")
