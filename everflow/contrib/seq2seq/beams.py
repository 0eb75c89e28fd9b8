"""Beams of a batch: tiling a batch for them, gathering along them, following them back from the end."""

from __future__ import annotations

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.platform import logging


def tile_batch(t, multiplier, name=None):
    """Each entry of a batch repeated `multiplier` times, [a, b] to [a, a, b, b]; of tensors or structures.

    Args:
        t: A tensor, or a structure of them.
        multiplier: How often.
        name: The name of the operation in the graph.

    Returns:
        The same structure.

    Example:
        >>> sess.run(tf.contrib.seq2seq.tile_batch(tf.constant([1, 2]), multiplier=2))
        array([1, 1, 2, 2], dtype=int32)
    """
    with name_scope(name, "tile_batch", nest.flatten(t) + [multiplier]):
        return nest.map_structure(lambda t: tile_one(t, multiplier), t)


def tile_one(t, multiplier):
    """`tile_batch` of one tensor, in the scope around."""
    t = convert_to_tensor(t, name="t")
    sizes = array.shape(t)
    if t.shape.rank is None or t.shape.rank < 1:
        raise ValueError("t must have statically known rank")
    multiples = [1] * (t.shape.rank + 1)
    multiples[1] = multiplier
    batch = t.shape.size(0)
    static = None if batch is None else batch * multiplier
    result = array.tile(array.expand_dims(t, 1), multiples)
    result = array.reshape(result, array.concat(([sizes[0] * multiplier], sizes[1:]), 0))
    result.set_shape(TensorShape([static]).concatenate(t.shape[1:]))
    return result


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name=None):
    """Whole sequences [time, batch, beam] from the ids of each step and the beam each came from."""
    lengths = {"max_sequence_lengths": max_sequence_lengths, "end_token": end_token}
    return raw.GatherTree(step_ids=step_ids, parent_ids=parent_ids, **lengths, name=name)


def gather_beams(gather_indices, gather_from, batch_size, range_size, gather_shape, name=None):
    """For each entry of the batch, the values at its indices (beams, or beams times words)."""
    with name_scope(name, "tensor_gather_helper"):
        offsets = array.expand_dims(math.range(batch_size) * range_size, 1)
        flat_indices = array.reshape(gather_indices + offsets, [-1])
        gathered = array.gather(array.reshape(gather_from, gather_shape), flat_indices)
        final_shape = array.shape(gather_from)[: 1 + len(gather_shape)]
        known = constant_value(batch_size)
        rows = TensorShape([None if known is None else int(known)])
        static = rows.concatenate(gather_from.shape[1 : 1 + len(gather_shape)])
        result = array.reshape(gathered, final_shape, name="output")
        result.set_shape(static)
        return result


def gather_tree_from_array(t, parent_ids, sequence_length):
    """An array [time, batch * beam, …] of each step's beams in the order of the final beams."""
    max_time = parent_ids.shape.size(0) or array.shape(parent_ids)[0]
    batch_size = parent_ids.shape.size(1) or array.shape(parent_ids)[1]
    beam_width = parent_ids.shape.size(2) or array.shape(parent_ids)[2]
    beam_ids = array.expand_dims(array.expand_dims(math.range(beam_width), 0), 0)
    beam_ids = array.tile(beam_ids, [max_time, batch_size, 1])
    longest = math.cast(math.reduce_max(sequence_length, axis=1), dtypes.int32)
    given = {"max_sequence_lengths": longest, "end_token": beam_width + 1}
    sorted_ids = raw.GatherTree(step_ids=beam_ids, parent_ids=parent_ids, **given)
    in_bounds = array.transpose(array.sequence_mask(sequence_length, maxlen=max_time), perm=[2, 0, 1])
    sorted_ids = array.where(in_bounds, x=sorted_ids, y=beam_ids)
    time_indices = array.tile(array.reshape(math.range(max_time), [-1, 1, 1]), [1, batch_size, beam_width])
    batch_indices = array.tile(array.reshape(math.range(batch_size), [-1, 1, 1]), [1, max_time, beam_width])
    batch_indices = array.transpose(batch_indices, perm=[1, 0, 2])
    indices = array.stack([time_indices, batch_indices, sorted_ids], -1)
    final_shape = array.shape(t)
    ordered = array.gather_nd(array.reshape(t, [max_time, batch_size, beam_width, -1]), indices)
    ordered = array.reshape(ordered, final_shape)
    ordered.set_shape(t.shape)
    return ordered


def split_static(shape, batch_size, beam_width):
    """Whether elements of a shape are taken for [batch * beam, …], as far as is known.

    TensorFlow also wants a known second dimension to be the beams', which it then never is: arrays whose elements are
    known in full stay in the order of the steps.
    """
    if batch_size is None or shape.size(0) is None:
        return True
    second = shape.size(1) if shape.rank > 1 else None
    if shape.size(0) == batch_size * beam_width and (
        second is None or (shape.size(0), second) == (batch_size, beam_width)
    ):
        return True
    message = "A TensorArray stays in the order of steps: its elements should be %s, but are of shape %s."
    logging.info(message, [batch_size, beam_width, -1], shape)
    return False
