"""Helpers of `BasicDecoder`: which sample a step's output gives, and what the next step reads."""

from __future__ import annotations

import abc

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.seq2seq.draws import categorical_sample, draw_bernoulli
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.control_flow import cond
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.rnn.dynamic import transpose_batch_time


def _array_over_time(values):
    return TensorArray(dtype=values.dtype, size=array.shape(values)[0], element_shape=values.shape[1:]).unstack(values)


def _embedding_function(embedding):
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


class Helper(abc.ABC):
    """What `BasicDecoder` asks: the first inputs, a sample of each output, and the next inputs."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The number of sequences: a scalar tensor."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The shape of one sample, without the batch."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """The dtype of samples."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, first inputs)."""
        raise NotImplementedError("initialize has not been implemented")

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """The samples of a step's outputs."""
        raise NotImplementedError("sample has not been implemented")

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """(finished, next inputs, next state)."""
        raise NotImplementedError("next_inputs has not been implemented")


class _IdHelper(Helper):
    """Helpers whose samples are int32 ids."""

    sample_ids_shape = property(lambda self: TensorShape([]))
    sample_ids_dtype = property(lambda self: dtypes.int32)


class CustomHelper(Helper):
    """A helper of three functions."""

    _batch_size = None  # Known once the helper was initialized.

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._functions = initialize_fn, sample_fn, next_inputs_fn
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    sample_ids_shape = property(lambda self: self._sample_ids_shape)
    sample_ids_dtype = property(lambda self: self._sample_ids_dtype)

    def initialize(self, name=None):
        with name_scope(name, "CustomHelperInitialize"):
            finished, next_inputs = self._functions[0]()
            if self._batch_size is None:
                self._batch_size = array.size(finished)
        return finished, next_inputs

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "CustomHelperSample", (time, outputs, state)):
            return self._functions[1](time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "CustomHelperNextInputs", (time, outputs, state)):
            return self._functions[2](time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(_IdHelper):
    """Reads given inputs, each sequence as far as its length; samples are the best ids.

    >>> helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, targets), target_lengths)
    """

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            self._inputs = inputs = convert_to_tensor(inputs, name="inputs")
            if not time_major:
                inputs = transpose_batch_time(inputs)
            self._input_array = _array_over_time(inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.rank != 1:
                raise ValueError(f"sequence_length must be a vector, not of shape {self._sequence_length.shape}")
            self._zero_inputs = array.zeros_like(inputs[0, :])
            self._start_inputs = self._zero_inputs
            self._batch_size = array.size(sequence_length)

    inputs = property(lambda self: self._inputs)
    sequence_length = property(lambda self: self._sequence_length)
    batch_size = property(lambda self: self._batch_size)

    def _read(self, all_finished, time):
        return cond(all_finished, lambda: self._zero_inputs, lambda: self._input_array.read(time))

    def initialize(self, name=None):
        with name_scope(name, "TrainingHelperInitialize"):
            finished = math.equal(0, self._sequence_length)
            return finished, self._read(math.reduce_all(finished), 0)

    def sample(self, time, outputs, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return math.cast(math.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._read(math.reduce_all(finished), next_time), state


def _checked_probability(sampling_probability):
    probability = convert_to_tensor(sampling_probability, name="sampling_probability")
    if probability.shape.rank not in (0, 1):
        raise ValueError(f"sampling_probability must be a scalar or a vector, not of shape {probability.shape}")
    return probability


def _merged(base, sampled_at, given_at, values, make_inputs):
    """The inputs `base`, and in the rows `sampled_at` what is made of `values` instead."""
    sampled = array.gather_nd(values, sampled_at)
    given = array.gather_nd(base, given_at)
    sampled = make_inputs(sampled)
    shape = array.shape(base)
    return array.scatter_nd(indices=sampled_at, updates=sampled, shape=shape) + array.scatter_nd(
        indices=given_at, updates=given, shape=shape
    )


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Trains on given inputs, but with a probability reads the embedding of its own sample instead."""

    def __init__(
        self,
        inputs,
        sequence_length,
        embedding,
        sampling_probability,
        time_major=False,
        seed=None,
        scheduling_seed=None,
        name=None,
    ):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = _embedding_function(embedding)
            self._sampling_probability = _checked_probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = draw_bernoulli(self._sampling_probability, dtypes.bool, self.batch_size, self._scheduling_seed)
            return array.where(chosen, categorical_sample(outputs, seed=self._seed), array.fill([self.batch_size], -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            given = {"time": time, "outputs": outputs, "state": state, "sample_ids": sample_ids}
            finished, base_next_inputs, state = super().next_inputs(**given)

            def mixed():
                sampled_at = math.cast(array.where(sample_ids > -1), dtypes.int32)
                given_at = math.cast(array.where(sample_ids <= -1), dtypes.int32)
                return _merged(base_next_inputs, sampled_at, given_at, sample_ids, self._embedding_fn)

            return finished, cond(math.reduce_all(finished), lambda: base_next_inputs, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Trains on given inputs, but with a probability reads its own output (through `next_inputs_fn`) instead."""

    def __init__(self, inputs, sequence_length, sampling_probability, time_major=False, seed=None, next_inputs_fn=None,
                 auxiliary_inputs=None, name=None):  # fmt: skip
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _checked_probability(sampling_probability)
            if auxiliary_inputs is None:
                maybe_joined = inputs
            else:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                maybe_joined = array.concat((inputs, auxiliary_inputs), -1)
                if not time_major:
                    auxiliary_inputs = transpose_batch_time(auxiliary_inputs)
            self._auxiliary_array = _array_over_time(auxiliary_inputs) if auxiliary_inputs is not None else None
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs=maybe_joined, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return draw_bernoulli(self._sampling_probability, dtypes.int32, self.batch_size, self._seed)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            given = {"time": time, "outputs": outputs, "state": state, "sample_ids": sample_ids}
            finished, base_next_inputs, state = super().next_inputs(**given)
            sample_ids = math.cast(sample_ids, dtypes.bool)

            def joined(outputs, indices=None):
                """Outputs as inputs, with the auxiliary inputs of the next step after them."""
                if self._next_inputs_fn is not None:
                    outputs = self._next_inputs_fn(outputs)
                if self._auxiliary_array is None:
                    return outputs
                auxiliary = self._auxiliary_array.read(time + 1)
                if indices is not None:
                    auxiliary = array.gather_nd(auxiliary, indices)
                return array.concat((outputs, auxiliary), -1)

            def mixed():
                if self._next_inputs_fn is None:
                    return array.where(sample_ids, joined(outputs), base_next_inputs)
                sampled_at = math.cast(array.where(sample_ids), dtypes.int32)
                given_at = math.cast(array.where(math.logical_not(sample_ids)), dtypes.int32)
                places = sampled_at, given_at
                return _merged(base_next_inputs, *places, outputs, lambda sampled: joined(sampled, sampled_at))

            nothing_sampled = math.logical_or(math.reduce_all(finished), math.logical_not(math.reduce_any(sample_ids)))
            return finished, cond(nothing_sampled, lambda: base_next_inputs, mixed), state


class GreedyEmbeddingHelper(_IdHelper):
    """Feeds back the embedding of the best id, until the end token.

    >>> helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([batch], GO), EOS)
    """

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = array.size(start_tokens)
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    batch_size = property(lambda self: self._batch_size)

    def initialize(self, name=None):
        return array.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        if not isinstance(outputs, Tensor):
            raise TypeError(f"The cell's outputs must be one tensor of logits, not {outputs!r}")
        return self._ids(outputs)

    def _ids(self, logits):
        return math.argmax(logits, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = math.equal(sample_ids, self._end_token)
        all_finished = math.reduce_all(finished)
        next_inputs = cond(all_finished, lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds back the embedding of an id drawn from the outputs' distribution."""

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def _ids(self, logits):
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return categorical_sample(logits, seed=self._seed)


class InferenceHelper(Helper):
    """Feeds back samples that a function makes of the outputs, until another says the end."""

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        keep(self, locals())
        self._sample_shape = TensorShape(sample_shape)
        self._batch_size = array.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    batch_size = property(lambda self: self._batch_size)
    sample_ids_shape = property(lambda self: self._sample_shape)
    sample_ids_dtype = property(lambda self: self._sample_dtype)

    def initialize(self, name=None):
        return array.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        next_inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
