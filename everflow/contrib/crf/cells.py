"""The recurrences of a conditional random field as cells: sums and best ways forwards, and the best way backwards."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.rnn.cells import RNNCell


class _ForwardCell(RNNCell):
    def __init__(self, transition_params):
        self._transition_params = array.expand_dims(transition_params, 0)
        self._num_tags = transition_params.shape.size(0)

    state_size = property(lambda self: self._num_tags)
    output_size = property(lambda self: self._num_tags)

    def _transitions(self, state):
        return array.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_ForwardCell):
    """The logarithm of the sum over all ways to each tag."""

    def __call__(self, inputs, state, scope=None):
        new_alphas = inputs + math.reduce_logsumexp(self._transitions(state), [1])
        return new_alphas, new_alphas


class CrfDecodeForwardRnnCell(_ForwardCell):
    """The score of the best way to each tag; its output is where that way came from."""

    def __call__(self, inputs, state, scope=None):
        scores = self._transitions(state)
        new_state = inputs + math.reduce_max(scores, [1])
        backpointers = math.cast(math.argmax(scores, 1), dtypes.int32)
        return backpointers, new_state


class CrfDecodeBackwardRnnCell(RNNCell):
    """Follows back-pointers from the last tag."""

    def __init__(self, num_tags):
        self._num_tags = num_tags

    state_size = property(lambda self: 1)
    output_size = property(lambda self: 1)

    def __call__(self, inputs, state, scope=None):
        state = array.squeeze(state, axis=[1])
        batch_size = array.shape(inputs)[0]
        indices = array.stack([math.range(batch_size), state], axis=1)
        new_tags = array.expand_dims(array.gather_nd(inputs, indices), axis=-1)
        return new_tags, new_tags
