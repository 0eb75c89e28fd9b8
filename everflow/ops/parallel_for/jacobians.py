"""All first derivatives of all elements of a tensor: one `tf.gradients` drawn in a loop over its elements."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.scopes import control_dependencies
from everflow.ops import array
from everflow.ops.checks.values import assert_equal
from everflow.ops.gradients.reverse import gradients
from everflow.ops.parallel_for.loops import for_loop, pfor


def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """The derivatives of each element of `output` to each of `inputs`: shapes are the output's, then the input's."""
    flat = nest.flatten(inputs)
    static_shape, shape = output.shape, array.shape(output)
    output = array.reshape(output, [-1])

    def one(i):
        return gradients(array.gather(output, i), flat)

    size = output.shape.size(0)
    size = array.shape(output)[0] if size is None else size
    if use_pfor:
        rows = pfor(one, size, parallel_iterations=parallel_iterations)
    else:
        rows = for_loop(one, [output.dtype] * len(flat), size, parallel_iterations=parallel_iterations)
    for i, row in enumerate(rows):
        if row is not None:
            row = array.reshape(row, array.concat([shape, array.shape(row)[1:]], axis=0))
            row.set_shape(static_shape.concatenate(flat[i].shape))
            rows[i] = row
    return nest.pack_sequence_as(inputs, rows)


def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """The Jacobian of each entry of a batch: `output` [b, y…] and `inp` [b, x…] give [b, y…, x…]."""
    static_shape = output.shape
    if not static_shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(
            f"The output, of shape {output.shape}, and the input, of {inp.shape}, must be batches of one size"
        )
    if static_shape.is_fully_defined():
        batch = static_shape.as_list()[0]
        shape = static_shape.as_list()
        row_size = static_shape.num_elements() // batch
    else:
        shape = array.shape(output)
        batch = shape[0]
        row_size = array.size(output) // batch
    input_shape = array.shape(inp)
    with control_dependencies([assert_equal(batch, input_shape[0])]):
        output = array.reshape(output, [batch, row_size])

    def one(i):
        return gradients(array.gather(output, i, axis=1), inp)[0]

    if use_pfor:
        rows = pfor(one, row_size, parallel_iterations=parallel_iterations)
    else:
        rows = for_loop(one, output.dtype, row_size, parallel_iterations=parallel_iterations)
    if rows is None:
        return None
    rows = array.reshape(rows, [row_size, batch, -1])
    found = array.transpose(rows, [1, 0, 2])
    return array.reshape(found, array.concat([shape, input_shape[1:]], axis=0))
