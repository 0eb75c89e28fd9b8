"""Which of the kernels that only plans have give the very bits of the ops they stand for, and that these do.

Numbers include infinities, NaNs, zeros of both signs and some too small for full precision. (Which NaN is not looked
at.)
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from everflow.framework import dtypes
from everflow.kernels import registry
from everflow.kernels.state import Ref, ResourceVariable
from everflow.runtime.plan import reuse

# Op type: whether it keeps bits, and why.
KEEPS_BITS = {
    "_AddScaled": (True, "multiplies, divides by one, adds: each rounds, whatever the factor"),
    "_SubScaled": (True, "as _AddScaled"),
    "_MatMulBias": (True, "the bias is added to the finished product"),
    "_Conv2DBias": (True, "the bias is added to the finished convolution"),
    "_ScaleRef": (True, "the same multiplication, in place"),
    "_ScaleResource": (True, "as _ScaleRef"),
    "_StepRef": (True, "multiplies, divides, subtracts: each rounds"),
    "_StepResource": (True, "as _StepRef"),
    "_MoveTowards": (True, "subtracts, multiplies, subtracts: each rounds"),
    "_ApplyGradientDescents": (True, "each variable as ApplyGradientDescent does it, and as TensorFlow does"),
    "_ApplyAdams": (True, "each variable as ApplyAdam does it; both round less often than TensorFlow"),
    "_SumOfSlices": (
        True,
        "parts are added in their order; only a sum of nothing but negative zeros becomes a positive one",
    ),
    "_AddProduct": (False, "rounded once: a fused multiply-add"),
    "_MatMulColumns": (False, "the library sums in another order for products of another shape"),
    "_SumOfMatMuls": (False, "one long sum instead of a sum of sums"),
    "_SumOfRows": (False, "one long sum instead of a sum of sums"),
    "_RunningSum": (False, "begins a sum whose parts are added many at a time"),
    "_RunningSumOfMatMuls": (False, "one long sum instead of a sum of sums"),
    "_RunningSumOfRows": (False, "one long sum instead of a sum of sums"),
    "_Total": (False, "ends a running sum"),
}
# They move values or characters, or do the same for many images, or many calls, at once.
NOT_FUSED = set(
    """
    _CollectiveStart _CollectiveWait _Send _Recv _CropImages _DecodeJpegs _DecodePngs _ImageShapes _RandomStandardNormals _RandomUniformInts
    _RandomUniforms _ResizeAreas _ResizeBicubics _ResizeBilinears _ResizeNearestNeighbors _StackImages _TruncatedNormals _UnicodeCharacters
    """.split()
)

FLOATS = [torch.float32, torch.float64]
SHAPES = [(), (1,), (7,), (3, 5), (33, 17), (2, 1, 9), (40003,)]
BITS = {torch.float16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}
FACTORS = [0.5, -2.0, 0.1, -0.7, 1e-30, 3e20, 0.0]


@pytest.fixture(params=[False, True], ids=["with denormals", "without denormals"], autouse=True)
def _denormals(request):
    torch.set_flush_denormal(request.param)
    yield
    torch.set_flush_denormal(False)


def numbers(shape, dtype, seed, special=True, transposed=False):
    """Normal values of many sizes; `special`: some are of the unusual kinds."""
    rng = np.random.default_rng(seed)
    shape = shape[::-1] if transposed else shape
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)
    if special:
        tiny = float(torch.finfo(dtype).tiny)
        unusual = np.array(
            [np.inf, -np.inf, np.nan, 0.0, -0.0, tiny, tiny / 8, -tiny / 64, float(torch.finfo(dtype).max)]
        )
        values = np.where(rng.random(shape) < 0.15, rng.choice(unusual, shape), values)
    tensor = torch.from_numpy(np.asarray(values)).to(dtype)
    return tensor.permute(*reversed(range(tensor.dim()))) if transposed else tensor


def assert_same_bits(mine, plain):
    assert mine.shape == plain.shape and mine.dtype is plain.dtype
    bits = BITS[mine.dtype]
    same = (mine.contiguous().view(bits) == plain.contiguous().view(bits)) | (mine.isnan() & plain.isnan())
    assert bool(same.all()), (mine[~same][:5], plain[~same][:5])


def run(op_type, *inputs, **attributes):
    """An op's kernel, as it stands without knowledge of a node."""
    return registry.lookup(op_type).function(*inputs, **attributes)


