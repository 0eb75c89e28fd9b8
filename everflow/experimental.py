"""tf.experimental: how functions are to be run."""

from everflow.ops.control_flow.switches import set_output_all_intermediates as output_all_intermediates
from everflow.ops.functions.gradients import function_executor_type

__all__ = ["function_executor_type", "output_all_intermediates"]
