# Made by `make stubs`.
from everflow import div_no_nan as _div_no_nan
from everflow import floormod as _floormod
import everflow as _tf
from everflow._typing import Any, AxisLike, Mapping, ScalarLike, TensorLike

from everflow import abs as abs
from everflow import accumulate_n as accumulate_n
from everflow import acos as acos
from everflow import acosh as acosh
from everflow import add as add
from everflow import add_n as add_n
from everflow import angle as angle
from everflow import argmax as argmax
from everflow import argmin as argmin
from everflow import asin as asin
from everflow import asinh as asinh
from everflow import atan as atan
from everflow import atan2 as atan2
from everflow import atanh as atanh
def bessel_i0(x: TensorLike, name: str | None = None) -> _tf.Tensor: ...
def bessel_i0e(x: TensorLike, name: str | None = None) -> _tf.Tensor: ...
def bessel_i1(x: TensorLike, name: str | None = None) -> _tf.Tensor: ...
def bessel_i1e(x: TensorLike, name: str | None = None) -> _tf.Tensor: ...
from everflow import betainc as betainc
from everflow import bincount as bincount
from everflow import ceil as ceil
from everflow import confusion_matrix as confusion_matrix
from everflow import conj as conj
from everflow import cos as cos
from everflow import cosh as cosh
from everflow import count_nonzero as count_nonzero
from everflow import cumprod as cumprod
from everflow import cumsum as cumsum
def cumulative_logsumexp(x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> _tf.Tensor: ...
from everflow import digamma as digamma
from everflow import divide as divide
divide_no_nan = _div_no_nan
from everflow import equal as equal
from everflow import erf as erf
from everflow import erfc as erfc
from everflow import exp as exp
from everflow import expm1 as expm1
from everflow import floor as floor
from everflow import floordiv as floordiv
from everflow import floormod as floormod
from everflow import greater as greater
from everflow import greater_equal as greater_equal
from everflow import igamma as igamma
from everflow import igammac as igammac
from everflow import imag as imag
def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> _tf.Tensor: ...
from everflow import invert_permutation as invert_permutation
from everflow import is_finite as is_finite
from everflow import is_inf as is_inf
from everflow import is_nan as is_nan
from everflow import is_non_decreasing as is_non_decreasing
from everflow import is_strictly_increasing as is_strictly_increasing
from everflow.linalg import l2_normalize as l2_normalize
from everflow import lbeta as lbeta
from everflow import less as less
from everflow import less_equal as less_equal
from everflow import lgamma as lgamma
from everflow import log as log
from everflow import log1p as log1p
from everflow import log_sigmoid as log_sigmoid
def log_softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: Any = None) -> _tf.Tensor: ...
from everflow import logical_and as logical_and
from everflow import logical_not as logical_not
from everflow import logical_or as logical_or
from everflow import logical_xor as logical_xor
from everflow import maximum as maximum
from everflow import minimum as minimum
mod = _floormod
from everflow import multiply as multiply
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> _tf.Tensor: ...
from everflow import negative as negative
def nextafter(x1: Any, x2: Any, name: str | None = None) -> _tf.Tensor: ...
from everflow import not_equal as not_equal
from everflow import polygamma as polygamma
def polyval(coeffs: Any, x: TensorLike, name: str | None = None) -> _tf.Tensor: ...
from everflow import pow as pow
from everflow import real as real
from everflow import reciprocal as reciprocal
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> _tf.Tensor: ...
from everflow import reduce_all as reduce_all
from everflow import reduce_any as reduce_any
def reduce_euclidean_norm(input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None) -> Any: ...
from everflow import reduce_logsumexp as reduce_logsumexp
from everflow import reduce_max as reduce_max
from everflow import reduce_mean as reduce_mean
from everflow import reduce_min as reduce_min
from everflow import reduce_prod as reduce_prod
def reduce_std(input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None) -> _tf.Tensor: ...
from everflow import reduce_sum as reduce_sum
def reduce_variance(input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None) -> Any: ...
from everflow import rint as rint
from everflow import round as round
from everflow import rsqrt as rsqrt
from everflow import scalar_mul as scalar_mul
from everflow import segment_max as segment_max
from everflow import segment_mean as segment_mean
from everflow import segment_min as segment_min
from everflow import segment_prod as segment_prod
from everflow import segment_sum as segment_sum
from everflow import sigmoid as sigmoid
from everflow import sign as sign
from everflow import sin as sin
from everflow import sinh as sinh
def softmax(logits: TensorLike, axis: AxisLike | None = None, name: str | None = None, dim: Any = None) -> _tf.Tensor: ...
def softplus(features: TensorLike | Mapping[Any, Any], name: str | None = None) -> _tf.Tensor: ...
def softsign(features: TensorLike | Mapping[Any, Any], name: str | None = None) -> _tf.Tensor: ...
from everflow import sqrt as sqrt
from everflow import square as square
from everflow import squared_difference as squared_difference
from everflow import subtract as subtract
from everflow import tan as tan
from everflow import tanh as tanh
def top_k(input: TensorLike, k: ScalarLike | None = 1, sorted: bool = True, name: str | None = None) -> Any: ...
from everflow import truediv as truediv
from everflow import unsorted_segment_max as unsorted_segment_max
from everflow import unsorted_segment_mean as unsorted_segment_mean
from everflow import unsorted_segment_min as unsorted_segment_min
from everflow import unsorted_segment_prod as unsorted_segment_prod
from everflow import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from everflow import unsorted_segment_sum as unsorted_segment_sum
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> _tf.Tensor: ...
def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> _tf.Tensor: ...
def zero_fraction(value: Any, name: str | None = None) -> _tf.Tensor: ...
from everflow import zeta as zeta