def variable(value, kind=Ref):
    made = kind(dtypes.as_dtype(str(value.dtype).split(".")[1]), "v")
    made.value = value.clone()
    return made


def number(value, dtype):
    return torch.tensor(value, dtype=dtype)


over_numbers = pytest.mark.parametrize(
    "shape, dtype, transposed",
    [(s, d, t) for s, d, t in itertools.product(SHAPES, FLOATS, (False, True)) if not t or len(s) > 1],
)


def test_the_table_is_complete():
    assert set(KEEPS_BITS) | NOT_FUSED == {name for name in registry.names() if name.startswith("_")}


@pytest.mark.parametrize("factor", FACTORS)
@over_numbers
def test_sums_with_scaled_tensors(shape, dtype, transposed, factor):
    x, y = numbers(shape, dtype, 1), numbers(shape, dtype, 2, transposed=transposed)
    factor = number(factor, dtype)
    for op_type, plain in (("_AddScaled", "AddV2"), ("_SubScaled", "Sub")):
        expected = run(plain, x, run("Mul", y, factor))
        node = SimpleNamespace(
            type=op_type,
            output_dtypes=[dtypes.as_dtype(str(dtype).split(".")[1])],
            attribute={"alpha": factor.item()}.get,
        )
        assert_same_bits(run(op_type, x, y, alpha=factor.item(), node=node), expected)
        assert_same_bits(registry.specialized(node)(x, y), expected)
        if shape:
            assert_same_bits(registry.specialized(node)(x, y, out=y.clone()), expected)


