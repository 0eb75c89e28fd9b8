"""Rules registered by op type, static shapes and gradients, and shapes inferred by them. `docs/adding-ops.md` says how to
write one.

Packages whose modules register something are `Families`: imported when the first look-up asks, whichever thread it is in.
"""

from __future__ import annotations

import functools
import importlib
import importlib.resources
import pkgutil
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from everflow.framework import op_defs
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.forking import renewed
from everflow.framework.shapes import TensorShape, as_shape

if TYPE_CHECKING:
    from everflow.framework.hints import GradientFunction, ShapeRule
    from everflow.framework.operation import Operation

_Rule = TypeVar("_Rule", bound=Callable[..., Any])


class Families:
    """The modules of a package and of those inside it, to be imported once."""

    def __init__(self, package: str, without: frozenset[str] = frozenset()):
        """`without` are packages inside it that register nothing."""
        self._package = package
        self._without = without
        self._loaded = self._loading = False
        self._lock = renewed(threading.RLock())  # another thread's look-up waits until all is there

    def load(self) -> None:
        """Import all of them, once."""
        if self._loaded:
            return
        with self._lock:
            if self._loaded or self._loading:  # the modules that are being imported look things up themselves
                return
            self._loading = True
            try:
                self._import(self._package)
                self._loaded = True
            finally:
                self._loading = False

    def _import(self, name: str) -> None:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__, f"{name}."):
            if module.ispkg and module.name.removeprefix(f"{self._package}.") not in self._without:
                self._import(module.name)
            elif not module.ispkg:
                importlib.import_module(module.name)


_shape_rules: dict[str, ShapeRule] = {}
_gradients: dict[str, GradientFunction | None] = {}
_families: list[Families] = []


def add_families(families: Families) -> None:
    """Modules that register rules, to be loaded when a rule is asked for that isn't known."""
    _families.append(families)


def load_all() -> None:
    """Import every family of ops, so that rules for graphs from files are known."""
    for families in _families:
        families.load()


def shape_rule(*op_types: str) -> Callable[[_Rule], _Rule]:
    """Register `rule(op)`, which returns the static shapes of an op's outputs."""

    def register(rule: _Rule) -> _Rule:
        for op_type in op_types:
            if op_type in _shape_rules:
                raise ValueError(f"Op type {op_type!r} has a shape rule already")
            _shape_rules[op_type] = rule
        return rule

    return register


def gradient(*op_types: str) -> Callable[[_Rule], _Rule]:
    """Register `fn(op, *grads)`, which returns a gradient for each input of an op."""

    def register(function: _Rule) -> _Rule:
        for op_type in op_types:
            _register_gradient(op_type, function)
        return function

    return register


def _register_gradient(op_type: str, function: GradientFunction | None) -> None:
    if op_type in _gradients:
        raise KeyError(f"Registering two gradients with name '{op_type}'!")
    _gradients[op_type] = function


class RegisterGradient:
    """Decorator that registers a gradient function for an op type (or a name for `gradient_override_map`).

    Args:
        op_type: The op type, or the name that `Graph.gradient_override_map` uses.

    Example:
        >>> @tf.RegisterGradient("Doubled")
        ... def doubled(op, grad):
        ...     return 2.0 * grad
        >>> x = tf.constant(1.0)
        >>> with tf.get_default_graph().gradient_override_map({"Identity": "Doubled"}):
        ...     y = tf.identity(x)
        >>> sess.run(tf.gradients(y, x))
        [np.float32(2.0)]
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: _Rule) -> _Rule:
        _know_gradient_of(self._op_type)
        _register_gradient(self._op_type, f)
        return f


def not_differentiable(*op_types: str) -> None:
    """Say that op types have no gradient: nothing flows back through them."""
    for op_type in op_types:
        _register_gradient(op_type, None)


def NotDifferentiable(op_type: str) -> None:
    """Say that an op type has no gradient: nothing flows back through it.

    Args:
        op_type: The op type.

    Returns:
        None.

    Raises:
        TypeError: If the op type is not a string.

    Example:
        >>> tf.NoGradient("MyOpWithoutGradient")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _know_gradient_of(op_type)
    _register_gradient(op_type, None)


def _know_gradient_of(op_type: str) -> None:
    """Have our own gradient of an op type in place, so that a program's second one is refused where the program makes
    it.
    """
    if op_defs.find(op_type) is not None:
        load_all()


def find_shape_rule(op_type: str) -> ShapeRule | None:
    """The shape rule of an op type, or None."""
    if op_type not in _shape_rules:
        load_all()
    return _shape_rules.get(op_type)


