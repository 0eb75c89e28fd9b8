"""tf.quantization: numbers in few bits."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.array import quantized_concat
from everflow.ops.quantization import (
    dequantize,
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
    quantize,
    quantize_and_dequantize,
)
