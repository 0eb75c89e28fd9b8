"""Tests on the mean of a bounded variable, by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart: how far the
distribution of a sample may be from the true one, and so how far its mean.

Samples are along the first axis, independent variables along the others.
"""

from __future__ import annotations

import functools

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as checks
from everflow.ops.control_flow import with_dependencies
from everflow.ops.nn.top_k import top_k

__all__ = [
    "_batch_sort_vector",
    "_check_shape_dominates",
    "_dkwm_cdf_envelope",
    "_do_maximum_mean",
    "_itemwise_error_rate",
    "_maximum_mean",
    "_minimum_mean",
    "assert_true_mean_equal_by_dkwm",
    "assert_true_mean_equal_by_dkwm_two_sample",
    "assert_true_mean_in_interval_by_dkwm",
    "min_discrepancy_of_true_means_detectable_by_dkwm",
    "min_discrepancy_of_true_means_detectable_by_dkwm_two_sample",
    "min_num_samples_for_dkwm_mean_test",
    "min_num_samples_for_dkwm_mean_two_sample_test",
    "true_mean_confidence_interval_by_dkwm",
]


def _tensors(**values):
    """The values as tensors, in order; the first that has a type gives it to the others."""
    found, dtype = [], None
    for name, value in values.items():
        found.append(convert_to_tensor(value, name=name, preferred_dtype=dtype))
        dtype = dtype or found[-1].dtype
    return found


def _batch_sort_vector(x, ascending=True, name=None):
    """The numbers along the last axis in order."""
    with name_scope(name, "sort_each_row", [x]):
        x = convert_to_tensor(x, name="x")
        count = array.shape(x)[-1]
        if ascending:
            return -top_k(-x, k=count, sorted=True)[0]
        return top_k(x, k=count, sorted=True)[0]


def _do_maximum_mean(samples, envelope, high, name=None):
    """The largest mean of a distribution whose distance from that of the samples is no more than `envelope`: that much
    of the mass goes from the smallest samples to `high`.
    """
    with name_scope(name, "do_maximum_mean", [samples, envelope, high]):
        ndims = array.rank(samples)
        samples = array.transpose(samples, array.concat([math.range(1, ndims), [0]], axis=0))
        samples = _batch_sort_vector(samples)
        count = array.shape(samples)[-1]
        share = 1.0 / math.cast(count, dtype=samples.dtype.base_dtype)
        below = (1.0 + math.cast(math.range(count), dtype=samples.dtype.base_dtype)) * share
        kept = below - array.expand_dims(envelope, -1)
        weights = math.minimum(math.maximum(kept, array.zeros([], samples.dtype)), share)
        return math.reduce_sum(samples * weights, axis=-1) + envelope * high


def _maximum_mean(samples, envelope, high, name=None):
    """The largest true mean in keeping with samples that are no more than `high`."""
    with name_scope(name, "maximum_mean", [samples, envelope, high]):
        samples, envelope, high = _tensors(samples=samples, envelope=envelope, high=high)
        largest = math.reduce_max(samples, axis=0)
        bounded = checks.assert_less_equal(largest, high, message="A sample is above the greatest possible value")
        envelope = array.broadcast_to(envelope, array.broadcast_dynamic_shape(*map(array.shape, (envelope, largest))))
        with control_dependencies([bounded]):
            return _do_maximum_mean(samples, envelope, high)


def _minimum_mean(samples, envelope, low, name=None):
    """The smallest true mean in keeping with samples that are no less than `low`."""
    with name_scope(name, "minimum_mean", [samples, envelope, low]):
        samples, envelope, low = _tensors(samples=samples, envelope=envelope, low=low)
        return -_maximum_mean(-samples, envelope, -low)


