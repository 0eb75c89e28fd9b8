"""What a conversion may use and should aim at."""

from __future__ import annotations

import enum


class OpsSet(enum.Enum):
    """Sets of ops that a converted model may use.

    Example:
        >>> str(tf.lite.OpsSet.TFLITE_BUILTINS)
        'TFLITE_BUILTINS'
    """

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"

    def __str__(self):
        return self.value

    @staticmethod
    def get_options():
        """The names of all sets."""
        return [ops.value for ops in OpsSet]


class Optimize(enum.Enum):
    """What a converted model is optimized for: weights are quantized; activations, too, with a dataset."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"

    def __str__(self):
        return self.value


class RepresentativeDataset:
    """Typical inputs of a model. `input_gen()` yields lists with a value for each input."""

    def __init__(self, input_gen):
        self.input_gen = input_gen


class TargetSpec:
    """What the device that runs the model supports: sets of ops, and types of constants (float16, int8)."""

    def __init__(self, supported_ops=None, supported_types=None):
        self.supported_ops = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types = [] if supported_types is None else supported_types
