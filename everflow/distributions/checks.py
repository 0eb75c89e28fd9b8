"""What several distributions do with parameters and values: checks, logits or probabilities, seeds for parts."""

from __future__ import annotations

import functools
import hashlib
import inspect

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.checks import values as check
from everflow.ops.checks.shapes import assert_rank_at_least
from everflow.ops.control_flow.grouping import no_op, with_dependencies
from everflow.ops.nn import activations as nn


def pick_vector(cond, true_vector, false_vector, name="pick_vector"):
    """One of two vectors, that may differ in length, by a scalar bool tensor."""
    with name_scope(name, values=(cond, true_vector, false_vector)):
        cond = convert_to_tensor(cond, name="cond")
        if cond.dtype != dtypes.bool:
            raise TypeError(f"{cond}.dtype={cond.dtype} which is not {dtypes.bool}")
        static = constant_value(cond)
        if static is not None:
            return true_vector if static else false_vector
        true_vector = convert_to_tensor(true_vector, name="true_vector")
        false_vector = convert_to_tensor(false_vector, name="false_vector")
        if true_vector.dtype != false_vector.dtype:
            raise TypeError(
                f"{true_vector}.dtype={true_vector.dtype} does not match {false_vector}.dtype={false_vector.dtype}"
            )
        n = array.shape(true_vector)[0]
        both = array.concat([true_vector, false_vector], 0)
        return array.slice_(both, [where_v2(cond, 0, n)], [array.where(cond, n, -1)])


def gen_new_seed(seed, salt):
    """A seed for one part of a sampling, made from the seed of the whole and the part's name."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def fill(shape, value, dtype, name):
    """A tensor of one value, such as the NaN of undefined statistics."""
    return array.fill(shape, np.array(value, dtype=dtype.as_numpy_dtype()), name=name)


def softplus_of(*names):
    """{parameter: its softplus, in a node named after it}, for `constructor_with`."""
    return {name: functools.partial(nn.softplus, name=f"softplus_{name}") for name in names}


def constructor_with(base, name, **functions):
    """The constructor of `base` for a kind of another name, which makes functions of some parameters its own."""
    required = dict.fromkeys(functions, inspect.Parameter.empty)
    parameters = inspect.signature(base.__init__).parameters.values()
    defaults = {p.name: p.default for p in parameters} | required | {"name": name}
    signature = inspect.Signature([p.replace(default=defaults[p.name]) for p in parameters])

    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = {key: value for key, value in bound.arguments.items() if key != "self"}
        with name_scope(given["name"], values=[given[key] for key in functions]) as scope:
            changed = {key: function(given[key]) for key, function in functions.items()}
            base.__init__(self, **{**given, **changed, "name": scope})
        self._parameters = given

    __init__.__signature__ = signature
    return __init__


def log_combinations(n, counts, name="log_combinations"):
    """The logarithm of the multinomial coefficient, n over counts along the last axis."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        total_permutations = math.lgamma(n + 1)
        counts_factorial = math.lgamma(counts + 1)
        return total_permutations - math.reduce_sum(counts_factorial, axis=[-1])


