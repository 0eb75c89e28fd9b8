"""What tests of kernels ask for: a device to draw on, the layout that a GPU wants, switches for compilers."""

from __future__ import annotations

import itertools
from collections import OrderedDict

from everflow.framework import scopes
from everflow.framework.operation import Tensor
from everflow.ops import array
from everflow.test.environment import gpu_device_name, is_built_with_cuda, is_built_with_rocm, is_gpu_available


def device(use_gpu):
    """A context whose operations go to the GPU where there is one and `use_gpu` is set, else to the CPU."""
    name = gpu_device_name() if use_gpu else ""
    return scopes.device(name or "/device:CPU:0")


def use_gpu():
    """A context whose operations go to the GPU where there is one."""
    return device(use_gpu=True)


def force_gpu():
    """A context whose operations ask for the GPU, also where there is none: what runs them may then say so."""
    return scopes.device(gpu_device_name() or "/device:GPU:0")


def force_cpu():
    """A context whose operations go to the CPU."""
    return device(use_gpu=False)


def IsMklEnabled():
    """Whether kernels are those of TensorFlow's MKL build: no."""
    return False


# Older names.
IsGoogleCudaEnabled = is_built_with_cuda
IsBuiltWithROCm = is_built_with_rocm


def GpuSupportsHalfMatMulAndConv():
    """Whether there is a GPU that multiplies halves."""
    return is_gpu_available(cuda_only=True, min_cuda_compute_capability=(5, 3))


def is_xla_enabled():
    """Whether tests run compiled by XLA: no."""
    return False


def disable_xla(description):
    """For a test that XLA can't compile: as it is."""
    return lambda test: test


no_xla_auto_jit = xla_allow_fallback = disable_xla


def use_deterministic_cudnn(func):
    """For a test that needs the same sums at each run: as it is, they are."""
    return func


# --- layouts ------------------------------------------------------------------------------------

_CHANNELS_FIRST = {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}
_CHANNELS_LAST = {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}
_IN_VECTOR = 4  # channels that lie together in the layout NCHW_VECT_C


def _rearranged(value, orders):
    """A tensor transposed, or a shape in another order."""
    if isinstance(value, Tensor):
        return array.transpose(value, orders[value.shape.ndims])
    return [value[i] for i in orders[len(value)]]


def NHWCToNCHW(input_tensor):
    """A tensor or shape with the channels after the batch."""
    return _rearranged(input_tensor, _CHANNELS_FIRST)


def NCHWToNHWC(input_tensor):
    """A tensor or shape with the channels last."""
    return _rearranged(input_tensor, _CHANNELS_LAST)


def NHWCToNCHW_VECT_C(input_shape_or_tensor):
    """A tensor or shape [batch, height, width, channels] as [batch, channels / 4, height, width, 4]."""
    given = input_shape_or_tensor
    shape = given.shape.as_list() if isinstance(given, Tensor) else list(given)
    if shape[-1] % _IN_VECTOR:
        raise ValueError("last dimension of NHWC input must be evenly divisible by 4")
    shape = [*shape[:-1], shape[-1] // _IN_VECTOR, _IN_VECTOR]
    order = [0, 3, 1, 2, 4]
    return (
        array.transpose(array.reshape(given, shape), order) if isinstance(given, Tensor) else [shape[i] for i in order]
    )


def NCHW_VECT_CToNHWC(input_shape_or_tensor):
    """The way back from `NHWCToNCHW_VECT_C`."""
    given, order = input_shape_or_tensor, [0, 2, 3, 1, 4]
    shape = given.shape.as_list() if isinstance(given, Tensor) else list(given)
    shape = [shape[i] for i in order]
    shape = [*shape[:3], shape[3] * shape[4]]
    return array.reshape(array.transpose(given, order), shape) if isinstance(given, Tensor) else shape


def generate_combinations_with_testcase_name(**kwargs):
    """For absl's parameterized tests: one dict for each combination of the values, with a name made of them."""
    combinations = [OrderedDict(zip(kwargs, values, strict=True)) for values in itertools.product(*kwargs.values())]
    for combination in combinations:
        words = [
            f"_{''.join(filter(str.isalnum, f'{key}'))}_{''.join(filter(str.isalnum, f'{value}'))}"
            for key, value in combination.items()
        ]
        combination["testcase_name"] = "_test" + "".join(words)
    return combinations
