"""The update rules as expressions beside the kernels, and beside what TensorFlow 1.15 gave."""

import numpy as np
import pytest
import torch

from everflow.framework import dtypes
from everflow.kernels import registry, training
from everflow.kernels.state import ResourceVariable
from everflow.native import lowering
from everflow.native.values import input_value
from tests.native.expressions import evaluated

registry.load_all()
SCALARS = {
    "alpha": 0.013, "lr": 0.0123, "momentum": 0.87, "beta1_power": 0.9**3, "beta2_power": 0.999**3, "beta1": 0.9, "beta2": 0.999,
    "epsilon": 1e-7, "rho": 0.93, "l1": 0.02, "l2": 0.03, "l2_shrinkage": 0.011, "lr_power": -0.5, "sign_decay": 0.9, "beta": 0.91, "logbase": 1.3,
}  # fmt: skip
CASES = [
    (name, {attribute: value} if attribute else {})
    for name, (_, _, _, attribute) in training._RULES.items()
    if lowering.find(f"ResourceApply{name}") is not None
    for value in ([False, True] if attribute else [None])
]


def expression(name, inputs, attributes):
    """What numpy gives for the lowering of ResourceApply..."""
    found = lowering.find(f"ResourceApply{name}")
    values = [x if i in found.known else input_value(i, x.dtype, x.shape) for i, x in enumerate(inputs)]
    results = found.function(*values, **attributes)
    return [evaluated(r, inputs) for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("name, attributes", CASES, ids=[f"{n}{list(a.values())}" for n, a in CASES])
def test_a_rule_says_what_its_kernel_does(name, attributes):
    random = np.random.RandomState(0)
    _, slots, rest, _ = training._RULES[name]
    held = [random.rand(3, 5) * 0.1 + 0.5 for _ in range(slots)]
    others = [random.randn(3, 5) if n in ("grad", "delta") else np.array(SCALARS[n]) for n in rest.split()]
    got = expression(name, held + others, attributes)
    variables = []
    for array in held:
        variables.append(ResourceVariable(dtypes.float64))
        variables[-1].assign(torch.from_numpy(array))
    function = registry.function_of(f"ResourceApply{name}")
    function(*variables, *(torch.from_numpy(np.asarray(x)) for x in others), **attributes)
    assert len(got) == slots
    for value, variable in zip(got, variables, strict=True):
        np.testing.assert_allclose(value, variable.value.numpy(), rtol=1e-12)


def test_a_gradient_of_another_shape_is_the_kernels_to_refuse():
    found = lowering.find("ApplyMomentum")
    var, scalar = input_value(0, "f4", [3]), input_value(1, "f4", [])
    assert found.function(var, var, scalar, scalar, scalar, use_nesterov=False) is None
    assert found.function(var, var, scalar, var, var, use_nesterov=False) is None


# One step from var, m = 0.1, v = 0.2 with gradient: what TensorFlow's ResourceApplyAdam gave in single precision.
ADAM = (
    [0.1, -2.3, 0.7, 1.9],
    [0.3, -0.4, 5.1, 0.01],
    [0.09933310002088547, -2.3002777099609375, 0.6968626976013184, 1.8994941711425781],
)


def test_adam_rounds_as_tensorflow_does():
    f4 = np.float32
    var, gradient, expected = (np.array(x, f4) for x in ADAM)
    rates = [f4(SCALARS[n]) for n in ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")]
    inputs = [var, np.full(4, 0.1, f4), np.full(4, 0.2, f4), *map(np.asarray, rates), gradient]
    np.testing.assert_array_equal(expression("Adam", inputs, {"use_nesterov": False})[0], expected)


def test_joint_rules_are_those_of_each_variable():
    found = lowering.find("_ApplyAdams")
    held = [input_value(i, "f4", [3 + i % 2]) for i in range(6)]
    rates = [input_value(6 + i, "f4", []) for i in range(6)]
    gradients = [input_value(12 + i, "f4", [3 + i]) for i in range(2)]
    alone = [
        lowering.find("ApplyAdam").function(*held[i::2], *rates, gradients[i], use_nesterov=False) for i in range(2)
    ]
    assert found.function(*held, *rates, *gradients, N=2) == tuple(v for pair in zip(*alone, strict=True) for v in pair)
