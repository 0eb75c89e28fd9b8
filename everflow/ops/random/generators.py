"""`tf.random.experimental.Generator`: random numbers from a state that is a variable, so that it is saved and can be
set.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value_as_shape
from everflow.ops.array.basic import reshape, zeros_like
from everflow.ops.array.joining import concat, stack, unstack
from everflow.ops.math.elementwise import cast
from everflow.ops.random.distributions import affine, shape_tensor, uniform_type_and_end
from everflow.ops.variables.variable import Variable

RNG_ALG_PHILOX = 1
_STATE_SIZES = {RNG_ALG_PHILOX: 3}
_ALGORITHMS = {"philox": RNG_ALG_PHILOX}
_MASK64 = (1 << 64) - 1


def _algorithm(alg) -> int:
    if alg is None:
        return RNG_ALG_PHILOX
    found = _ALGORITHMS.get(alg, alg)
    if found not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {alg}")
    return found


def _signed64(value: int) -> int:
    value &= _MASK64
    return value - (1 << 64) if value >> 63 else value


def create_rng_state(seed, algorithm):
    """The state that a seed (a number, or a sequence of them) stands for.

    Args:
        seed: A number, or a sequence of them.
        algorithm: The number of the algorithm.

    Returns:
        A vector of int64.

    Raises:
        ValueError: If the algorithm isn't known.

    Example:
        >>> tf.random.experimental.create_rng_state(5, 1)
        array([5, 0, 0])
    """
    if algorithm not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {algorithm}")
    return numbers_of_seed(seed, _STATE_SIZES[algorithm])


def numbers_of_seed(seed, size):
    """`size` numbers of 64 bits from a number, or from a sequence of them."""
    if isinstance(seed, (int, np.integer)):
        seed = int(seed)
        return np.array([_signed64(seed >> 64 * i) for i in range(size)], np.int64)
    numbers = np.asarray(seed, np.int64).ravel()[:size]
    return np.concatenate([np.zeros(size - len(numbers), np.int64), numbers])


class Generator:
    """A stream of random numbers that is one of the graph's variables.

    Args:
        copy_from: A generator whose state it starts with.
        state: The state it starts with.
        alg: The algorithm: `tf.random.experimental` knows Philox and ThreeFry by number.

    Example:
        >>> generator = tf.random.experimental.Generator.from_seed(1)
        >>> numbers = generator.normal([2])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(numbers).shape
        (2,)
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("With `copy_from` neither `state` nor `alg` is given")
            state, alg = copy_from.state, copy_from.algorithm
        elif alg is None or state is None:
            raise AssertionError("Give either `copy_from`, or both `state` and `alg`")
        self._alg = _algorithm(alg)
        initial = state if copy_from is not None else self._checked(state)
        self._state_var = Variable(initial, dtype=dtypes.int64, trainable=False, use_resource=True)

    @classmethod
    def from_state(cls, state, alg):
        """A generator that starts at a state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator that starts where a seed says."""
        alg = _algorithm(alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator that starts anywhere."""
        alg = _algorithm(alg)
        with name_scope("NonDeterministicInts") as scope:
            size = convert_to_tensor([_STATE_SIZES[alg]], dtypes.int64, name="shape")
            state = raw.NonDeterministicInts(size, dtype=dtypes.int64, name=scope)
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with this key, at this counter."""
        return cls(state=_key_counter_state(key, counter), alg=_algorithm(alg))

    def _checked(self, state):
        """A state as a tensor; ValueError unless it has as many numbers as the algorithm's."""
        state = convert_to_tensor(state, dtype=dtypes.int64)
        state.shape.assert_is_compatible_with([_STATE_SIZES[self._alg]])
        return state

    def reset(self, state):
        """Go to a state; the op does it when it runs."""
        return self._state_var.assign(self._checked(state))

    def reset_from_seed(self, seed):
        """Go where a seed says."""
        return self.reset(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Go to a counter of another key."""
        return self.reset(_key_counter_state(key, counter))

    state = property(lambda self: self._state_var, doc="The variable that holds the state.")
    algorithm = property(lambda self: self._alg, doc="The number of the algorithm.")

    @property
    def key(self):
        """The key of the stream."""
        return self._state_var[-1]

    def skip(self, delta):
        """Leave so many blocks of the stream out."""
        raw.RngSkip(self._state_var.handle, self._alg, delta)

    def _normal(self, function, scope, shape, mean, stddev, dtype, name):
        with name_scope(name, scope, [shape, mean, stddev]) as name:
            shape = shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype=dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
            return affine(function(self._state_var.handle, self._alg, shape, dtype=dtype), stddev, mean, name)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal values."""
        return self._normal(raw.StatefulStandardNormalV2, "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal values within two deviations of the mean."""
        return self._normal(raw.StatefulTruncatedNormal, "truncated_normal", shape, mean, stddev, dtype, name)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Uniform values in [minval, maxval)."""
        dtype = dtypes.as_dtype(dtype)
        if not (dtype.is_integer and maxval is not None):
            dtype, maxval = uniform_type_and_end(maxval, dtype)
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as name:
            shape = shape_tensor(shape)
            minval = convert_to_tensor(minval, dtype=dtype, name="min")
            maxval = convert_to_tensor(maxval, dtype=dtype, name="max")
            if dtype.is_integer:
                return raw.StatefulUniformInt(self._state_var.handle, self._alg, shape, minval, maxval, name=name)
            values = raw.StatefulUniform(self._state_var.handle, self._alg, shape, dtype=dtype)
            return affine(values, raw.Sub(maxval, minval, name="sub"), minval, name)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers over the whole range of a type."""
        dtype = dtypes.as_dtype(dtype)
        with name_scope(name, "stateful_uniform_full_int", [shape]) as name:
            return raw.StatefulUniformFullInt(
                self._state_var.handle, self._alg, shape_tensor(shape), dtype=dtype, name=name
            )

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """How many of `counts` tries succeed, each with probability `probs`."""
        dtype = dtypes.as_dtype(dtype)
        with name_scope(name, "binomial", [shape, counts, probs]) as name:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            shape = shape_tensor(shape)
            return raw.StatefulRandomBinomial(
                self._state_var.handle, self._alg, shape, counts, probs, dtype=dtype, name=name
            )

    def make_seeds(self, count=1):
        """Seeds for stateless ops: a [2, count] tensor."""
        keys = self._keys(count)
        return stack([keys, zeros_like(keys)])

    def split(self, count=1):
        """Several generators whose streams have nothing to do with one another."""
        return [Generator.from_key_counter(key, [0, 0], self._alg) for key in unstack(self._keys(count), num=count)]

    def _keys(self, count):
        return self.uniform_full_int([count], dtype=dtypes.int64)


def _key_counter_state(key, counter):
    counter = convert_to_tensor(counter, dtype=dtypes.int64)
    key = reshape(cast(convert_to_tensor(key), dtypes.int64), [1])
    return concat([counter, key], 0)


_global = []


def get_global_generator():
    """The generator that all may use; made when first asked for.

    Returns:
        A `tf.random.experimental.Generator`.

    Example:
        >>> tf.random.experimental.get_global_generator() is tf.random.experimental.get_global_generator()
        True
    """
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator):
    """Have another generator be the one that all may use.

    Args:
        generator: The generator.

    Returns:
        None.

    Example:
        >>> generator = tf.random.experimental.Generator.from_seed(1)
        >>> tf.random.experimental.set_global_generator(generator)
        >>> tf.random.experimental.get_global_generator() is generator
        True
    """
    _global[:] = [generator]


@shape_rule(
    "StatefulUniform",
    "StatefulStandardNormalV2",
    "StatefulTruncatedNormal",
    "StatefulUniformInt",
    "StatefulUniformFullInt",
)
def _stateful_shape(op):
    op.inputs[2].shape.with_rank(1)
    return constant_value_as_shape(op.inputs[2])


@shape_rule("StatefulStandardNormal")
def _stateful_normal_shape(op):
    return constant_value_as_shape(op.inputs[1])


@shape_rule("NonDeterministicInts")
def _non_deterministic_shape(op):
    return constant_value_as_shape(op.inputs[0])


@shape_rule("StatefulRandomBinomial")
def _binomial_shape(op):
    return constant_value_as_shape(op.inputs[2])