def test_half_precision_is_rounded_twice_too():
    x, y = (numbers((301,), torch.float16, seed, special=False).clamp(-100, 100) for seed in (1, 2))
    node = SimpleNamespace(type="_AddScaled", output_dtypes=[dtypes.float16], attribute={"alpha": 0.3}.get)
    factor = number(0.3, torch.float16)
    assert registry.specialized(node) is None
    assert_same_bits(run("_AddScaled", x, y, alpha=factor.item(), node=node), run("AddV2", x, run("Mul", y, factor)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "rows, inner, columns", [(1, 1, 1), (1, 100, 7), (3, 5, 2), (17, 33, 10), (64, 4, 1), (100, 300, 65), (2, 0, 3)]
)
def test_products_with_a_bias(rows, inner, columns, dtype):
    for (a, b), special in itertools.product(itertools.product((False, True), repeat=2), (False, True)):
        left = numbers((inner, rows) if a else (rows, inner), dtype, 1, special)
        right = numbers((columns, inner) if b else (inner, columns), dtype, 2, special)
        bias = numbers((columns,), dtype, 3, special)
        expected = run("BiasAdd", run("MatMul", left, right, transpose_a=a, transpose_b=b), bias, data_format="NHWC")
        assert_same_bits(run("_MatMulBias", left, right, bias, transpose_a=a, transpose_b=b), expected)
        node = SimpleNamespace(type="_MatMulBias", attribute={"transpose_a": a, "transpose_b": b}.get)
        assert_same_bits(registry.specialized(node)(left, right, bias), expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "images, filters, stride",
    [
        ((2, 8, 8, 3), (3, 3, 3, 4), 1),
        ((4, 28, 28, 1), (5, 5, 1, 32), 1),
        ((3, 9, 7, 5), (2, 3, 5, 6), 2),
        ((2, 6, 5, 4), (3, 5, 4, 8), 1),
    ],
)
def test_convolutions_with_a_bias(images, filters, stride, dtype):
    x, w, bias = numbers(images, dtype, 1, False), numbers(filters, dtype, 2, False), numbers(filters[3:], dtype, 3)
    for padding in ("SAME", "VALID"):
        form = {
            "strides": [1, stride, stride, 1],
            "padding": padding,
            "explicit_paddings": [],
            "data_format": "NHWC",
            "dilations": [1] * 4,
        }
        expected = run("BiasAdd", run("Conv2D", x, w, **form), bias, data_format="NHWC")
        assert_same_bits(run("_Conv2DBias", x, w, bias, **form), expected)


@pytest.mark.parametrize("rate", FACTORS)
@over_numbers
def test_changes_of_one_variable(shape, dtype, transposed, rate):
    old, rate = numbers(shape, dtype, 1), number(rate, dtype)
    other, third = numbers(shape, dtype, 2, transposed=transposed), numbers(shape, dtype, 3)
    for kind, suffix in ((Ref, "Ref"), (ResourceVariable, "Resource")):
        scaled = variable(old, kind)
        run(f"_Scale{suffix}", scaled, rate)
        assert_same_bits(scaled.value, run("Mul", old, rate))
        stepped = variable(old, kind)
        run(f"_Step{suffix}", stepped, rate, other, third)
        assert_same_bits(stepped.value, run("Sub", old, run("RealDiv", run("Mul", rate, other), third)))
        moved = variable(old, kind)
        run("_MoveTowards", moved, other, rate)
        assert_same_bits(moved.value, run("Sub", old, run("Mul", run("Sub", old, other), rate)))


@pytest.mark.parametrize("rate", FACTORS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_descent(dtype, rate):
    old = [numbers(shape, dtype, seed) for seed, shape in enumerate(SHAPES)]
    gradients = [numbers(shape, dtype, 50 + seed, transposed=len(shape) == 2) for seed, shape in enumerate(SHAPES)]
    rate = number(rate, dtype)
    joint, alone = [variable(v) for v in old], [variable(v) for v in old]
    run("_ApplyGradientDescents", joint, rate, gradients)
    for one, start, together, gradient in zip(alone, old, joint, gradients, strict=True):
        run("ApplyGradientDescent", one, rate, gradient)
        assert_same_bits(one.value, run("Sub", start, run("Mul", gradient, rate)))
        assert_same_bits(together.value, one.value)


@pytest.mark.parametrize("dtype", FLOATS)
def test_adam(dtype):
    start = [
        [numbers(shape, dtype, 100 * slot + seed, slot < 2) for seed, shape in enumerate(SHAPES)] for slot in range(3)
    ]
    start[2] = [v.abs() for v in start[2]]
    gradients = [numbers(shape, dtype, 400 + seed, transposed=len(shape) == 2) for seed, shape in enumerate(SHAPES)]
    rates = [number(value, dtype) for value in (0.9, 0.999, 0.001, 0.9, 0.999, 1e-8)]
    joint, alone = ([[variable(v) for v in slot] for slot in start] for _ in range(2))
    run("_ApplyAdams", *joint, *rates, gradients)
    for i, gradient in enumerate(gradients):
        run("ApplyAdam", *(slot[i] for slot in alone), *rates, gradient, use_nesterov=False)
        for mine, one in zip(joint, alone, strict=True):
            assert_same_bits(mine[i].value, one[i].value)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_slices(dtype):
    keys = [(slice(0, 4),), (slice(2, 6), slice(1, 3)), (3,), (slice(0, 6, 2), slice(0, 5, 3))]
    shape = (6, 5)
    parts = [numbers(tuple(torch.empty(shape)[key].shape), dtype, seed) for seed, key in enumerate(keys)]
    spread = []
    for key, part in zip(keys, parts, strict=True):
        spread.append(torch.zeros(shape, dtype=dtype))
        spread[-1][key] = part
    assert_same_bits(run("_SumOfSlices", torch.tensor(shape), parts, keys=keys), run("AddN", spread))


@pytest.mark.parametrize("function", sorted(reuse.WITH_OUT, key=lambda f: f.__name__))
@pytest.mark.parametrize("dtype", FLOATS)
def test_results_written_over_operands(function, dtype):
    operands = {torch.addcmul: 3, torch.addcdiv: 3}.get(
        function, 2 if function in (torch.add, torch.sub, torch.mul, torch.true_divide) else 1
    )
    for size in (1, 5, 17, 4099):
        inputs = [numbers((size,), dtype, seed) for seed in range(operands)]
        expected = function(*inputs)
        for place in range(operands):
            copies = [x.clone() for x in inputs]
            assert_same_bits(function(*copies, out=copies[place]), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_relu_in_place(dtype):
    for function, in_place in reuse.IN_PLACE.items():
        x = numbers((4099,), dtype, 1)
        assert_same_bits(in_place(x.clone()), function(x))