def _dkwm_cdf_envelope(n, error_rate, name=None):
    """How far apart the distribution functions are at most, but for cases as rare as `error_rate`."""
    with name_scope(name, "dkwm_cdf_envelope", [n, error_rate]):
        n = math.cast(n, dtype=error_rate.dtype)
        return math.sqrt(-math.log(error_rate / 2.0) / (2.0 * n))


def _check_shape_dominates(samples, parameters):
    """The samples, once it is checked that no parameter would broadcast them."""
    shape = array.shape(samples)[1:]
    same = []
    for parameter in parameters:
        joint = array.broadcast_dynamic_shape(shape, array.shape(parameter))
        same.append(checks.assert_equal(shape, joint, message="A parameter is of more dimensions than the samples"))
    return with_dependencies(same, samples)


def true_mean_confidence_interval_by_dkwm(samples, low, high, error_rate=1e-6, name=None):
    """(the smallest, the largest) mean that the samples leave possible."""
    with name_scope(name, "true_mean_confidence_interval_by_dkwm", [samples, low, high, error_rate]):
        samples, low, high, error_rate = _tensors(samples=samples, low=low, high=high, error_rate=error_rate)
        samples = _check_shape_dominates(samples, [low, high])
        rate = _itemwise_error_rate(error_rate, [low, high], samples)
        envelope = _dkwm_cdf_envelope(array.shape(samples)[0], rate)
        return _minimum_mean(samples, envelope, low), _maximum_mean(samples, envelope, high)


def _itemwise_error_rate(total_error_rate, param_tensors, sample_tensor=None, name=None):
    """The rate of each of several tests, for a rate of them all."""
    with name_scope(name, "itemwise_error_rate", [total_error_rate, *param_tensors]):
        shapes = [array.shape(convert_to_tensor(parameter)) for parameter in param_tensors]
        shape = functools.reduce(array.broadcast_dynamic_shape, shapes, convert_to_tensor([1]))
        if sample_tensor is not None:
            shape = array.broadcast_dynamic_shape(array.shape(sample_tensor)[1:], shape)
        count = math.cast(math.reduce_prod(shape), dtype=total_error_rate.dtype)
        return total_error_rate / count


def assert_true_mean_equal_by_dkwm(samples, low, high, expected, false_fail_rate=1e-6, name=None):
    """An op that fails where the true mean can't be the expected one."""
    with name_scope(name, "assert_true_mean_equal_by_dkwm", [samples, low, high, expected, false_fail_rate]):
        return assert_true_mean_in_interval_by_dkwm(samples, low, high, expected, expected, false_fail_rate)


def assert_true_mean_in_interval_by_dkwm(
    samples, low, high, expected_low, expected_high, false_fail_rate=1e-6, name=None
):
    """An op that fails where the true mean can't be in an interval."""
    given = {"samples": samples, "low": low, "high": high, "expected_low": expected_low}
    given |= {"expected_high": expected_high, "false_fail_rate": false_fail_rate}
    with name_scope(name, "assert_true_mean_in_interval_by_dkwm", list(given.values())):
        samples, low, high, expected_low, expected_high, rate = _tensors(**given)
        samples = _check_shape_dominates(samples, [low, high, expected_low, expected_high])
        least, most = true_mean_confidence_interval_by_dkwm(samples, low, high, rate)
        above = checks.assert_less_equal(least, expected_high, message="The mean is larger than expected")
        with control_dependencies([above]):
            return checks.assert_greater_equal(most, expected_low, message="The mean is smaller than expected")


