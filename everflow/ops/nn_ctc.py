"""Connectionist temporal classification: the loss for unaligned label sequences, and decoders."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.array_basic import either


def ctc_loss(
    labels,
    inputs=None,
    sequence_length=None,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
    time_major=True,
    logits=None,
):
    """Minus the log probability of label sequences, summed over all their alignments with the frames.

    `labels` is a SparseTensor of int32, `inputs` are logits [time, batch, classes], of which the last class is the blank.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = either("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = array.transpose(inputs, [1, 0, 2])
    loss, _ = raw.CTCLoss(
        inputs=inputs,
        labels_indices=labels.indices,
        labels_values=labels.values,
        sequence_length=sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """The most probable class of each frame, without blanks. Returns ([SparseTensor], minus the summed logits)."""
    indices, values, shape, score = raw.CTCGreedyDecoder(
        inputs=inputs, sequence_length=sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """The most probable label sequences by beam search. Returns (SparseTensors, best first, and log probabilities)."""
    indices, values, shapes, scores = raw.CTCBeamSearchDecoder(
        inputs=inputs, sequence_length=sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)], scores


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """`ctc_beam_search_decoder` that keeps repeated labels, as it should."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def _batch(op):
    inputs, lengths = op.inputs[0].shape.with_rank(3), op.inputs[-1].shape.with_rank(1)
    batch = inputs.dims[1]
    if not batch.is_compatible_with(lengths.dims[0]):
        raise ValueError(f"Dimensions must be equal, but are {batch} and {lengths.dims[0]}")
    return inputs, batch.merge_with(lengths.dims[0])


@shape_rule("CTCLoss")
def _ctc_loss_shape(op):
    inputs, batch = _batch(op)
    op.inputs[1].shape.with_rank(2)
    op.inputs[2].shape.with_rank(1)
    return [TensorShape([batch]), inputs]


@shape_rule("CTCGreedyDecoder")
def _greedy_shape(op):
    _, batch = _batch(op)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2]), TensorShape([batch, 1])]


@shape_rule("CTCBeamSearchDecoder")
def _beam_shape(op):
    _, batch = _batch(op)
    paths = op.attrs["top_paths"]
    parts = [TensorShape([None, 2])] * paths + [TensorShape([None])] * paths + [TensorShape([2])] * paths
    return [*parts, TensorShape([batch, paths])]
