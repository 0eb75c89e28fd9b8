"""tf.keras.optimizers.schedules: learning rates that follow the count of steps, as the decays of tf.train compute them."""

from __future__ import annotations

import inspect

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.keras.generic import reading_and_writing
from everflow.ops import math
from everflow.ops.control_flow.conditionals import case
from everflow.platform.signatures import REQUIRED, constructor


class LearningRateSchedule:
    """Base of schedules: `schedule(step)` is the rate at that step.

    Example:
        >>> isinstance(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.5), tf.keras.optimizers.schedules.LearningRateSchedule)
        True
    """

    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self):
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config):
        """A schedule from what `get_config` gave."""
        return cls(**config)


_DOCUMENT = """The learning rate of `tf.train.{function}`, as an object that an optimizer takes.

Args:
    initial_learning_rate: The rate at the first step.
{own}    name: The name of the operation in the graph.

Example:
    >>> rate = tf.keras.{space}.{name}({at})
    >>> sess.run(rate(50))
    {gives}
"""
_ARGUMENTS = {
    "decay_steps": "How many steps the decay takes, or one unit of it.",
    "decay_rate": "The factor for each unit of decay.",
    "staircase": "Whether the rate changes only when a unit is full.",
    "end_learning_rate": "The rate at the end.",
    "power": "The power.",
    "cycle": "Whether it starts again, in ever longer rounds.",
    "alpha": "The part of the learning rate that is left at the end.",
    "beta": "What is added to the product.",
    "first_decay_steps": "How long the first period is.",
    "t_mul": "How much longer each period is than the one before.",
    "m_mul": "How the rate of each period is to that of the one before.",
    "num_periods": "How many periods the cosine has.",
    "initial_variance": "The variance at the first step.",
    "variance_decay": "The power by which it falls.",
}


def _of_train(class_name, function_name, *, at, gives, space="experimental", **arguments):
    """The class of a decay of tf.train. `arguments` are those it has after the rate and the step, with their defaults.
    Made `at` some numbers it `gives` a rate at step 50: its example.
    """
    parameters = {"initial_learning_rate": REQUIRED, **arguments, "name": None}

    def __call__(self, step):
        # tf.train is built on layers: it is loaded when it is needed.
        from everflow.train import learning_rate

        # The function below the one that, in eager mode, waits for the step.
        decay = inspect.unwrap(getattr(learning_rate, function_name))
        return decay(
            self.initial_learning_rate, step, **{name: getattr(self, name) for name in arguments}, name=self.name
        )

    def get_config(self):
        return {name: getattr(self, name) for name in parameters}

    start = constructor(parameters, lambda self, **given: self.__dict__.update(given))
    members = {"__init__": start, "__call__": __call__, "get_config": get_config, "__module__": __name__}
    own = "".join(f"    {argument}: {_ARGUMENTS[argument]}\n" for argument in arguments)
    document = _DOCUMENT.format(function=function_name, own=own, space=space, name=class_name, at=at, gives=gives)
    return type(class_name, (LearningRateSchedule,), {**members, "__doc__": document})


ExponentialDecay = _of_train(
    "ExponentialDecay",
    "exponential_decay",
    decay_steps=REQUIRED,
    decay_rate=REQUIRED,
    staircase=False,
    at="0.1, 100, 0.5",
    gives="np.float32(0.07071068)",
    space="optimizers.schedules",
)
InverseTimeDecay = _of_train(
    "InverseTimeDecay",
    "inverse_time_decay",
    decay_steps=REQUIRED,
    decay_rate=REQUIRED,
    staircase=False,
    at="0.1, 100, 0.5",
    gives="np.float32(0.08)",
    space="optimizers.schedules",
)
PolynomialDecay = _of_train(
    "PolynomialDecay",
    "polynomial_decay",
    decay_steps=REQUIRED,
    end_learning_rate=0.0001,
    power=1.0,
    cycle=False,
    at="0.1, 100",
    gives="np.float32(0.05005)",
    space="optimizers.schedules",
)
CosineDecay = _of_train(
    "CosineDecay", "cosine_decay", decay_steps=REQUIRED, alpha=0.0, at="0.1, 100", gives="np.float32(0.049999997)"
)
CosineDecayRestarts = _of_train(
    "CosineDecayRestarts",
    "cosine_decay_restarts",
    first_decay_steps=REQUIRED,
    t_mul=2.0,
    m_mul=1.0,
    alpha=0.0,
    at="0.1, 100",
    gives="np.float32(0.049999997)",
)
LinearCosineDecay = _of_train(
    "LinearCosineDecay",
    "linear_cosine_decay",
    decay_steps=REQUIRED,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    at="0.1, 100",
    gives="np.float32(0.025099998)",
)
NoisyLinearCosineDecay = _of_train(
    "NoisyLinearCosineDecay",
    "noisy_linear_cosine_decay",
    decay_steps=REQUIRED,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    at="0.1, 100, 0.0",
    gives="np.float32(0.025099998)",
)


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to each boundary and another beyond the last.

    Args:
        boundaries: The steps at which the rate changes, ascending.
        values: The rates, one more.
        name: What the operations' names start with.

    Example:
        >>> rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([100], [1.0, 0.1])
        >>> sess.run(rate(tf.constant(200)))
        np.float32(0.1)
    """

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                f"{len(boundaries)} boundaries need {len(boundaries) + 1} values, one more: there are {len(values)}."
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "PiecewiseConstant"):
            boundaries = [convert_to_tensor(boundary) for boundary in self.boundaries]
            values = [convert_to_tensor(value) for value in self.values]
            step = convert_to_tensor(step)
            for i, boundary in enumerate(boundaries):
                if boundary.dtype.base_dtype != step.dtype.base_dtype:
                    # Steps are int64 or float32 while boundaries come as Python numbers.
                    boundaries[i] = math.cast(boundary, step.dtype.base_dtype)
            pairs = [(step <= boundaries[0], lambda: values[0]), (step > boundaries[-1], lambda: values[-1])]
            for low, high, value in zip(boundaries[:-1], boundaries[1:], values[1:-1]):
                pairs.append(((step > low) & (step <= high), lambda value=value: value))
            return case(pairs, lambda: values[0], exclusive=True)

    def get_config(self):
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


serialize, deserialize = reading_and_writing(
    "learning_rate_schedule", globals(), "ExponentialDecay(0.1, 100, 0.9)", "decay"
)
