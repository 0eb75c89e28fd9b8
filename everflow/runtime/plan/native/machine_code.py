"""The second tier: a plan's regions as machine code, and the functions by which the plan calls them."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from everflow.kernels import tensors
from everflow.kernels.random.distributions import next_place
from everflow.native import python_calls, tensor_objects, toolchain
from everflow.native.codegen import Entry, Writer
from everflow.native.nests import contiguous
from everflow.runtime.denormals import flush
from everflow.runtime.plan.binding import bind, call_arguments, constant_value, missing_kernel, once_value
from everflow.runtime.plan.failures import told
from everflow.runtime.plan.locking import excludes_others
from everflow.runtime.plan.native.edges import within
from everflow.runtime.plan.native.halves import halved
from everflow.runtime.plan.native.loop_calls import CALLBACKS, NativeLoop
from everflow.runtime.plan.native.loops import translate
from everflow.runtime.plan.native.memory_order import stands_for_variable
from everflow.runtime.plan.native.pairs import pair_up
from everflow.runtime.plan.native.regions import MOST_WORK, MOST_WORK_IN_ALL, Region, find_regions, plain_form, put_in
from everflow.runtime.plan.native.steps import NotNative
from everflow.runtime.plan.native.tiers import is_allowed
from everflow.runtime.plan.program import LOOP, Node, Program, flat_results
from everflow.runtime.threads import OF_PROCESS, use

if TYPE_CHECKING:
    from everflow.kernels.state import Buffer
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState


def with_machine_code(
    program: Program, state: SessionState, may: Callable[[Node], bool] = is_allowed, in_pairs: bool = False
) -> int:
    """Let loops and regions of a program's nodes that `may` be machine code; how many there are. This takes long, mostly
    outside of Python's lock. `in_pairs`: what is heavy may run side by side.
    """
    loops = sum(_make_loop(program, loop, state, in_pairs) for loop in _loops(program) if all(map(may, within(loop))))
    regions = _make_regions(program, state, may)
    if in_pairs and loops + regions:
        pair_up(program)
    return loops + regions


def _make_regions(program: Program, state: SessionState, may: Callable[[Node], bool]) -> int:
    writer = Writer(toolchain.can_share())
    made: list[tuple[Node, Region, Entry]] = []
    for block, ordered, behind, regions in find_regions(program, may):
        chosen: dict[Region, Entry] = {}
        for region in regions:
            if writer.work + min(region.work, MOST_WORK) <= MOST_WORK_IN_ALL:  # the compiler would take too long
                chosen[region] = writer.add(
                    _expressions(region),
                    region.count,
                    _updates(region),
                    region.condition,
                    is_open=region.is_open,
                    tensors=_tensors(region),
                )
        if chosen:
            nodes = put_in(program, block, ordered, behind, list(chosen))
            made += [(node, *found) for node, found in zip(nodes, chosen.items(), strict=True)]
    if not made:
        return 0
    loaded = toolchain.Loaded(toolchain.object_code(writer.text()), [entry.name for *_, entry in made], _TYPES)
    _gather_helpers(writer)
    for node, region, entry in made:
        node.value = _caller(region, entry, loaded.function(entry.name), state)
        if entry.multiplies and not entry.is_shared:
            program.short.add(node)
    return len(made)


def _gather_helpers(writer: Writer) -> None:
    """Have threads that help with what is shared."""

    def prepare() -> None:
        use(1)
        flush(True)

    if any(entry.is_shared for entry in writer.entries):
        toolchain.gather_helpers(OF_PROCESS, prepare)


def _loops(program: Program) -> Iterator[Node]:
    """The loops of a program, outer ones first; what is inside of one that became machine code is left out."""
    left = [program.top]
    while left:
        for node in left.pop():
            if node.type == LOOP:
                yield node
            if node.value is None or node.type != LOOP:
                left += node.blocks


def _make_loop(program: Program, loop: Node, state: SessionState, in_halves: bool) -> bool:
    """Let a loop be machine code, if all that it holds can; in two halves, if its rows know nothing of each other."""
    if not toolchain.can_multiply():
        return False
    writer = Writer(toolchain.can_share())
    try:
        with halved(loop) if in_halves else contextlib.nullcontext() as halves:
            made = translate(loop, writer, "loop", halves)
    except NotNative:
        return False
    loaded = toolchain.Loaded(toolchain.object_code(writer.text()), ["loop"], CALLBACKS)
    _gather_helpers(writer)
    loop.value = NativeLoop(program, loop, made, loaded.function("loop"), state)
    return True


def _expressions(region: Region) -> list[Any]:
    """What is computed for the outputs: the same for two only once."""
    return list(dict.fromkeys(plain_form(region.values[e]) for e in region.outputs))


def _updates(region: Region) -> list[tuple[Any, Any]]:
    """What is written over inputs: (value, input)."""
    return [(plain_form(value), region.values[variable, 0]) for variable, value in region.updates.items()]


_TYPES = {tensor_objects.TYPE: id(torch.Tensor)}


def _tensors(region: Region) -> python_calls.Tensors | None:
    """The arguments of a region's code, all of them tensors, if it can find out itself whether they are as they must be:
    not where random numbers would have been drawn until then.
    """
    offset = _offset_of_tensors()
    if offset is None or region.is_open or region.draws:
        return None
    given: dict[int, tuple[int, ...] | None] = {i: region.values[e].shape for i, e in enumerate(region.inputs)}
    made = range(region.count, region.count + len(_expressions(region)))
    return python_calls.Tensors(offset, given | dict.fromkeys(made))


@functools.cache
def _offset_of_tensors() -> int | None:
    """How many bytes of a Python object come before its tensor; None where that is not so, or code can't ask it."""
    samples = [torch.empty(2, 3), torch.empty(5)]
    for offset in range(object.__basicsize__, torch.Tensor.__basicsize__, 8):
        if all(ctypes.c_void_p.from_address(id(t) + offset).value == t._cdata for t in samples):
            return offset if toolchain.knows_tensors() else None
    return None


