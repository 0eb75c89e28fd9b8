"""Names that programs take from inside tensorflow.python.ops.ctc_ops: the states that the loss goes through.

Labels of a sequence, with a start before them, have a state each, and after those each has one for the blank behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array, math
from everflow.ops.control_flow.maps import scan
from everflow.ops.nn.ctc import _size as _get_dim

__all__ = [
    "_ctc_state_trans",
    "_forward_backward_log",
    "_get_dim",
    "_ilabel_to_state",
    "_scan",
    "_state_to_olabel",
    "_state_to_olabel_unique",
]


def _scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initial: Any,
    reverse: bool = False,
    inclusive: bool = False,
    final_only: bool = False,
) -> Any:
    """What `fn(sum, element)` gives for each element in turn, from the last one on with `reverse`; `inclusive` has the
    initial value, too, `final_only` nothing but what comes last.
    """
    initial = nest.map_structure(convert_to_tensor, initial)
    sums = scan(fn, elems, initializer=initial, reverse=reverse)

    def with_start(values, start):
        start = array.expand_dims(start, 0)
        values = array.concat([values, start] if reverse else [start, values], 0)
        if final_only:
            return values[0] if reverse else values[-1]
        return values

    return nest.map_structure(with_start, sums, initial) if inclusive or final_only else sums


def _ctc_state_trans(label_seq: Any) -> Tensor:
    """For each sequence a matrix with 1 where the state of a row can follow that of a column: itself, the label before it
    unless that is the same label, and a blank in between.
    """
    label_seq = convert_to_tensor(label_seq)
    count = _get_dim(label_seq, 1) + 1
    state = math.range(count)
    after, before = array.expand_dims(state, 1), array.expand_dims(state, 0)
    stays = math.cast(math.equal(after, before), dtypes.float32)
    follows = math.cast(math.equal(after, before + 1), dtypes.float32)
    repeated = math.cast(math.equal(label_seq[:, 1:], label_seq[:, :-1]), dtypes.float32)
    changes = array.expand_dims(1.0 - array.pad(repeated, [[0, 0], [2, 0]]), 2)
    batch = array.ones_like(changes)
    labels = array.concat([stays + follows * changes, follows * batch], 2)
    blanks = array.concat([stays * batch, stays * batch], 2)
    return array.concat([labels, blanks], 1)


def _ilabel_to_state(labels: Any, num_labels: int, ilabel_log_probs: Any) -> Tensor:
    """Logarithms of what each state is observed with, [frames, batch, states], of those of the labels."""
    chosen = array.one_hot(labels, depth=num_labels)
    seen = math.reduce_sum(array.expand_dims(ilabel_log_probs, 2) * chosen, axis=3)
    blank = convert_to_tensor(ilabel_log_probs)[:, :, :1]
    start = array.fill(array.shape(blank), _log_of_zero())
    blanks = array.tile(blank, array.stack([1, 1, _get_dim(seen, 2) + 1]))
    return array.concat([start, seen, blanks], 2)


def _state_to_olabel(labels: Any, num_labels: int, states: Any) -> Tensor:
    """Logarithms of what the states of each label, and of the blank, come to together: [frames, batch, labels]."""
    states = convert_to_tensor(states)
    count = _get_dim(convert_to_tensor(labels), 1) + 1
    own = array.expand_dims(states[:, :, 1:count], 3)
    chosen = array.one_hot(convert_to_tensor(labels) - 1, depth=num_labels - 1, on_value=0.0, off_value=_log_of_zero())
    blank = math.reduce_logsumexp(states[:, :, count:], axis=2, keepdims=True)
    return array.concat([blank, math.reduce_logsumexp(own + chosen, axis=2)], 2)


def _state_to_olabel_unique(labels: Any, num_labels: int, states: Any, unique: tuple) -> Tensor:
    """As `_state_to_olabel`, where `unique` are the different labels, and which of them each place has."""
    found, place = unique
    return _state_to_olabel(array.reshape(array.batch_gather(found, place), array.shape(labels)), num_labels, states)


def _forward_backward_log(
    state_trans_log_probs: Any,
    initial_state_log_probs: Any,
    final_state_log_probs: Any,
    observed_log_probs: Any,
    sequence_length: Any,
) -> tuple[Tensor, Tensor]:
    """The logarithms of how probable each state is in each frame, [frames, batch, states], and of how probable the
    sequences are that begin with the first state; nothing is in frames behind a sequence's end.
    """
    observed, final = convert_to_tensor(observed_log_probs), convert_to_tensor(final_state_log_probs)
    steps = convert_to_tensor(state_trans_log_probs)
    if steps.shape.rank == 2:
        steps = array.expand_dims(steps, 0)
    within = array.transpose(array.sequence_mask(sequence_length, _get_dim(observed, 0)))
    inside = array.tile(array.expand_dims(within, 2), array.stack([1, 1, _get_dim(observed, 2)]))

    def forward(before, frame):
        seen, here = frame
        after = math.reduce_logsumexp(steps + array.expand_dims(before, 1), axis=2) + seen
        return raw.SelectV2(condition=here, t=after, e=before)

    def backward(after, frame):
        seen, here = frame
        before = math.reduce_logsumexp(steps + array.expand_dims(after + seen, 2), axis=1)
        return raw.SelectV2(condition=here, t=before, e=after)

    sums = _scan(forward, (observed, inside), initial_state_log_probs)
    rest = _scan(backward, (observed, inside), final, reverse=True, inclusive=True)
    together = sums + rest[1:]
    posterior = together - math.reduce_logsumexp(together, axis=2, keepdims=True)
    nothing = array.fill(array.shape(posterior), _log_of_zero())
    return raw.SelectV2(condition=inside, t=posterior, e=nothing), rest[0, :, 0]


def _log_of_zero() -> float:
    return float("-inf")
