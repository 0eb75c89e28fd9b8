# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, ScalarLike, TensorLike

from everflow import dequantize as dequantize
from everflow import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from everflow import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from everflow import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from everflow import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from everflow import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from everflow import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from everflow import quantize as quantize
def quantize_and_dequantize(input: TensorLike, input_min: Any, input_max: Any, signed_input: bool = True, num_bits: ScalarLike | None = 8, range_given: bool = False, round_mode: Any = 'HALF_TO_EVEN', name: str | None = None, narrow_range: bool = False) -> _tf.Tensor: ...
from everflow import quantized_concat as quantized_concat
