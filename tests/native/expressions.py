"""Expressions evaluated by numpy, and random ones: what compiled regions are compared with.

python -m tests.native.expressions --seeds 0 10000      prints the seeds whose regions differ
"""

from __future__ import annotations

import argparse
import random
import sys
from unittest import mock

import numpy as np
import scipy.special

from everflow.native import products, row_blocks, together, toolchain
from everflow.native.codegen import Writer
from everflow.native.values import (
    CONST,
    EXPAND,
    INDEX,
    INPUT,
    JOIN,
    LEAVES,
    MAP,
    PERMUTE,
    PRODUCT,
    RESHAPE,
    TAKE,
    VIEW,
    WINDOWS,
    Value,
    apply,
    const,
    index,
    input_value,
    join,
    number_of,
    product,
    select,
    take,
)

_NUMPY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "maximum": lambda x, y: np.where(y > x, y, x),
    "minimum": lambda x, y: np.where(y < x, y, x),
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
    "is_nan": np.isnan,
    "is_inf": np.isinf,
    "is_finite": np.isfinite,
    "sigmoid": scipy.special.expit,
    "softplus": lambda x: np.logaddexp(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
_REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "any": np.any,
    "all": np.all,
    "peak": lambda x, axis: np.fmax.reduce(x, axis=axis, initial=-np.inf),
}


def evaluated(value: Value, inputs: list[np.ndarray], known: dict[Value, np.ndarray] | None = None) -> np.ndarray:
    """What numpy gives for an expression."""
    known = {} if known is None else known
    if value not in known:
        sources = [evaluated(s, inputs, known) for s in value.sources]
        known[value] = np.asarray(_evaluated(value, sources, inputs)).astype(value.dtype)
    assert known[value].shape == value.shape
    return known[value]


def _evaluated(value: Value, sources: list[np.ndarray], inputs: list[np.ndarray]) -> np.ndarray:
    if value.kind == INPUT:
        return inputs[value.detail]
    if value.kind == CONST:
        return np.asarray(number_of(value))
    if value.kind == INDEX:
        return np.arange(value.size)
    if value.kind == JOIN:
        return np.concatenate(sources, value.detail)
    if value.kind == PRODUCT:
        return sources[0] @ sources[1]
    if value.kind == TAKE:
        return sources[0].ravel()[sources[1]]
    if value.kind == MAP:
        if value.detail == "cast":
            return sources[0].astype(value.dtype)
        return (_NUMPY.get(value.detail) or getattr(np, value.detail))(*sources)
    if value.kind == VIEW:
        how, *rest = value.detail
        if how == EXPAND:
            return np.broadcast_to(sources[0], value.shape)
        if how == RESHAPE:
            return sources[0].reshape(value.shape)
        if how == PERMUTE:
            return sources[0].transpose(rest[0])
        if how == WINDOWS:
            steps, apart = rest
            (outer, down, across, inner), x = sources[0].strides, sources[0]
            moves = [down * steps[0], across * steps[1], down * apart[0], across * apart[1]]
            return np.lib.stride_tricks.as_strided(x, value.shape, (outer, *moves, inner))
        starts, steps = rest
        return sources[0][
            tuple(
                slice(a, None if (end := a + n * s) < 0 else end, s)
                for a, n, s in zip(starts, value.shape, steps, strict=True)
            )
        ]
    how, axes = value.detail
    return _REDUCTIONS[how](sources[0], axis=axes)


def compiled(
    outputs: list[Value], inputs: list[np.ndarray], threads: int = 1, updates: list[tuple[Value, Value]] | None = None
) -> list[np.ndarray]:
    """What machine code gives for some expressions, and then what the inputs hold that it writes over."""
    toolchain.gather_helpers(threads)
    writer = Writer()
    entry = writer.add(outputs, len(inputs), updates or [])
    file = toolchain.Loaded(toolchain.object_code(writer.text()), [entry.name])
    function = file.function(entry.name)
    arrays = [np.array(x, order="C") for x in inputs]
    results = [np.full(v.shape, 77, v.dtype) for v in outputs]
    scratch = np.full(entry.scratch + 1, 0xAA, np.uint8)
    function(*(a.ctypes.data for a in (*arrays, *results, scratch)), threads)
    return results + [arrays[target.detail] for _, target in updates or []]