def get_logits_and_probs(
    logits=None, probs=None, multidimensional=False, validate_args=False, name="get_logits_and_probs", dtype=None
):
    """Probabilities and their logits, one given and the other made from it; over the last axis when multidimensional."""
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Give probs or logits: one of them, and only one")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if multidimensional:
                if validate_args:
                    logits = embed_check_categorical_event_shape(logits)
                return logits, nn.softmax(logits, name="probs")
            return logits, math.sigmoid(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            with name_scope("validate_probs"):
                one = array.constant(1.0, probs.dtype)
                dependencies = [check.assert_non_negative(probs)]
                if multidimensional:
                    probs = embed_check_categorical_event_shape(probs)
                    total = math.reduce_sum(probs, -1)
                    dependencies.append(check.assert_near(total, one, message="probs does not sum to 1."))
                else:
                    message = "probs has components greater than 1."
                    dependencies.append(check.assert_less_equal(probs, one, message=message))
                probs = with_dependencies(dependencies, probs)
        with name_scope("logits"):
            # Logits of many classes may have any number added; that of a single probability is fixed.
            return (math.log(probs) if multidimensional else math.log(probs) - math.log1p(-1.0 * probs)), probs


def embed_check_categorical_event_shape(categorical_param, name="embed_check_categorical_event_shape"):
    """The parameter itself, once it is known to have an axis of classes that its type can tell apart."""
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        if not x.dtype.is_floating:
            raise TypeError(f"A parameter of classes is of floats, not {x.dtype.name}.")
        most = _largest_integer(x.dtype)
        size = x.shape.ndims and x.shape.size(-1)
        if x.shape.ndims is not None:
            if x.shape.ndims == 0:
                raise ValueError(f"The classes are a parameter's last axis, but {x} is a scalar.")
            if size is not None:
                if not 2 <= size <= most:
                    raise ValueError(
                        f"{size} classes were given: there must be 2 at least, and {x.dtype.name} tells {most} apart."
                    )
                return x
        size = array.shape(x, name="x_shape")[-1]
        return with_dependencies(
            [
                assert_rank_at_least(
                    x, 1, message="A categorical-distribution parameter must have at least 1 dimension."
                ),
                check.assert_greater_equal(
                    array.shape(x)[-1], 2, message="A categorical-distribution parameter must have at least 2 events."
                ),
                check.assert_less_equal(
                    size,
                    most,
                    message=f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} dtype cannot exceed {most} shape.",
                ),
            ],
            x,
        )


def _largest_integer(dtype):
    """The largest integer up to which a type tells all integers apart."""
    if dtype.is_bool:
        return 1
    if dtype.is_floating:
        return 2 ** (np.finfo(dtype.as_numpy_dtype()).nmant + 1)
    return np.iinfo(dtype.as_numpy_dtype()).max


def _smallest_integer(dtype):
    """The least integer from which on a type tells all integers apart."""
    if dtype.is_bool:
        return 0
    return np.iinfo(dtype.as_numpy_dtype()).min if dtype.is_integer else -_largest_integer(dtype)


def embed_check_integer_casting_closed(x, target_dtype, assert_nonnegative=True, name="embed_check_casting_closed"):
    """The tensor itself, once casting it to an integer type and back is known to keep its values."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer and not x.dtype.is_floating:
            raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
        if not target_dtype.is_integer and not target_dtype.is_floating and not target_dtype.is_bool:
            raise TypeError(f"Target dtype ({target_dtype.name}) must be bool, floating- or integer-type.")
        if not x.dtype.is_integer and not target_dtype.is_integer and not target_dtype.is_bool:
            raise TypeError(f"Neither {x.dtype.name} nor {target_dtype.name} is a type of whole numbers.")
        assertions = []
        if assert_nonnegative:
            assertions.append(check.assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            message = f"Elements must be {target_dtype.name}-equivalent."
            assertions.append(assert_integer_form(x, int_dtype=target_dtype, message=message))
        elif _largest_integer(x.dtype) > _largest_integer(target_dtype):
            most = _largest_integer(target_dtype)
            assertions.append(check.assert_less_equal(x, most, message=f"Elements cannot exceed {most}."))
        least = _smallest_integer(target_dtype)
        if x.dtype.is_integer and not assert_nonnegative and _smallest_integer(x.dtype) < least:
            message = f"Elements cannot be smaller than {least}."
            assertions.append(check.assert_greater_equal(x, least, message=message))
        return with_dependencies(assertions, x) if assertions else x


def embed_check_nonnegative_integer_form(x, name="embed_check_nonnegative_integer_form"):
    """The tensor itself, once its values are known to be whole numbers from zero up."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        assertions = [check.assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            assertions.append(assert_integer_form(x, message=f"'{x}' cannot contain fractional components."))
        return with_dependencies(assertions, x)


def assert_integer_form(x, data=None, summarize=None, message=None, int_dtype=None, name="assert_integer_form"):
    """Assert that floating-point values are whole numbers."""
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return no_op()
        message = message or f"{x if x.is_eager else x.op.name} has non-integer components"
        if int_dtype is None:
            # Half the bits of the type are plenty for whole numbers that it can hold exactly.
            whole = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}
            int_dtype = whole.get(x.dtype.base_dtype)
            if int_dtype is None:
                raise TypeError(f"Unrecognized type {x.dtype.name}")
        whole = math.cast(math.cast(x, int_dtype), x.dtype)
        return check.assert_equal(x, whole, data=data, summarize=summarize, message=message, name=name)
