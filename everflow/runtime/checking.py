"""A mode that compares what kernels do with what is declared of them (`kernels/facts.py`): slow, and for tests.

`ConfigProto.experimental.executor_type = "CHECKED"`, or EVERFLOW_EXECUTOR=CHECKED in the environment, switches it on. A
kernel that breaks its word raises an InternalError that says how.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import torch

from everflow.framework import dtypes, errors
from everflow.kernels import registry, tensors
from everflow.kernels.facts import Effect, Facts, Memory
from everflow.kernels.state import Buffer
from everflow.runtime.plan.program import FEED, Node, flat_results, input_counts

if TYPE_CHECKING:
    from everflow.runtime.hints import Value

# An argument's position, a piece of its memory, and what was in it before a call.
_Before: TypeAlias = tuple[int, torch.Tensor | np.ndarray, np.ndarray]

# Larger inputs are not compared before and after; a kernel is called a second time only for few elements.
_LARGEST, _LARGEST_TWICE = 1 << 20, 1 << 12
# Their results have other shapes than the graph says: in TensorFlow, too.
_OTHER_SHAPES = frozenset(
    """
    DeserializeManySparse FractionalAvgPool FractionalMaxPool FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3
    TensorListElementShape
    """.split()
)
# How far numpy may go to find out whether two strided pieces of memory really meet.
_EFFORT = 1 << 16


def checked(node: Node, function: Callable, facts: Facts) -> Callable:
    """The function of a node's kernel, which from now on looks at what each call did."""
    check = _Check(node, function, facts)

    def call(*arguments: Value, **keywords: Any) -> Value:
        return check(arguments, keywords)

    # By this the emitter knows functions that can write over an operand.
    call.func = getattr(function, "func", function)  # type: ignore[attr-defined]  # as `functools.partial` has one
    return call


def effect_of(node: Node, facts: Facts) -> Effect:
    """What a kernel does besides its results, declared or derived."""
    if facts.effect is not None:
        return facts.effect
    entry = registry.lookup(node.type)
    context = entry.context_names if entry is not None else ()
    return Effect.ACTS if node.is_stateful or {"session", "step"} & set(context) else Effect.PURE


# How many calls of kernels each thread has begun, and ended: inputs that change while others compute prove nothing.
_begun: Counter = Counter()
_ended: Counter = Counter()


def _others(calls: Counter) -> dict[int, int]:
    mine = threading.get_ident()
    return {thread: count for thread, count in calls.copy().items() if thread != mine}