class Drawn:
    """A random region: inputs, and some expressions over them."""

    def __init__(self, seed: int, moves: int = 12) -> None:
        self.random = random.Random(seed)
        rng = np.random.RandomState(seed)
        size = self.random.choice([3, 3, 7, 40])
        shapes = [[self.random.choice([1, 2, 3, size]) for _ in range(self.random.randint(0, 4))] for _ in range(3)]
        self.inputs = [
            rng.randint(-4, 5, shape).astype(self.random.choice(["f4", "f4", "f8", "i4", "i8", "bool"]))
            for shape in shapes
        ]
        self.pool = [input_value(i, x.dtype, x.shape) for i, x in enumerate(self.inputs)]
        for _ in range(moves):
            made = self.random.choice(
                [
                    self.arithmetic,
                    self.arithmetic,
                    self.view,
                    self.view,
                    self.reduction,
                    self.test,
                    self.places,
                    self.joined,
                    self.taken,
                    self.multiplied,
                ]
            )()
            if made.size < 200_000:
                self.pool.append(made)
        made = [v for v in self.pool[3:] if v.kind not in LEAVES]
        self.outputs = list(dict.fromkeys(self.random.sample(made, min(len(made), self.random.randint(1, 4)))))
        self.updates = [u for target in self.pool[:3] if (u := self.update(target)) is not None]

    def update(self, target: Value) -> tuple[Value, Value] | None:
        """What an input is overwritten with, if there is something like it; rather what was computed from it."""
        fit = [v for v in self.pool if v.shape == target.shape and v.dtype == target.dtype]
        if self.random.random() < 0.5 or not fit:
            return None
        value = self.random.choice(fit[-4:])
        if value.dtype != bool and self.random.random() < 0.5:
            value = value + target
        return value, target

    def pick(self) -> Value:
        return self.random.choice(self.pool[-6:] if self.random.random() < 0.7 else self.pool)

    def number(self) -> Value:
        value = self.pick()
        return value if value.dtype != bool else value.cast(np.dtype("f4"))

    def arithmetic(self) -> Value:
        one = self.number()
        if self.random.random() < 0.3:
            other = const(self.random.randint(-3, 3), one.dtype)
        else:
            other = self.number()
            if other.dtype != one.dtype:
                other = other.cast(one.dtype) if one.dtype.kind == "f" else const(2, one.dtype)
        try:
            np.broadcast_shapes(one.shape, other.shape)
        except ValueError:
            other = other.reduce("max", list(range(len(other.shape)))) if other.shape else other
        function = self.random.choice(["add", "sub", "mul", "maximum", "minimum", "neg", "abs"])
        return apply(function, one) if function in ("neg", "abs") else apply(function, one, other)

    def test(self) -> Value:
        one = self.number()
        condition = one > const(0, one.dtype)
        return select(condition, one, const(1, one.dtype)) if self.random.random() < 0.6 else condition

    def view(self) -> Value:
        value = self.pick()
        rank = len(value.shape)
        kind = self.random.choice(["permute", "slice", "reshape", "expand", *["windows"] * (rank == 4)])
        if kind == "windows":
            extents, steps, spread = ([self.random.randint(1, 2) for _ in range(2)] for _ in range(3))
            fits = all((e - 1) * s < n for e, s, n in zip(extents, spread, value.shape[1:3], strict=True))
            return value.windows(extents, steps, spread) if fits else value
        if kind == "permute":
            return value.permute(self.random.sample(range(rank), rank))
        if kind == "slice":
            starts = [self.random.randrange(n) for n in value.shape]
            steps = [self.random.choice([1, 1, 2, -1]) for _ in value.shape]
            lengths = [
                (n - a - 1) // s + 1 if s > 0 else a + 1 for a, n, s in zip(starts, value.shape, steps, strict=True)
            ]
            return value.slice(starts, lengths, steps)
        if kind == "expand":
            shape = [n if n > 1 else self.random.choice([1, 2, 5]) for n in value.shape]
            return value.expand([*([2] if rank < 4 and self.random.random() < 0.5 else []), *shape])
        factors = [n for n in value.shape for n in _factors(n)]
        shape = [1]
        for factor in factors:
            if self.random.random() < 0.5:
                shape[-1] *= factor
            else:
                shape.append(factor)
        return value.reshape(shape)

    def places(self) -> Value:
        """The index of each entry along an axis."""
        value = self.number()
        if not value.shape:
            return value
        axis = self.random.randrange(len(value.shape))
        numbers = index(value.shape[axis], value.dtype).reshape(
            [n if a == axis else 1 for a, n in enumerate(value.shape)]
        )
        return numbers.expand(value.shape) if self.random.random() < 0.5 else numbers * value

    def joined(self) -> Value:
        """Tensors of the pool that fit side by side."""
        value = self.pick()
        if not value.shape:
            return value
        axis = self.random.randrange(len(value.shape))
        rest = [n for a, n in enumerate(value.shape) if a != axis]
        fit = [
            v
            for v in self.pool
            if v.dtype == value.dtype
            and len(v.shape) == len(value.shape)
            and [n for a, n in enumerate(v.shape) if a != axis] == rest
        ]
        return join([value, *self.random.choices(fit, k=self.random.randint(0, 2))], axis)

    def taken(self) -> Value:
        """Entries of a tensor at places that are computed."""
        table, numbers = self.pick(), self.number().cast(np.dtype("i8"))
        while table.kind == VIEW and table.detail[0] == RESHAPE:
            table = table.sources[0]
        if table.kind in (CONST, INDEX):
            return numbers
        return take(table, apply("minimum", apply("maximum", numbers, 0), table.size - 1))

    def multiplied(self) -> Value:
        """A product of what is seen as two matrices."""
        one = self.number()
        if one.dtype.kind != "f" or one.kind in (CONST, INDEX):
            return one
        many = [v for v in self.pool if v.dtype == one.dtype and len(v.shape) == 3 and v.size <= 4000]
        if many and self.random.random() < 0.4:
            left = self.random.choice(many)
            fit = [v for v in many if v.shape[0] == left.shape[0] and v.shape[1] == left.shape[2]]
            return product(left, self.random.choice([left.permute([0, 2, 1]), *fit]))
        columns = self.random.choice(one.shape or (1,))
        left = one.reshape([one.size // columns, columns])
        left = left.permute([1, 0]) if self.random.random() < 0.3 else left
        inner = left.shape[1]
        fit = [v for v in self.pool if v.dtype == one.dtype and v.size % inner == 0 and v.size <= 4000]
        other = self.random.choice([left.permute([1, 0]), *fit])
        if self.random.random() < 0.5:
            return product(left, other.reshape([inner, other.size // inner]))
        return product(left, other.reshape([other.size // inner, inner]).permute([1, 0]))

    def reduction(self) -> Value:
        value = self.pick()
        if not value.shape:
            return value
        axes = self.random.sample(range(len(value.shape)), self.random.randint(1, len(value.shape)))
        how = self.random.choice(["any", "all"] if value.dtype == bool else ["sum", "max", "min"])
        return value.reduce(how, axes, keep=self.random.random() < 0.4)


def _factors(n: int) -> list[int]:
    return next(([p, *_factors(n // p)] for p in range(2, n + 1) if n % p == 0), [])


def compare(seed: int) -> None:
    """Numbers are small integers, so all must agree to the last bit."""
    drawn = Drawn(seed)
    if not drawn.outputs:
        return
    known: dict[Value, np.ndarray] = {}
    wanted = [*drawn.outputs, *(v for v, _ in drawn.updates)]
    expected = [evaluated(v, drawn.inputs, known) for v in wanted]
    if any(a.dtype.kind == "f" and a.size and not np.all(np.abs(a) < 2**22) for a in known.values()):
        return
    # Once as they are; once in small blocks, by threads that stay inside.
    for threads, block, enough in ((1, row_blocks.BLOCK, together.ENOUGH), (2, 64, 0)):
        with (
            mock.patch.multiple(row_blocks, BLOCK=block, FEWEST_ROWS=2),
            mock.patch.multiple(together, ENOUGH=enough, WORTH_SHARING=16),
            mock.patch.multiple(products, FEWEST=2, VECTOR=1),
        ):
            results = compiled(drawn.outputs, drawn.inputs, threads, drawn.updates)
        for value, want, got in zip(wanted, expected, results, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"seed {seed}: {value}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 1000), metavar=("FIRST", "END"))
    failed = 0
    for seed in range(*parser.parse_args().seeds):
        try:
            compare(seed)
        except Exception as e:
            failed += 1
            print(f"seed {seed}: {type(e).__name__}: {str(e)[:400]}", flush=True)
    print(f"{failed} differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
