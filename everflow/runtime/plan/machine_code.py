"""The second tier: a plan's regions as machine code, and the functions by which the plan calls them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.kernels import tensors
from everflow.native import toolchain
from everflow.native.codegen import Entry, Writer
from everflow.runtime.plan.binding import bind, call_arguments, constant_value, missing_kernel
from everflow.runtime.plan.program import Node, Program, flat_results
from everflow.runtime.plan.regions import MOST_WORK_IN_ALL, Region, find_regions, plain_form, put_in
from everflow.runtime.plan.tiers import is_allowed

if TYPE_CHECKING:
    from everflow.runtime.hints import Value
    from everflow.runtime.state import SessionState


def with_machine_code(program: Program, state: SessionState, may: Callable[[Node], bool] = is_allowed) -> int:
    """Let regions of a program's nodes that `may` be machine code; how many there are. This takes long, mostly outside
    of Python's lock.
    """
    writer = Writer(toolchain.can_share())
    made: list[tuple[Node, Region, Entry]] = []
    work = 0
    for block, ordered, behind, regions in find_regions(program, may):
        chosen = []
        for region in regions:
            work += region.work
            if work <= MOST_WORK_IN_ALL:  # with more the compiler would take too long
                chosen.append(region)
        if not chosen:
            continue
        nodes = put_in(program, block, ordered, behind, chosen)
        for node, region in zip(nodes, chosen, strict=True):
            made.append((node, region, writer.add(_expressions(region), len(region.inputs))))
    if not made:
        return 0
    loaded = toolchain.Loaded(toolchain.object_code(writer.text()), [entry.name for *_, entry in made])
    for node, region, entry in made:
        pointers = len(region.inputs) + len(_expressions(region)) + 1
        node.value = _caller(region, entry, loaded.function(entry.name, pointers), state)
    return len(made)


def _expressions(region: Region) -> list[Any]:
    """What is computed for the outputs: the same for two only once."""
    return list(dict.fromkeys(plain_form(region.values[e]) for e in region.outputs))


class _Scratch(threading.local):
    """Memory of this thread that regions use while they run."""

    def __init__(self) -> None:
        self.space = torch.empty(0, dtype=torch.uint8)

    def address(self, size: int) -> int:
        if self.space.numel() < size:
            self.space = torch.empty(size, dtype=torch.uint8)
        return self.space.data_ptr()


_scratch = _Scratch()


def _caller(region: Region, entry: Entry, function: Callable[..., None], state: SessionState) -> Callable[..., Value]:
    """The Python function of a region: it checks what it is given, finds memory for the results and calls the code.

    It is written out for the number of inputs and outputs, since it stands between any two regions of a plan.
    """
    count = len(region.inputs)
    expressions = _expressions(region)
    space: dict[str, Any] = {
        "empty_like": torch.empty_like,  # which is found in half the time that `empty` takes
        "run": function,
        "threads": torch.get_num_threads,
        "scratch": _scratch.address,
        "other": _slowly(region, state),
    }
    takes = ", ".join(f"x{i}" for i in range(count))
    tests, names = [], []
    for i, (node, output) in enumerate(region.inputs):
        space[f"s{i}"] = torch.Size(node.shape(output) or ())
        tests += [f"x{i}.shape == s{i}", f"x{i}.is_contiguous()"]
        names.append(f"x{i}.data_ptr()")
    lines = [f"def call({takes}):"]
    if tests:
        lines.append(f"    if not ({' and '.join(tests)}): return other(call, {takes})")
    results: dict[int, str] = {}
    for i, (node, output) in enumerate(region.outputs):
        space[f"o{i}"] = torch.Size(node.shape(output) or ())
        # One entry, seen as many: what is made like it has memory of its own, in order.
        dtype = tensors.torch_dtype(node.output_dtypes[output])
        space[f"like{i}"] = torch.empty((), dtype=dtype).expand(node.shape(output) or ())
        position = expressions.index(plain_form(region.values[node, output]))
        if position in results:
            continue
        lines.append(f"    y{i} = empty_like(like{i})")
        results[position] = f"y{i}"
    names += [f"{results[p]}.data_ptr()" for p in range(len(expressions))]
    names += [f"scratch({entry.scratch})" if entry.scratch else "None", "threads()" if entry.is_shared else "1"]
    lines.append(f"    run({', '.join(names)})")
    given = []
    for i, edge in enumerate(region.outputs):
        name = results[expressions.index(plain_form(region.values[edge]))]
        given.append(name if name == f"y{i}" else f"{name}.view(o{i}).clone()")
    lines.append(f"    return {', '.join(given)}")
    exec("\n".join(lines), space)  # the source holds numbers and our own identifiers only
    return space["call"]


def _slowly(region: Region, state: SessionState) -> Callable[..., Value]:
    """What happens to inputs that lie in memory in another order, or have not the shape that the graph promises."""
    shapes = [torch.Size(node.shape(output) or ()) for node, output in region.inputs]

    def other(call: Callable[..., Value], *inputs: torch.Tensor) -> Value:
        if all(x.shape == shape for x, shape in zip(inputs, shapes, strict=True)):
            return call(*(x.contiguous() for x in inputs))
        results = _by_kernels(region, state, list(inputs))
        return results[0] if len(results) == 1 else tuple(results)

    return other


def _by_kernels(region: Region, state: SessionState, inputs: list[torch.Tensor]) -> list[Value]:
    """The outputs of a region, node by node."""
    values: dict = dict(zip(region.inputs, inputs, strict=True))

    for node in region.nodes:
        binding = bind(node, state)
        if binding is None:
            raise missing_kernel(node)
        arguments = call_arguments(
            node, [values[e] if e in values else constant_value(e[0], state) for e in region.edges[node]]
        )
        results = flat_results(node, binding.function(*arguments, **binding.keywords))
        values.update(((node, i), r) for i, r in enumerate(results))
    return [values[e].clone() for e in region.outputs]
