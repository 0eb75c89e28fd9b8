"""Attention mechanisms: how much a decoder's query looks at each step of a memory."""

from __future__ import annotations

import math as python_math

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.layers.core import Dense
from everflow.ops import array, math
from everflow.ops.checks.values import assert_positive
from everflow.ops.nn import activations as nn
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.platform.signatures import takes
from everflow.rnn.shapes import zero_state


def hardmax(logits, name=None):
    """A one where the largest logit is, zeros elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.shape.size(-1) if logits.shape.size(-1) is not None else array.shape(logits)[-1]
        return array.one_hot(math.argmax(logits, -1), depth, dtype=logits.dtype)


def _prepare_memory(memory, memory_sequence_length=None, memory_mask=None, check_inner_dims_defined=True):
    """The memory with zeros after each sequence's end, or where a mask says so."""
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("Give memory_sequence_length or memory_mask, not both: each says which steps of memory count")
    lengths = memory_sequence_length
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    if lengths is not None:
        lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.shape[2:].is_fully_defined():
                raise ValueError(f"All but two dimensions of the memory must be known: {m.name} is of shape {m.shape}")
    if lengths is None and memory_mask is None:
        return memory
    first = nest.flatten(memory)[0]
    if memory_mask is not None:
        mask = math.cast(memory_mask, first.dtype)
    else:
        mask = array.sequence_mask(lengths, maxlen=array.shape(first)[1], dtype=first.dtype)

    def masked(m):
        extra = array.ones(
            m.shape.rank - 2 if m.shape.rank is not None else array.expand_dims(array.rank(m) - 2, 0),
            dtype=dtypes.int32,
        )
        return m * array.reshape(mask, array.concat((array.shape(mask), extra), 0))

    return nest.map_structure(masked, memory)


def _maybe_mask_score(score, memory_sequence_length=None, memory_mask=None, score_mask_value=None):
    """Scores with another value after each sequence's end, or where a mask says so."""
    if memory_sequence_length is None and memory_mask is None:
        return score
    if memory_mask is not None:
        mask = memory_mask
    else:
        message = "memory_sequence_length has lengths below 1: each sequence needs one step at least."
        with control_dependencies([assert_positive(memory_sequence_length, message=message)]):
            mask = array.sequence_mask(memory_sequence_length, maxlen=array.shape(score)[1])
    return array.where(mask, score, score_mask_value * array.ones_like(score))


class AttentionMechanism:
    """What `AttentionWrapper` asks: `mechanism(query, state)` gives (alignments, next state)."""

    @property
    def alignments_size(self):
        """How many steps of memory there are."""
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state."""
        raise NotImplementedError


class _BaseAttentionMechanism(AttentionMechanism):
    """A mechanism with a memory: masked after the sequences' ends, and projected to keys."""

    def __init__(
        self,
        query_layer,
        memory,
        probability_fn,
        memory_sequence_length=None,
        memory_layer=None,
        check_inner_dims_defined=True,
        score_mask_value=None,
        custom_key_value_fn=None,
        name=None,
    ):
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        dtype = nest.flatten(memory)[0].dtype if memory_layer is None else dtypes.as_dtype(memory_layer.dtype)
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _maybe_mask_score(score, memory_sequence_length, score_mask_value=score_mask_value), previous
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            checked = {"check_inner_dims_defined": check_inner_dims_defined}
            self._values = _prepare_memory(memory, memory_sequence_length, **checked)
            self._keys = memory_layer(self._values) if memory_layer is not None else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = self._keys.shape.size(0) or array.shape(self._keys)[0]
            self._alignments_size = self._keys.shape.size(1) or array.shape(self._keys)[1]

    def _construct(self, num_units, memory, probability_fn, dtype, name, **settings):
        """The constructor of the kinds below, which project the memory to `num_units`, and some of them queries, too."""

        def projection(label):
            return Dense(num_units, name=label, use_bias=False, dtype=dtype or dtypes.float32)

        query_layer = projection("query_layer") if self._projects_query else None
        layers = {"memory_layer": projection("memory_layer"), "name": name, **settings}
        _BaseAttentionMechanism.__init__(self, query_layer, memory, probability_fn, **layers)
        self._num_units, self._name = num_units, name

    memory_layer = property(lambda self: self._memory_layer)
    query_layer = property(lambda self: self._query_layer)
    values = property(lambda self: self._values)
    keys = property(lambda self: self._keys)
    batch_size = property(lambda self: self._batch_size)
    alignments_size = property(lambda self: self._alignments_size)
    state_size = property(lambda self: self._alignments_size)

    def initial_alignments(self, batch_size, dtype):
        """The alignments before the first step: zeros."""
        return zero_state(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size, dtype):
        """The state before the first step."""
        return self.initial_alignments(batch_size, dtype)

    _scope = None  # of the variables of `_score`, which the kinds below have: a score for each step of the memory

    def __call__(self, query, state):
        """(alignments, next state) of a query [batch, units]."""
        with scopes.variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _without_previous(probability_fn):
    """A probability function of the score alone as one of (score, previous alignments)."""
    probability_fn = nn.softmax if probability_fn is None else probability_fn
    return lambda score, _: probability_fn(score)