def find_gradient(op_type: str) -> GradientFunction | None:
    """The gradient function of an op type, None where it is not differentiable; LookupError where nothing is
    registered.
    """
    if op_type not in _gradients:
        load_all()
    if op_type not in _gradients:
        raise LookupError(f"gradient registry has no entry for: {op_type}")
    return _gradients[op_type]


# --- shapes by rules ------------------------------------------------------------------------

_UNEQUAL = re.compile(r"Shapes \(([\d?, ]*)\) and \(([\d?, ]*)\) are not compatible$")
_UNEQUAL_SIZES = re.compile(r"Dimensions (\d+) and (\d+) are not compatible$")


def _what_differs(message: str) -> str:
    """Where shapes that are to be one are two: the sizes, or the ranks, that differ."""
    if sizes := _UNEQUAL_SIZES.search(message):
        return f". Dimensions must be equal, but are {sizes[1]} and {sizes[2]}"
    if (found := _UNEQUAL.search(message)) is None:
        return ""
    one, other = ([size for size in part.replace(" ", "").split(",") if size] for part in found.groups())
    if len(one) != len(other):
        return f". Shapes must be equal rank, but are {len(one)} and {len(other)}"
    a, b = next((pair for pair in zip(one, other) if pair[0] != pair[1] and "?" not in pair), ("?", "?"))
    return f". Dimensions must be equal, but are {a} and {b}"


@functools.cache
def _input_ranks() -> dict[str, list[tuple[int, int] | None]]:
    """{op type: least and greatest rank of each argument, None for any}, for op types whose shape rules don't look at all
    of their inputs.

    A line of `input_ranks.txt` has a rank for each argument of the op types behind it: `2`, `1+` (at least), `1-` (at
    most) or `-` for any. An argument that is a list of tensors has one for all of them; arguments at the end that may
    have any are left out.
    """
    lines = importlib.resources.files("everflow.framework").joinpath("input_ranks.txt").read_text().splitlines()
    found = {}
    for ranks, op_types in (line.split(": ") for line in lines):
        found.update(dict.fromkeys(op_types.split(), [_limits(rank) for rank in ranks.split()]))
    return found


def _limits(rank: str) -> tuple[int, int] | None:
    if rank == "-":
        return None
    least = 0 if rank.endswith("-") else int(rank[0])
    return least, 99 if rank.endswith("+") else int(rank[0])


def _check_input_ranks(op: Operation) -> None:
    """ValueError where an input of an op has a rank that its argument can't have."""
    limits = _input_ranks().get(op._type)
    if limits is None:
        return
    tensors = iter(op.inputs)
    for arg, limit in zip(op_defs.get(op._type).inputs, limits):
        for _ in op_defs.arg_dtypes(arg, op.attrs):
            rank = next(tensors).shape.rank
            if rank is not None and limit is not None and not limit[0] <= rank <= limit[1]:
                raise ValueError(f"Shape must be {_said(*limit)} but is rank {rank}")


def _said(least: int, most: int) -> str:
    if least == most:
        return f"rank {least}"
    return f"at most rank {most}" if least == 0 else f"at least rank {least}"


def inferred_shapes(op: Operation) -> Any:
    """What the rule of an op's type says of the shapes of its outputs; ValueError where the inputs' don't fit."""
    rule = find_shape_rule(op._type)
    try:
        _check_input_ranks(op)
        return None if rule is None else rule(op)
    except (ValueError, InvalidArgumentError) as e:
        message = e.message if isinstance(e, InvalidArgumentError) else str(e)
        inputs = ", ".join(
            "?" if t.shape.rank is None else "[" + ",".join(map(str, t.shape.dims)) + "]" for t in op.inputs
        )
        message += _what_differs(message)
        raise ValueError(f"{message} for '{op.name}' (op: '{op.type}') with input shapes: {inputs}.") from None


def infer_shapes(op: Operation) -> None:
    """Set the static shapes of a new op's outputs by its op type's rule."""
    shapes = inferred_shapes(op)
    if shapes is None:
        return
    if isinstance(shapes, TensorShape) or len(op.outputs) == 1 and not isinstance(shapes, (list, tuple)):
        shapes = [shapes]
    if len(shapes) != len(op.outputs):
        raise AssertionError(f"The shape rule of {op.type} gave {len(shapes)} shapes for {len(op.outputs)} outputs")
    for tensor, shape in zip(op.outputs, shapes):
        shape = as_shape(shape)
        # A size that isn't known equals only itself, so a shape that was handed on gets sizes of its own.
        tensor._shape = shape if shape.is_fully_defined() else TensorShape(shape.sizes)
