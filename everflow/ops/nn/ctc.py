"""Connectionist temporal classification: the loss for unaligned label sequences, and decoders."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.array.basic import either
from everflow.ops.control_flow.maps import map_fn
from everflow.ops.nn.activations import log_softmax


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

    `labels` is a SparseTensor of int32, `inputs` are logits [time, batch, classes], of which the last class is the
    blank.

    Args:
        labels: The label sequences, a SparseTensor of int32.
        inputs: Logits [time, batch, classes]; the last class is the blank.
        sequence_length: How many frames each sequence has.
        preprocess_collapse_repeated: Whether labels that follow themselves become one before.
        ctc_merge_repeated: Whether frames of the same label without a blank between are one label.
        ignore_longer_outputs_than_inputs: Whether sequences with too few frames give 0 rather than an error.
        time_major: Whether time is the first axis of the logits.
        logits: Another name of `inputs`.

    Returns:
        A loss for each sequence.

    Raises:
        TypeError: If the labels are no SparseTensor.

    Example:
        >>> labels = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
        >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[0.0, 9.0, 0.0]]])
        >>> sess.run(tf.nn.ctc_loss(labels, logits, [2]))
        array([0.00049358], dtype=float32)
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(f"labels must be a SparseTensor, not {type(labels)}")
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
    """The most probable class of each frame, without blanks. Returns ([SparseTensor], minus the summed logits).

    Args:
        inputs: Logits [time, batch, classes]; the last class is the blank.
        sequence_length: How many frames each sequence has.
        merge_repeated: Whether labels that follow themselves become one.

    Returns:
        A list of one SparseTensor, and [batch, 1] numbers.

    Example:
        >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[0.0, 9.0, 0.0]]])
        >>> (labels,), negative_sum = tf.nn.ctc_greedy_decoder(logits, [2])
        >>> sess.run(labels).values
        array([0, 1])
    """
    indices, values, shape, score = raw.CTCGreedyDecoder(
        inputs=inputs, sequence_length=sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """The most probable label sequences by beam search. Returns (SparseTensors, best first, and log probabilities).

    Args:
        inputs: Logits [time, batch, classes]; the last class is the blank.
        sequence_length: How many frames each sequence has.
        beam_width: How many sequences are followed.
        top_paths: How many are returned.
        merge_repeated: Whether labels that follow themselves become one.

    Returns:
        A list of SparseTensors, and the log probabilities [batch, top_paths].

    Example:
        >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[0.0, 9.0, 0.0]]])
        >>> (labels,), log_probability = tf.nn.ctc_beam_search_decoder(logits, [2])
        >>> sess.run(labels).values
        array([0, 1])
    """
    indices, values, shapes, scores = raw.CTCBeamSearchDecoder(
        inputs=inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)], scores


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """`ctc_beam_search_decoder` that keeps repeated labels, as it should.

    Args:
        inputs: Logits [time, batch, classes]; the last class is the blank.
        sequence_length: How many frames each sequence has.
        beam_width: How many sequences are followed.
        top_paths: How many are returned.

    Returns:
        A list of SparseTensors, and the log probabilities [batch, top_paths].

    Example:
        >>> logits = tf.constant([[[9.0, 0.0, 0.0]], [[0.0, 9.0, 0.0]]])
        >>> (labels,), log_probability = tf.nn.ctc_beam_search_decoder_v2(logits, [2])
        >>> sess.run(labels).values
        array([0, 1])
    """
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


def ctc_loss_v2(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None
):
    """`ctc_loss` that takes dense labels [batch, most labels] with their lengths, too, and any class as the blank.

    Args:
        labels: The label sequences, dense or a SparseTensor.
        logits: Logits [time, batch, classes].
        label_length: How many labels each sequence has; None with a SparseTensor.
        logit_length: How many frames each sequence has.
        logits_time_major: Whether time is the first axis of the logits.
        unique: What `ctc_unique_labels` gives, which makes it quicker.
        blank_index: The class that is the blank; 0 with dense labels if None. Negative numbers count from the last.
        name: The name of the operation in the graph.

    Returns:
        A loss for each sequence.

    Raises:
        ValueError: If the labels are sparse and no blank is given.

    Example:
        >>> logits = tf.constant([[[0.0, 9.0, 0.0]], [[0.0, 0.0, 9.0]]])
        >>> sess.run(tf.nn.ctc_loss_v2([[1, 2]], logits, [2], [2]))
        array([0.00049358], dtype=float32)
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("With labels as a SparseTensor, give blank_index")
        return _loss_with_blank(labels, logits, logit_length, logits_time_major, blank_index, name)
    with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]) as name:
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        # The op wants a label in each row, so rows without one get one that is no class, and are given their own loss
        # after.
        empty = math_ops.equal(label_length, 0)
        blank = blank_index or 0
        classes = _size(convert_to_tensor(logits), 2)
        labels = array.where(empty, array.fill(array.shape(labels), math_ops.cast(classes, labels.dtype)), labels)
        mask = array.sequence_mask(math_ops.maximum(label_length, 1), maxlen=_size(labels, 1))
        indices = raw.Where(input=mask)
        sparse = SparseTensor(indices, array.gather_nd(labels, indices), array.shape(labels, out_type=dtypes.int64))
        loss = _loss_with_blank(sparse, logits, logit_length, logits_time_major, blank, None)
        loss = array.where(
            empty,
            _loss_of_blanks(logits, logit_length, logits_time_major, classes + blank if blank < 0 else blank),
            loss,
        )
        return math_ops.add(loss, _gradient_beyond_the_end(logits, logit_length, logits_time_major), name=name)