def assert_true_mean_equal_by_dkwm_two_sample(
    samples1, low1, high1, samples2, low2, high2, false_fail_rate=1e-6, name=None
):
    """An op that fails where two variables can't have the same mean."""
    given = [samples1, low1, high1, samples2, low2, high2, false_fail_rate]
    with name_scope(name, "assert_true_mean_equal_by_dkwm_two_sample", given):
        names = ("samples1", "low1", "high1", "samples2", "low2", "high2", "rate")
        samples1, low1, high1, samples2, low2, high2, rate = _tensors(**dict(zip(names, given, strict=True)))
        samples1 = _check_shape_dominates(samples1, [low1, high1])
        samples2 = _check_shape_dominates(samples2, [low2, high2])
        same = checks.assert_equal(array.shape(samples1)[1:], array.shape(samples2)[1:])
        with control_dependencies([same]):
            least, most = true_mean_confidence_interval_by_dkwm(samples2, low2, high2, rate / 2.0)
            return assert_true_mean_in_interval_by_dkwm(samples1, low1, high1, least, most, rate / 2.0)


def min_discrepancy_of_true_means_detectable_by_dkwm(n, low, high, false_fail_rate, false_pass_rate, name=None):
    """How far from the expected mean a true mean has to be, for `n` samples to tell."""
    given = {"n": n, "low": low, "high": high, "fail": false_fail_rate, "pass_": false_pass_rate}
    with name_scope(name, "min_discrepancy_of_true_means_detectable_by_dkwm", list(given.values())):
        n = convert_to_tensor(n, name="n")
        low, high, fail, pass_ = _tensors(**{name: value for name, value in given.items() if name != "n"})
        # An envelope is passed twice: the sample may be off, and so may what is concluded from it.
        fail = _itemwise_error_rate(fail, [n, low, high])
        pass_ = _itemwise_error_rate(pass_, [low, high])
        return (high - low) * (_dkwm_cdf_envelope(n, fail) + _dkwm_cdf_envelope(n, pass_))


def min_num_samples_for_dkwm_mean_test(discrepancy, low, high, false_fail_rate=1e-6, false_pass_rate=1e-6, name=None):
    """How many samples tell a mean from another so far away."""
    given = {"discrepancy": discrepancy, "low": low, "high": high, "fail": false_fail_rate, "pass_": false_pass_rate}
    with name_scope(name, "min_num_samples_for_dkwm_mean_test", list(given.values())):
        discrepancy, low, high, fail, pass_ = _tensors(**given)
        fail, pass_ = (_itemwise_error_rate(rate, [discrepancy, low, high]) for rate in (fail, pass_))
        # Each of the two errors may take half of the distance.
        half = discrepancy / (high - low) / 2.0
        return math.maximum(*(-math.log(rate / 2.0) / (2.0 * math.square(half)) for rate in (fail, pass_)))


def min_discrepancy_of_true_means_detectable_by_dkwm_two_sample(
    n1, low1, high1, n2, low2, high2, false_fail_rate, false_pass_rate, name=None
):
    """How far apart two means have to be, for so many samples of each to tell."""
    given = [n1, low1, high1, n2, low2, high2, false_fail_rate, false_pass_rate]
    with name_scope(name, "min_discrepancy_of_true_means_detectable_by_dkwm_two_sample", given):
        halves = false_fail_rate / 2.0, false_pass_rate / 2.0
        return math.add(
            min_discrepancy_of_true_means_detectable_by_dkwm(n1, low1, high1, *halves),
            min_discrepancy_of_true_means_detectable_by_dkwm(n2, low2, high2, *halves),
        )


def min_num_samples_for_dkwm_mean_two_sample_test(
    discrepancy, low1, high1, low2, high2, false_fail_rate=1e-6, false_pass_rate=1e-6, name=None
):
    """(how many samples of the one, of the other) tell two means so far apart."""
    given = [discrepancy, low1, high1, low2, high2, false_fail_rate, false_pass_rate]
    with name_scope(name, "min_num_samples_for_dkwm_mean_two_sample_test", given):
        discrepancy = convert_to_tensor(discrepancy, name="discrepancy")
        halves = false_fail_rate / 2.0, false_pass_rate / 2.0
        half = discrepancy / 2.0
        bounds = (low1, high1), (low2, high2)
        return tuple(min_num_samples_for_dkwm_mean_test(half, *ends, *halves) for ends in bounds)