class _Check:
    """The calls of one node."""

    def __init__(self, node: Node, function: Callable, facts: Facts) -> None:
        self._node, self._function, self._facts = node, function, facts
        self._effect = effect_of(node, facts)
        self._former: list = []  # weak references to what was given out last
        self._written = self._written_positions()
        # What is kept or comes from outside has the shape that the program says it has, or not; so has what is made of
        # a fed constant.
        fed = any(
            source.type == FEED and source.op is not None and source.op.type == "Const" for source, _ in node.inputs
        )
        self._knows_shapes = self._effect is Effect.PURE and node.type not in _OTHER_SHAPES and not fed

    def __call__(self, arguments: tuple[Value, ...], keywords: dict[str, Any]) -> Value:
        thread = threading.get_ident()
        _begun[thread] += 1
        try:
            return self._call(arguments, keywords)
        finally:
            _ended[thread] += 1

    def _call(self, arguments: tuple[Value, ...], keywords: dict[str, Any]) -> Value:
        others = _others(_ended)
        out = keywords.get("out")
        before = [] if "step" in keywords or "session" in keywords else self._contents(arguments, out)
        result = self._function(*arguments, **keywords)
        results = self._flat(result)
        self._check_form(results)
        if out is None:
            self._check_memory(arguments, results)
        again = None
        if out is None and self._effect is Effect.PURE and _count(arguments) <= _LARGEST_TWICE:
            again = self._flat(self._function(*arguments, **keywords))
            self._check_memory(arguments, again)
        changed, differing = self._changed(before), again is not None and not _all_alike(results, again)
        if _others(_begun) == others:  # nobody was at work when it began, and nobody has begun since
            if changed is not None:
                self._fail(f"write {sorted(self._written) or 'nothing'}", f"it changed input {changed}")
            if differing:
                self._fail("be pure", "a second call with the same inputs gave something else")
        return result

    def _fail(self, fact: str, seen: str) -> NoReturn:
        raise errors.InternalError(
            None, None, f"The kernel of {self._node.type} is declared to {fact}, but {seen} ({self._node.name!r})"
        )

    def _flat(self, result: Value) -> list[Value]:
        return flat_results(self._node, result)

    # --- inputs --------------------------------------------------------------------------------

    def _written_positions(self) -> frozenset[int]:
        """The arguments it may change."""
        if self._facts.writes is not None:
            return frozenset(self._facts.writes)
        counts = input_counts(self._node)
        return frozenset(i for i, (a, _) in enumerate(counts) if a.is_ref or a.type is dtypes.resource)

    def _contents(self, arguments: tuple[Value, ...], out: torch.Tensor | None) -> list[_Before]:
        """(position, memory, what is in it) of what must stay as it is."""
        changing = [piece for i in self._written if i < len(arguments) for piece in _held(arguments[i])]
        changing += [] if out is None else [out]
        kept = [(i, p) for i, value in enumerate(arguments) if i not in self._written for p in _held(value)]
        return [
            (i, p, _bits(p)) for i, p in kept if _size(p) <= _LARGEST and not any(_meet(p, other) for other in changing)
        ]

    @staticmethod
    def _changed(before: list[_Before]) -> int | None:
        """The first argument whose memory is not as it was."""
        return next((position for position, piece, bits in before if not np.array_equal(bits, _bits(piece))), None)

    # --- results -------------------------------------------------------------------------------

    def _check_form(self, results: list[Value]) -> None:
        for i, (value, dtype, shape) in enumerate(
            zip(results, self._node.output_dtypes, self._node.output_shapes, strict=True)
        ):
            if dtype._is_ref_dtype or dtype in (dtypes.resource, dtypes.variant):
                continue
            text = dtype is dtypes.string
            if text and not isinstance(value, (np.ndarray, torch.Tensor, bytes, str)):
                continue  # a handle of old times
            found = value.dtype if isinstance(value, torch.Tensor if not text else np.ndarray) else type(value).__name__
            if found != (np.dtype(object) if text else tensors.torch_dtype(dtype)):
                self._fail(f"give {dtype.name}", f"result {i} is {found}")
            if text and any(isinstance(entry, np.ndarray) for entry in value.ravel()):
                self._fail("give strings", f"result {i} holds an array in the place of one")
            if self._knows_shapes and shape is not None and not shape.is_compatible_with(tuple(value.shape)):
                self._fail(f"give the shape {shape}", f"result {i} has {list(value.shape)}")

    def _check_memory(self, arguments: tuple[Value, ...], results: list[Value]) -> None:
        kind, allowed = self._facts.result.memory, self._facts.result.of or range(len(arguments))
        if kind is Memory.UNKNOWN:
            return
        fact = "give fresh memory" if kind is Memory.FRESH else f"give fresh memory or that of {list(allowed)}"
        if kind is Memory.FRESH:
            allowed = ()
        taken = [[piece for piece in _held(a, deep=True) if _size(piece)] for a in arguments]
        own = []  # (result, piece) that no argument may be the reason of
        for i, (value, dtype) in enumerate(zip(results, self._node.output_dtypes, strict=True)):
            for piece in () if dtype is dtypes.resource else _held(value, deep=True):
                touched = [a for a, pieces in enumerate(taken) if any(_meet(piece, p) for p in pieces)]
                if not touched:
                    own.append((i, piece))
                elif not set(touched) & set(allowed):
                    self._fail(fact, f"result {i} lies in the memory of input {touched[0]}")
        for i, piece in own:
            for j, other in own:
                if i < j and _meet(piece, other):
                    self._fail(fact, f"results {i} and {j} share memory")
            if any(_meet(piece, former) for former in (ref() for ref in self._former) if former is not None):
                self._fail(fact, f"result {i} has the memory that was given out before")
        self._former = [weakref.ref(piece) for _, piece in own]


