"""Names that programs take from inside TensorFlow's modules `rnn` and `rnn_cell_impl`."""

from everflow.rnn.dynamic import batch_size_of as _best_effort_input_batch_size
from everflow.rnn.dynamic import rnn_step as _rnn_step
from everflow.rnn.dynamic import should_cache as _should_cache
from everflow.rnn.dynamic import state_dtype as _infer_state_dtype
from everflow.rnn.dynamic import transpose_batch_time as _transpose_batch_time
from everflow.rnn.shapes import concat as _concat
from everflow.rnn.shapes import zero_state as _zero_state_tensors
from everflow.rnn.static import _reversed as _reverse_seq

_WEIGHTS_VARIABLE_NAME, _BIAS_VARIABLE_NAME = "kernel", "bias"
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"

__all__ = [
    "ASSERT_LIKE_RNNCELL_ERROR_REGEXP",
    "_BIAS_VARIABLE_NAME",
    "_WEIGHTS_VARIABLE_NAME",
    "_best_effort_input_batch_size",
    "_concat",
    "_infer_state_dtype",
    "_reverse_seq",
    "_rnn_step",
    "_should_cache",
    "_transpose_batch_time",
    "_zero_state_tensors",
]
