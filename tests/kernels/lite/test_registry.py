"""Which kernel computes a call: by what its operands are."""

from types import SimpleNamespace

import numpy as np
import pytest

from everflow.formats.tflite import BUILTINS
from everflow.kernels.lite import hybrid, layers, quantized_layers, registry
from everflow.kernels.lite.registry import Call, Operand
from tests.kernels.lite.calls import quantized

FLOAT, BYTES = Operand(np.dtype(np.float32)), quantized(np.int8, 0.5)


def found(name, inputs, outputs):
    return registry.find(Call(name, SimpleNamespace(), inputs, outputs))


def test_the_kind_follows_the_operands():
    assert found("CONV_2D", (FLOAT, FLOAT), (FLOAT,)).__module__ == layers.__name__
    assert found("CONV_2D", (BYTES, BYTES), (BYTES,)).__module__ == quantized_layers.__name__
    assert found("CONV_2D", (FLOAT, BYTES, FLOAT), (FLOAT,)).__module__ == hybrid.__name__


def test_what_has_no_form_for_integers_takes_the_plain_one():
    plain = found("RESHAPE", (FLOAT, None), (FLOAT,))
    assert found("RESHAPE", (BYTES, None), (BYTES,)) is plain
    assert found("NOTHING", (FLOAT,), (FLOAT,)) is None


def test_only_small_integers_with_a_scale_are_quantized():
    assert not Operand(np.dtype(np.int8)).quantized
    assert not quantized(np.int32, 0.5).quantized and not quantized(np.float32, 0.5).quantized
    assert BYTES.quantized and (BYTES.step, BYTES.zero) == (0.5, 0)


def test_names_are_those_of_the_format():
    assert set(registry.names()) <= set(BUILTINS)


@pytest.mark.parametrize("family", registry._FAMILIES)
def test_each_family_has_kernels(family):
    registry.names()
    modules = {function.__module__ for function in registry._kernels.values()}
    assert f"everflow.kernels.lite.{family}" in modules