class _Locks:
    """The locks of variables, held together; in the same order everywhere, so that two never wait for each other."""

    def __init__(self, variables: Iterable[Buffer]) -> None:
        self._locks = sorted({v.lock for v in variables}, key=id)

    def __enter__(self) -> None:
        for lock in self._locks:
            lock.acquire()

    def __exit__(self, *_: object) -> None:
        for lock in self._locks:
            lock.release()


class _Scratch(threading.local):
    """Memory of this thread that regions use while they run."""

    def __init__(self) -> None:
        self.space = torch.empty(0, dtype=torch.uint8)

    def address(self, size: int) -> int:
        if self.space.numel() < size:
            self.space = torch.empty(size, dtype=torch.uint8)
        return self.space.data_ptr()


_scratch = _Scratch()


def _caller(region: Region, entry: Entry, function: Callable[..., int], state: SessionState) -> Callable[..., Value]:
    """The Python function of a region: it checks what it is given, finds memory for the results and calls the code.

    It is written out for the number of inputs and outputs, since it stands between any two regions of a plan.
    """
    count = len(region.inputs)
    space: dict[str, Any] = {
        "memory": tensors.strided_room,
        "run": function,
        "threads": torch.get_num_threads,
        "use": use,
        "scratch": _scratch.address,
        "other": _slowly(region, state),
    }
    takes = ", ".join(f"x{i}" for i in range(count))
    lines = [f"def call({takes}):"]
    locked = {region.held[e] for n in region.updating if excludes_others(n) for e in n.inputs if stands_for_variable(e)}
    if locked:
        space["locks"] = _Locks(once_value(variable, state) for variable in locked)
        lines.append("    with locks:")
    body, tests, names = [], [], []
    by_address = _tensors(region) is None
    for i, (node, output) in enumerate(region.inputs):
        name = f"x{i}"
        if stands_for_variable((node, output)):
            name = f"b{i}"
            body.append(f"b{i} = x{i}.value")
            tests += [f"b{i} is not None"] * by_address
        names.append(f"{name}.data_ptr()" if by_address else name)
        if by_address:
            shape = space[f"s{i}"] = torch.Size(region.values[node, output].shape)
            tests += [f"{name}.shape == s{i}", f"{name}.is_contiguous()"]
            if region.is_open and name == f"x{i}" and node.shape(output) is None:
                space[f"s{i}"] = shape[1:]
                tests[-2] = f"{name}.shape[1:] == s{i} and len({name}) == rows"
    if region.indices is not None:
        space["are_within"], space["most"] = _are_within, next(iter(region.updates.values())).shape[0]
        body.append(f"rows = len(x{region.indices})")
        tests.append(f"are_within(x{region.indices}, most)")
    body.append(f"if {' and '.join(tests) or 'True'}:")
    body += [f"    {line}" for line in _call_lines(region, entry, names, space, state)]
    lines += [("        " if locked else "    ") + line for line in body]
    lines.append(f"    return other(call{', ' if takes else ''}{takes})")
    exec("\n".join(lines), space)  # the source holds numbers and our own identifiers only
    space["call"].takes_helpers = entry.is_shared
    return space["call"]


