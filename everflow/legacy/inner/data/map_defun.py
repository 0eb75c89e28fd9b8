"""tensorflow.python.data.experimental.ops.map_defun: a traced function for each row of tensors."""

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import call_attr


def map_defun(fn, elems, output_dtypes, output_shapes, max_intra_op_parallelism=1):
    """What a function, traced with an input signature, gives for the rows of tensors, stacked.

    Args:
        fn: A function made by `defun(..., input_signature=...)`.
        elems: A list of tensors with as many rows each.
        output_dtypes: The types of the function's results, a list.
        output_shapes: The shapes of the function's results, a list.
        max_intra_op_parallelism: How many threads a call may take.

    Returns:
        A list of tensors.

    Raises:
        ValueError: If one of the arguments is not a list.
    """
    for name, value in (("elems", elems), ("output_dtypes", output_dtypes), ("output_shapes", output_shapes)):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` must be a list, not {value!r}")
    traced = fn.get_concrete_function()
    traced.add_to_graph()
    return raw.MapDefun(
        arguments=[convert_to_tensor(each) for each in elems],
        captured_inputs=traced.captured_inputs,
        output_types=output_dtypes,
        output_shapes=output_shapes,
        f=call_attr(traced.name),
        max_intra_op_parallelism=max_intra_op_parallelism,
    )
