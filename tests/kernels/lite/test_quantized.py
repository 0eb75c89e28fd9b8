"""Element-wise ops on bytes: within a step of the same on the reals that they stand for."""

import numpy as np
import pytest

from everflow.formats.tflite import ACTIVATIONS
from everflow.framework.errors import UnimplementedError
from everflow.kernels.lite import quantized as module
from everflow.kernels.lite.registry import Operand
from tests.kernels.lite.calls import compute, floats, quantized

RANDOM = np.random.RandomState(0)
FLOAT = Operand(np.dtype(np.float32))
KINDS = {"unsigned": (np.uint8, 120), "signed": (np.int8, -5)}


def operand(kind, scale):
    dtype, zero = KINDS[kind]
    return quantized(dtype, scale, zero)


def integers(kind, *shape):
    limits = np.iinfo(KINDS[kind][0])
    return RANDOM.randint(limits.min, limits.max + 1, shape).astype(limits.dtype)


def near(found, output, wanted, steps=1.01):
    low, high = (floats(output, limit) for limit in module.limits(output))
    np.testing.assert_allclose(floats(output, found), np.clip(wanted, low, high), atol=steps * float(output.step))


def test_there_and_back():
    step = quantized(np.int8, 0.5, 3)
    assert module.quantize([0.0, 0.25, -0.25, 1000, -1000], step).tolist() == [3, 4, 2, 127, -128]
    assert module.dequantize(np.int8([3, 4, -128]), step).tolist() == [0.0, 0.5, -65.5]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "function"), [("ADD", np.add), ("SUB", np.subtract), ("MUL", np.multiply)])
@pytest.mark.parametrize("shape", [(40,), (1,)])
def test_two_operands(kind, name, function, shape):
    first, second, output = operand(kind, 0.02), operand(kind, 0.05), operand(kind, 0.1)
    a, b = integers(kind, 40), integers(kind, *shape)
    found = compute(name, a, b, operands=[first, second], outputs=[output])
    near(found, output, function(floats(first, a), floats(second, b)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "function", "options"),
    [
        ("RELU", lambda x: np.maximum(x, 0), {}),
        ("RELU6", lambda x: np.clip(x, 0, 6), {}),
        ("RELU_N1_TO_1", lambda x: np.clip(x, -1, 1), {}),
        ("LOGISTIC", lambda x: 1 / (1 + np.exp(-x)), {}),
        ("TANH", np.tanh, {}),
        ("ELU", lambda x: np.where(x < 0, np.expm1(x), x), {}),
        ("HARD_SWISH", lambda x: x * np.clip(x + 3, 0, 6) / 6, {}),
    ],
)
def test_functions_of_one_number(kind, name, function, options):
    source, output = operand(kind, 0.1), operand(kind, 0.07)
    x = integers(kind, 256)
    near(compute(name, x, operands=[source], outputs=[output], **options), output, function(floats(source, x)))


@pytest.mark.parametrize("kind", KINDS)
def test_slopes(kind):
    source, slopes, output = operand(kind, 0.1), operand(kind, 0.01), operand(kind, 0.1)
    x, alpha = integers(kind, 50), integers(kind, 50)
    found = compute("PRELU", x, alpha, operands=[source, slopes], outputs=[output])
    real, slope = floats(source, x), floats(slopes, alpha)
    near(found, output, np.where(real >= 0, real, real * slope))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["LESS", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"])
def test_comparisons_are_those_of_the_reals(kind, name):
    step = operand(kind, 0.05)
    a, b = integers(kind, 60), integers(kind, 60)
    b[:10] = a[:10]
    compare = {"LESS": np.less, "GREATER_EQUAL": np.greater_equal, "EQUAL": np.equal, "NOT_EQUAL": np.not_equal}[name]
    np.testing.assert_array_equal(compute(name, a, b, operands=[step, step]), compare(a, b))


@pytest.mark.parametrize(("kind", "low"), [("unsigned", 0), ("signed", -128)])
def test_shares_of_a_softmax(kind, low):
    source, output = operand(kind, 0.05), quantized(KINDS[kind][0], 1 / 256, low)
    x = integers(kind, 5, 7)
    real = floats(source, x)
    shares = np.exp(real) / np.exp(real).sum(-1, keepdims=True)
    near(compute("SOFTMAX", x, operands=[source], outputs=[output], beta=1.0), output, shares)


def test_from_one_scale_to_another_and_from_reals():
    source, output = operand("unsigned", 0.1), operand("signed", 0.2)
    x = integers("unsigned", 30)
    near(compute("QUANTIZE", x, operands=[source], outputs=[output]), output, floats(source, x))
    reals = RANDOM.randn(30).astype(np.float32)
    near(compute("QUANTIZE", reals, operands=[FLOAT], outputs=[output]), output, reals, 0.51)
    np.testing.assert_allclose(compute("DEQUANTIZE", x, operands=[source]), floats(source, x), rtol=1e-6)
    assert compute("DEQUANTIZE", np.float16([1.5])).numpy().dtype == np.float32


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_length_one(kind):
    source = operand(kind, 0.1)
    output = quantized(KINDS[kind][0], 1 / 128, 128 if kind == "unsigned" else 0)
    x = integers(kind, 6, 4)
    real = floats(source, x)
    near(
        compute("L2_NORMALIZATION", x, operands=[source], outputs=[output]),
        output,
        real / np.linalg.norm(real, axis=-1, keepdims=True),
    )


def test_activations_that_can_not_be_fused():
    with pytest.raises(UnimplementedError, match="TANH can't be fused"):
        module.activation_range(ACTIVATIONS.index("TANH"), operand("signed", 0.1))
    assert module.activation_range(ACTIVATIONS.index("RELU6"), quantized(np.uint8, 0.1, 10)) == (10, 70)
