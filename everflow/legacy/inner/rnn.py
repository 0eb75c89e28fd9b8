"""Names that programs take from inside TensorFlow's modules `rnn`, `rnn_cell_impl` and `rnn_cell_wrapper_impl`."""

from everflow.framework import dtypes, nest
from everflow.rnn.dynamic import batch_size_of as _best_effort_input_batch_size
from everflow.rnn.dynamic import rnn_step as _rnn_step
from everflow.rnn.dynamic import should_cache as _should_cache
from everflow.rnn.dynamic import state_dtype as _infer_state_dtype
from everflow.rnn.dynamic import transpose_batch_time as _transpose_batch_time
from everflow.rnn.shapes import concat as _concat
from everflow.rnn.shapes import zero_state as _zero_state_tensors
from everflow.rnn.static import _reversed as _reverse_seq
from everflow.rnn.wrappers import Dropping as DropoutWrapperBase
from everflow.rnn.wrappers import OnDevice as DeviceWrapperBase
from everflow.rnn.wrappers import Residual as ResidualWrapperBase
from everflow.rnn.wrappers import RNNCellWrapper as _RNNCellWrapperV1
from everflow.rnn.wrappers import _keeps_all as _default_dropout_state_filter_visitor

_WEIGHTS_VARIABLE_NAME, _BIAS_VARIABLE_NAME = "kernel", "bias"
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"

__all__ = [
    "ASSERT_LIKE_RNNCELL_ERROR_REGEXP",
    "DeviceWrapperBase",
    "DropoutWrapperBase",
    "ResidualWrapperBase",
    "_BIAS_VARIABLE_NAME",
    "_RNNCellWrapperV1",
    "_WEIGHTS_VARIABLE_NAME",
    "_best_effort_input_batch_size",
    "_check_rnn_cell_input_dtypes",
    "_check_supported_dtypes",
    "_concat",
    "_default_dropout_state_filter_visitor",
    "_enumerated_map_structure_up_to",
    "_hasattr",
    "_infer_state_dtype",
    "_reverse_seq",
    "_rnn_step",
    "_should_cache",
    "_transpose_batch_time",
    "_zero_state_tensors",
]


def _hasattr(obj, attr_name):
    """Whether an object has an attribute; one whose property raises another error than AttributeError has it, too."""
    try:
        getattr(obj, attr_name)
    except AttributeError:
        return False
    except Exception:
        return True
    return True


def _check_supported_dtypes(dtype):
    """ValueError for a type that cells can't compute with; None may be anything."""
    known = None if dtype is None else dtypes.as_dtype(dtype)
    if known is not None and not known.is_floating and not known.is_complex:
        raise ValueError(f"Cells compute with floats or complex numbers, not with {known.name}")


def _check_rnn_cell_input_dtypes(inputs):
    """ValueError where one of the tensors in a structure is of a type that cells can't compute with."""
    for tensor in nest.flatten(inputs):
        _check_supported_dtypes(tensor.dtype)


def _enumerated_map_structure_up_to(shallow_structure, map_fn, *args, **kwargs):
    """`nest.map_structure_up_to`, where the function gets a running number first."""
    numbers = iter(range(len(nest.flatten(shallow_structure))))
    return nest.map_structure_up_to(
        shallow_structure, lambda *parts, **more: map_fn(next(numbers), *parts, **more), *args, **kwargs
    )