def _luong_score(query, keys, scale):
    """Dot products of a query with all keys, times a learned number where `scale` is set."""
    depth, key_units = query.shape.size(-1), keys.shape.size(-1)
    if depth != key_units:
        wanted = f"num_units must be the cell's output size, {depth}, and not {key_units}"
        raise ValueError(
            f"Dot products of query and keys need vectors of one known size ({query.shape} and {keys.shape}): {wanted}"
        )
    factor = None
    if scale:
        ones = initializers.ones_initializer
        factor = scopes.get_variable("attention_g", dtype=query.dtype, initializer=ones, shape=())
    score = array.squeeze(math.matmul(array.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if factor is None else factor * score


def _bahdanau_score(processed_query, keys, attention_v, attention_g=None, attention_b=None):
    """A vector's dot product with tanh(keys + query), for all keys; with `attention_g` and `_b`, normalised."""
    query = array.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return math.reduce_sum(attention_v * math.tanh(keys + query), [2])
    normed = attention_g * attention_v * math.rsqrt(math.reduce_sum(math.square(attention_v)))
    return math.reduce_sum(normed * math.tanh(keys + query + attention_b), [2])


def learned_bahdanau_score(processed_query, keys, units, normalize):
    """`_bahdanau_score` with variables attention_v, and attention_g and attention_b where it is normalised."""
    dtype = processed_query.dtype
    v = scopes.get_variable("attention_v", [units], dtype=dtype)
    if not normalize:
        return _bahdanau_score(processed_query, keys, v)
    start = initializers.constant_initializer(python_math.sqrt(1.0 / units))
    g = scopes.get_variable("attention_g", dtype=dtype, initializer=start, shape=())
    b = scopes.get_variable("attention_b", [units], dtype=dtype, initializer=initializers.zeros_initializer())
    return _bahdanau_score(processed_query, keys, v, g, b)


class Multiplicative:
    """Scores that are dot products of the query with a projected memory."""

    _projects_query = False

    def _score(self, query):
        return _luong_score(query, self._keys, self._scale)


class Additive:
    """Scores that a small network makes of the query and each step of a projected memory."""

    _projects_query = True

    def _score(self, query):
        processed_query = self._query_layer(query) if self._query_layer else query
        return learned_bahdanau_score(processed_query, self._keys, self._num_units, self._normalize)


_MECHANISM = {"probability_fn": None, "score_mask_value": None, "dtype": None, "custom_key_value_fn": None}


class LuongAttention(Multiplicative, _BaseAttentionMechanism):
    """Multiplicative attention: dot products of the query with a projected memory.

    Args:
        num_units: How many numbers queries and keys have.
        memory: What is attended to: [batch, time, …].
        memory_sequence_length: The length of each row of the memory.
        scale: Whether scores are multiplied by a learned number.
        probability_fn: A function of scores that gives weights; a softmax if None.
        score_mask_value: The score of what lies past a row's end.
        dtype: The type of the variables.
        custom_key_value_fn: A function of keys and values that changes them.
        name: The name of its variable scope.

    Example:
        >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.ones([2, 5, 3]))
        >>> weights, _ = attention(tf.ones([2, 4]), attention.initial_state(2, tf.float32))
        >>> weights.shape.as_list()
        [2, 5]
    """

    _scope = "luong_attention"

    @takes({**_MECHANISM, "name": "LuongAttention"})
    def __init__(self, num_units, memory, memory_sequence_length=None, scale=False, **given):
        probability_fn = _without_previous(given.pop("probability_fn"))
        self._construct(num_units, memory, probability_fn, memory_sequence_length=memory_sequence_length, **given)
        self._scale = scale


class BahdanauAttention(Additive, _BaseAttentionMechanism):
    """Additive attention: a small network on the query and each step of a projected memory.

    Args:
        num_units: How many numbers queries and keys have.
        memory: What is attended to: [batch, time, …].
        memory_sequence_length: The length of each row of the memory.
        normalize: Whether the energy's weights are normalized.
        probability_fn: A function of scores that gives weights; a softmax if None.
        score_mask_value: The score of what lies past a row's end.
        dtype: The type of the variables.
        custom_key_value_fn: A function of keys and values that changes them.
        name: The name of its variable scope.

    Example:
        >>> attention = tf.contrib.seq2seq.BahdanauAttention(4, tf.ones([2, 5, 3]))
        >>> weights, _ = attention(tf.ones([2, 4]), attention.initial_state(2, tf.float32))
        >>> weights.shape.as_list()
        [2, 5]
    """

    _scope = "bahdanau_attention"

    @takes({**_MECHANISM, "name": "BahdanauAttention"})
    def __init__(self, num_units, memory, memory_sequence_length=None, normalize=False, **given):
        probability_fn = _without_previous(given.pop("probability_fn"))
        self._construct(num_units, memory, probability_fn, memory_sequence_length=memory_sequence_length, **given)
        self._normalize = normalize