def _loss_of_blanks(logits, logit_length, time_major, blank):
    """The loss of sequences without labels: nothing but blanks."""
    logs = log_softmax(logits)[:, :, blank]
    inside = array.sequence_mask(logit_length, maxlen=_size(logs, 0 if time_major else 1), dtype=logs.dtype)
    return -math_ops.reduce_sum(logs * (array.transpose(inside) if time_major else inside), axis=0 if time_major else 1)


def _gradient_beyond_the_end(logits, logit_length, time_major):
    """Zeros whose gradient is the softmax of the frames after each sequence's end: TensorFlow's dense loss has it, and
    so have we.
    """
    logits = convert_to_tensor(logits)
    time, batch = (0, 1) if time_major else (1, 0)
    inside = array.sequence_mask(logit_length, maxlen=_size(logits, time), dtype=logits.dtype)
    beyond = 1.0 - (array.transpose(inside) if batch == 1 else inside)
    log_sum = math_ops.reduce_logsumexp(logits, axis=2)
    return math_ops.reduce_sum(beyond * (log_sum - array.stop_gradient(log_sum)), axis=time)


def _loss_with_blank(labels, logits, logit_length, time_major, blank, name):
    """Moves the blank to the last class, where the op has it, and the labels after it down."""
    logits = convert_to_tensor(logits, name="logits")
    classes = _size(logits, 2)
    if blank < 0:
        blank = classes + blank
    if not isinstance(classes, int) or blank != classes - 1:
        logits = array.concat(
            [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], axis=2
        )
        values = array.where(labels.values < blank, labels.values, labels.values - 1)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
    values = math_ops.cast(labels.values, dtypes.int32)
    labels = SparseTensor(labels.indices, values, labels.dense_shape)
    loss = ctc_loss(labels, logits, logit_length, time_major=time_major)
    return loss if name is None else array.identity(loss, name=name)


def _size(tensor, axis):
    """One side of a shape: an int where it is known, else a tensor."""
    known = tensor.shape.size(axis)
    return array.shape(tensor)[axis] if known is None else known


def ctc_unique_labels(labels, name=None):
    """The distinct labels of each row, padded with zeros, and for each label its place among them.

    Args:
        labels: Rows of labels: [batch, longest].
        name: The name of the operation in the graph.

    Returns:
        Two tensors of the shape of `labels`.

    Example:
        >>> sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3]]))
        [array([[3, 4, 0, 0]]), array([[0, 1, 1, 0]], dtype=int32)]
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def of_row(row):
            found = array.unique(row)
            missing = _size(found.idx, 0) - array.shape(found.y)[0]
            return [math_ops.cast(array.pad(found.y, [[0, missing]]), dtypes.int64), found.idx]

        return map_fn(of_row, labels, dtype=[dtypes.int64, dtypes.int32])


def collapse_repeated(labels, seq_length, name=None):
    """Rows of labels without those that repeat the one before, padded with zeros, and their new lengths.

    Args:
        labels: Rows of labels: [batch, longest].
        seq_length: The length of each row.
        name: The name of the operation in the graph.

    Returns:
        The rows and their lengths.

    Example:
        >>> sess.run(tf.nn.collapse_repeated([[1, 1, 2, 2]], [4]))
        (array([[1, 2]], dtype=int32), array([2], dtype=int32))
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = array.ones_like(labels[:, :1], dtypes.bool)
        kept = array.concat([first, math_ops.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        kept = math_ops.logical_and(kept, array.sequence_mask(seq_length, maxlen=_size(labels, 1)))
        lengths = math_ops.reduce_sum(math_ops.cast(kept, dtypes.int32), axis=1)
        longest = math_ops.reduce_max(lengths)
        filled = array.sequence_mask(lengths, maxlen=longest)
        # Both masks have the same number of entries in the same order: what is kept goes where rows are filled.
        flat_labels, flat_kept, flat_filled = (array.reshape(x, [-1]) for x in (labels, kept, filled))
        places = math_ops.range(_size(flat_filled, 0))
        flat = array.scatter_nd(
            indices=array.expand_dims(array.boolean_mask(places, flat_filled), axis=1),
            updates=array.boolean_mask(flat_labels, flat_kept),
            shape=array.shape(flat_filled),
        )
        collapsed = array.reshape(flat, [_size(labels, 0), longest])
        return collapsed, math_ops.cast(lengths, seq_length.dtype)