def _are_within(indices: torch.Tensor, count: int) -> bool:
    """Whether all of some indices, at least one, name rows of so many."""
    if not len(indices):
        return False
    least, largest = torch.aminmax(indices)
    return 0 <= int(least) and int(largest) < count


def _call_lines(
    region: Region, entry: Entry, names: list[str], space: dict[str, Any], state: SessionState
) -> list[str]:
    """The lines that call the code once the addresses of its inputs are known, and return its results if it could."""
    expressions = _expressions(region)
    lines = []
    for i, node in enumerate(region.draws):
        space[f"draw{i}"] = _drawer(node, state)
        lines.append(f"p{i} = draw{i}()")
    names = [f"p{i}.buffer_info()[0]" for i in range(len(region.draws))] + names
    results: dict[int, str] = {}
    for i, (node, output) in enumerate(region.outputs):
        space[f"o{i}"] = tuple(node.shape(output) or ())
        space[f"l{i}"] = contiguous(space[f"o{i}"])
        space[f"d{i}"] = tensors.torch_dtype(node.output_dtypes[output].base_dtype)
        position = expressions.index(plain_form(region.values[node, output]))
        if position in results:
            continue
        lines.append(f"y{i} = memory(o{i}, l{i}, d{i})")
        results[position] = f"y{i}"
    address = ".data_ptr()" if _tensors(region) is None else ""
    names = names + [results[p] + address for p in range(len(expressions))]
    names += ["rows"] * region.is_open
    names += [
        f"scratch({entry.scratch})" if entry.scratch > python_calls.ON_STACK else "0",
        "1" if not entry.is_shared else "before" if entry.multiplies else "threads()",
    ]
    given = []
    for i, edge in enumerate(region.outputs):
        name = results[expressions.index(plain_form(region.values[edge]))]
        given.append(name if name == f"y{i}" else f"{name}.view(o{i}).clone()")
    call, back = f"run({', '.join(names)})", f"return {', '.join(given)}"
    if not (entry.is_shared and entry.multiplies):
        return [*lines, f"if not {call}: {back}"]
    # Each of the threads multiplies its own piece: the BLAS must take no more for that.
    return [
        *lines,
        "before = use(1)",
        "try:",
        f"    status = {call}",
        "finally:",
        "    use(before)",
        f"if not status: {back}",
    ]


def _drawer(node: Node, state: SessionState) -> Callable[[], array[int]]:
    """A function that goes on in the stream of a random op, and gives where this run starts."""
    session: Any = state
    count = math.prod(node.shape() or ())
    return lambda: array("Q", next_place(node, session, count))


def _slowly(region: Region, state: SessionState) -> Callable[..., Value]:
    """What happens to inputs that lie in memory in another order, or are not what the graph promises."""
    shapes = [torch.Size(region.values[edge].shape) for edge in region.inputs]
    variables = [stands_for_variable(edge) for edge in region.inputs]

    def other(call: Callable[..., Value], *inputs: Any) -> Value:
        held = [x.value if v else x for x, v in zip(inputs, variables, strict=True)]
        fits = all(x is not None and x.shape == s for x, s in zip(held, shapes, strict=True))
        disordered = {v for x, v in zip(held, variables, strict=True) if fits and not x.is_contiguous()}
        if disordered == {False}:
            return call(*(x if v else x.contiguous() for x, v in zip(inputs, variables, strict=True)))
        results = _by_kernels(region, state, list(inputs))
        return results[0] if len(results) == 1 else tuple(results)

    return other


def _by_kernels(region: Region, state: SessionState, inputs: list[Any]) -> list[Value]:
    """The outputs of a region, node by node."""
    values: dict = dict(zip(region.inputs, inputs, strict=True))
    for edge, variable in region.held.items():
        if stands_for_variable(edge):
            values[edge] = values[variable, 0]
        else:
            values[edge] = values[variable, 0].read().clone()  # as it was before anything is written

    for node in region.nodes:
        binding = bind(node, state)
        if binding is None:
            raise missing_kernel(node)
        given = [values[e] if e in values else constant_value(e[0], state) for e in region.edges[node]]
        try:
            result = binding.function(*call_arguments(node, given), **binding.keywords)
        except Exception as e:
            raise told(e, node, given) from e
        if node not in region.updating:
            values.update(((node, i), r) for i, r in enumerate(flat_results(node, result)))
    return [values[e].clone() for e in region.outputs]