# --- memory ------------------------------------------------------------------------------------


def _held(value: Value, deep: bool = False) -> Iterator:
    """The tensors and arrays of strings that a kernel's value is made of; `deep` looks into lists of tensors and the
    like, too.
    """
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, np.ndarray):
        yield value
        if deep and value.size and not isinstance(value.flat[0], bytes):
            yield from _held(value.ravel().tolist(), deep)
    elif isinstance(value, (list, tuple, deque)):
        for item in list(value):
            yield from _held(item, deep)
    elif isinstance(value, Buffer):
        yield from _held(value.value, deep)
    elif deep and hasattr(value, "__iter__") and type(value).__module__ == "everflow.kernels.tensor_arrays.lists":
        yield from _held(value.items(), deep)
    elif deep and type(value).__module__ in _HOLDERS:
        names = [*getattr(type(value), "__slots__", ()), *getattr(value, "__dict__", ())]
        yield from _held([getattr(value, name) for name in names if name != "__weakref__"], deep)


# Where the objects are defined that hold the tensors they were made of.
_HOLDERS = frozenset(
    f"everflow.kernels.{name}"
    for name in ("ragged", "sparse.serialize", "math.running_sums", "tensor_arrays.tensor_array", "data.iterators")
)


class _Place:
    """The memory of a torch tensor, for numpy to look at."""

    def __init__(self, tensor: torch.Tensor) -> None:
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{size}",
            "data": (tensor.data_ptr(), False),
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * size for stride in tensor.stride()),
        }


def _place(piece: torch.Tensor | np.ndarray) -> np.ndarray:
    return np.asarray(_Place(piece)) if isinstance(piece, torch.Tensor) else piece


def _size(piece: torch.Tensor | np.ndarray) -> int:
    return piece.numel() if isinstance(piece, torch.Tensor) else piece.size


def _count(arguments: tuple[Value, ...]) -> int:
    return sum(_size(piece) for piece in _held(arguments, deep=True))


def _meet(one: torch.Tensor | np.ndarray, other: torch.Tensor | np.ndarray) -> bool:
    """Whether two pieces have an element in common."""
    if not _size(one) or not _size(other):
        return False
    one, other = _place(one), _place(other)
    if not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, max_work=_EFFORT)  # type: ignore[arg-type]  # numpy's hints know only the two special values
    except np.exceptions.TooHardError:
        return True


def _all_alike(results: list[Value], others: list[Value]) -> bool:
    pairs = zip(_held(results, deep=True), _held(others, deep=True), strict=True)
    return all(one.shape == other.shape and _alike(one, other) for one, other in pairs)


def _alike(one: Any, other: Any) -> bool:
    """Whether two results are the same. LAPACK rounds differently as memory lies differently."""
    if np.array_equal(_bits(one), _bits(other)):
        return True
    if not isinstance(one, torch.Tensor) or not (one.is_floating_point() or one.is_complex()):
        return False
    error = torch.finfo(one.dtype).eps ** 0.5
    return torch.allclose(one, other, error, error, equal_nan=True)


def _bits(piece: torch.Tensor | np.ndarray) -> np.ndarray:
    """What is in a piece of memory, such that NaN equals NaN."""
    if isinstance(piece, torch.Tensor):
        copy = torch.empty(piece.numel(), dtype=piece.dtype)
        copy.view(piece.shape).copy_(piece)
        return copy.view(torch.uint8).numpy()
    flat = np.empty(piece.size, object)
    flat[:] = [item if isinstance(item, bytes) else type(item) for item in piece.ravel().tolist()]
    return flat
