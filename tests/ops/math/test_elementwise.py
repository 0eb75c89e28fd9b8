"""Element-wise math of one input, casts and complex numbers."""

import numpy as np
import pytest
from scipy import special

import everflow as tf

X = np.array([-2.5, -1.0, -0.4, 0.3, 0.9, 1.0, 2.5])
P = np.array([0.1, 0.3, 0.5, 0.7, 0.95])
# function, numpy's, where to look
UNARY = [
    ("abs", np.abs, X),
    ("acos", np.arccos, P),
    ("acosh", np.arccosh, P + 1),
    ("asin", np.arcsin, P),
    ("asinh", np.arcsinh, X),
    ("atan", np.arctan, X),
    ("atanh", np.arctanh, P),
    ("bessel_i0", special.i0, X),
    ("bessel_i0e", special.i0e, X),
    ("bessel_i1", special.i1, X),
    ("bessel_i1e", special.i1e, X),
    ("ceil", np.ceil, X),
    ("cos", np.cos, X),
    ("cosh", np.cosh, X),
    ("digamma", special.digamma, P),
    ("erf", special.erf, X),
    ("erfc", special.erfc, X),
    ("exp", np.exp, X),
    ("expm1", np.expm1, X),
    ("floor", np.floor, X),
    ("lgamma", special.gammaln, P),
    ("log", np.log, P),
    ("log1p", np.log1p, P),
    ("log_sigmoid", lambda x: np.log(special.expit(x)), X),
    ("negative", np.negative, X),
    ("reciprocal", np.reciprocal, X),
    ("rint", np.rint, X),
    ("round", np.rint, X),
    ("rsqrt", lambda x: 1 / np.sqrt(x), P),
    ("sigmoid", special.expit, X),
    ("sign", np.sign, X),
    ("sin", np.sin, X),
    ("sinh", np.sinh, X),
    ("sqrt", np.sqrt, P),
    ("square", np.square, X),
    ("tan", np.tan, X),
    ("tanh", np.tanh, X),
]


@pytest.mark.parametrize(("name", "reference", "values"), UNARY, ids=[row[0] for row in UNARY])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-6), (np.float32, 2e-5), (np.float16, 5e-3)])
def test_values(sess, name, reference, values, dtype, rtol):
    values = values.astype(dtype)
    result = sess.run(getattr(tf.math, name)(values))
    assert result.dtype == dtype
    np.testing.assert_allclose(result.astype(np.float64), reference(values.astype(np.float64)), rtol=rtol, atol=rtol)


def test_halves_round_to_even_and_small_negatives_to_plain_zero(sess):
    result = sess.run(tf.round([0.5, 1.5, 2.5, -0.5, -0.3]))
    np.testing.assert_array_equal(result, [0, 2, 2, 0, 0])
    assert not np.signbit(result).any()


def test_round_of_integers_is_the_input():
    x = tf.constant([1, 2])
    assert tf.round(x) is x


def test_sign_of_nan_and_of_complex(sess):
    np.testing.assert_array_equal(sess.run(tf.sign([np.nan, -0.0, np.inf])), [0, 0, 1])
    np.testing.assert_allclose(sess.run(tf.sign(tf.constant([3 + 4j, 0j]))), [0.6 + 0.8j, 0])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (tf.int8, [0, 0, 0, 44, -1, 0]),
        (tf.uint8, [0, 0, 0, 44, 255, 0]),
        (tf.int16, [0, 0, 0, 300, -1, 0]),
        (tf.int32, [-(2**31), -(2**31), -(2**31), 300, -1, -(2**31)]),
        (tf.int64, [-(2**63), -(2**63), -(2**63), 300, -1, 10**10]),
        (tf.uint32, [0, 0, 0, 300, 2**32 - 1, 10**10 % 2**32]),
        (tf.uint64, [2**63, 0, 2**63, 300, 2**64 - 1, 10**10]),
        (tf.bool, [True, True, True, True, True, True]),
    ],
)
def test_casts_out_of_range_do_as_x86_does(sess, target, expected):
    source = tf.constant([np.nan, np.inf, -np.inf, 300.5, -1.5, 1e10])
    np.testing.assert_array_equal(sess.run(tf.cast(source, target)), np.array(expected, target.as_numpy_dtype))


def test_casts_between_integers_wrap(sess):
    np.testing.assert_array_equal(sess.run(tf.cast([-1, 256, 300], tf.uint8)), [255, 0, 44])


def test_truncating_cast_drops_bits(sess):
    third = tf.constant([1 / 3], tf.float64)
    nearest, truncated = (sess.run(tf.raw_ops.Cast(x=third, DstT=tf.float32, Truncate=t)) for t in (False, True))
    assert float(nearest[0]) > 1 / 3 > float(truncated[0])


def test_cast_to_the_same_type_is_the_input():
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x


def test_cast_of_strings_is_unimplemented(sess):
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to int32 is not supported"):
        sess.run(tf.cast(tf.constant(["1"]), tf.int32))


def test_saturate_cast_stops_at_the_limits(sess):
    np.testing.assert_array_equal(sess.run(tf.saturate_cast([-5.0, 3.7, 300.0], tf.uint8)), [0, 3, 255])


def test_complex_parts(sess):
    z = tf.complex([1.0, -2.0], [0.5, 4.0])
    re, im, angle, conj, size = sess.run([tf.real(z), tf.imag(z), tf.angle(z), tf.conj(z), tf.abs(z)])
    expected = np.array([1 + 0.5j, -2 + 4j])
    wanted = expected.real, expected.imag, np.angle(expected), expected.conj(), abs(expected)
    for got, want in zip((re, im, angle, conj, size), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_complex_wants_floats_of_one_type():
    with pytest.raises(TypeError, match="incorrect types"):
        tf.complex(tf.constant(1), tf.constant(2))


def test_functions_of_sparse_tensors_change_the_values(sess):
    sparse = tf.SparseTensor([[0, 1], [2, 0]], tf.constant([-1.5, 4.0]), [3, 2])
    for function, expected in ((tf.abs, [1.5, 4.0]), (tf.square, [2.25, 16.0]), (tf.negative, [1.5, -4.0])):
        result = function(sparse)
        assert isinstance(result, tf.SparseTensor)
        np.testing.assert_allclose(sess.run(result).values, expected)


def test_a_type_without_a_kernel_is_refused_when_run(sess):
    x = tf.constant([1], tf.uint16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered to support Op 'Less'"):
        sess.run(tf.less(x, x))


def test_a_type_that_the_definition_forbids_is_refused_when_built():
    with pytest.raises(TypeError, match="must be one of"):
        tf.ceil(tf.constant([1]))


def test_check_numerics(sess):
    x = tf.placeholder(tf.float32, [None])
    checked = tf.check_numerics(x, "odd")
    np.testing.assert_array_equal(sess.run(checked, {x: [1.0, 2.0]}), [1, 2])
    for values, text in (
        ([np.nan], "odd : Tensor had NaN"),
        ([1, np.inf], "odd : Tensor had Inf"),
        ([np.nan, np.inf], "Inf and NaN"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(checked, {x: values})


def test_check_numerics_lets_large_finite_values_pass(sess):
    np.testing.assert_array_equal(sess.run(tf.check_numerics(tf.constant([3e38, 3e38]), "m")), np.float32([3e38, 3e38]))
