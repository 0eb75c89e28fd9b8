"""Rewrites of pipelines: what `OptimizeDataset` makes of the datasets below it, by TensorFlow's names.

A rewrite is a rule for one dataset whose inputs were rewritten before. Much of what TensorFlow gains by a rewrite is
had without one here: elements go through maps and filters without a stop, and functions are called for blocks. Such a
rule makes one dataset of several, or another order, in name: so pipelines that ask (`assert_next`) see what TensorFlow
would have made of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InternalError, InvalidArgumentError
from everflow.kernels.data import stages
from everflow.kernels.data.batches import batched, grouped
from everflow.kernels.data.datasets import INSTANCE, Dataset, Following, Iteration, dataset, same_elements, stateful_ops
from everflow.kernels.data.origins import MAKERS, Origin
from everflow.kernels.data.stats import telling_threads
from everflow.protos.attr_value_pb2 import NameAttrList

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings

_BATCHES = ("BatchDataset", "BatchDatasetV2")
_MAPS = ("MapDataset", "ParallelMapDataset")
_MADE_AHEAD = ("ParallelMapDataset", "ParallelInterleaveDatasetV2", "MapAndBatchDataset")
# What a dataset that changes nothing has for its count.
_IDLE = {"TakeDataset": -1, "SkipDataset": 0, "RepeatDataset": 1, "PrefetchDataset": 0}
# A setting of map_vectorization: it is tried beside what it replaces.
_FASTEST = "map_vectorization:use_choose_fastest:true"
# Between a pipeline's last prefetch and its iterator, where slack is asked for, only these may stand.
_AFTER_PREFETCH = frozenset(
    """CacheDataset ConcatenateDataset FilterDataset MapDataset MaxIntraOpParallelismDataset ModelDataset NonSerializableDataset
    OptimizeDataset ParallelMapDataset PrivateThreadPoolDataset RepeatDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset
    SkipDataset TakeDataset ZipDataset""".split()
)


def origin_of(dataset: Dataset, *op_types: str) -> Origin | None:
    """How a dataset was made, if by an op of one of these types."""
    origin = dataset.origin
    return origin if origin is not None and origin.op_type in op_types else None


def _functions(origin: Origin) -> list[NameAttrList]:
    values = [v for value in origin.attributes.values() for v in (value if isinstance(value, list) else [value])]
    return [value for value in values if isinstance(value, NameAttrList)]


def _state(origin: Origin) -> list[str]:
    """The types of the ops with state in a dataset's functions, and in those that these call."""
    graph, waiting, found = origin.attributes["session"].graph, [f.name for f in _functions(origin)], []
    while waiting:
        for op in stateful_ops(graph, waiting.pop()):
            called = [value.name for value in op.attrs.values() if isinstance(value, NameAttrList)]
            waiting += called
            found += [] if called else [op.type]
    return found


def _as_one(outer: Dataset, inner: Dataset, op_type: str, names: tuple[str, ...] | None = None) -> Dataset:
    """A dataset and the one it is made of, taken for one."""
    above, below = outer.origin, inner.origin
    assert above is not None and below is not None
    told = {**below.attributes, "functions": [*_functions(below), *_functions(above)]}

    def make(*inputs: Any, **attributes: Any) -> Dataset:
        source = below.make(*inputs, **below.attributes)
        made = same_elements(above.made_of(lambda part: source if part is inner else part))
        made.came_from(Origin(op_type, make, inputs, told, names=names))
        return made

    return make(*below.inputs)


_Rule = Callable[[Dataset], "Dataset | None"]


# --- rules -----------------------------------------------------------------------------------


def _without_idle(made: Dataset) -> Dataset | None:
    origin = origin_of(made, *_IDLE)
    return origin.inputs[0] if origin is not None and origin.number(1) == _IDLE[origin.op_type] else None


def _shuffled_and_repeated(made: Dataset) -> Dataset | None:
    repeat = origin_of(made, "RepeatDataset")
    shuffle = origin_of(repeat.inputs[0], "ShuffleDataset") if repeat else None
    if repeat is None or shuffle is None or not shuffle.attributes["reshuffle_each_iteration"]:
        return None
    return MAKERS["ShuffleAndRepeatDataset"](*shuffle.inputs, repeat.inputs[1])


def _fused(op_type: str) -> _Rule:
    """Two of a kind, neither of which captured anything, as one."""

    def rule(made: Dataset) -> Dataset | None:
        outer = origin_of(made, op_type)
        inner = origin_of(outer.inputs[0], op_type) if outer else None
        if outer is None or inner is None or outer.inputs[1] or inner.inputs[1]:
            return None
        return _as_one(made, outer.inputs[0], op_type)

    return rule


def _mapped_and_filtered(made: Dataset) -> Dataset | None:
    outer = origin_of(made, "FilterDataset")
    inner = origin_of(outer.inputs[0], *_MAPS) if outer else None
    if outer is None or inner is None or outer.inputs[1] or inner.inputs[1]:
        return None
    return _as_one(made, outer.inputs[0], "MapAndFilterDataset", (inner.plain_name, "Filter", "Map"))


def _hoisted(made: Dataset) -> Dataset | None:
    """A map's only random op, a uniform one, draws from a dataset of seeds beside the elements."""
    origin = origin_of(made, "MapDataset")
    if origin is None or "f" not in origin.attributes:
        return None
    session, f = origin.attributes["session"], origin.attributes["f"]
    drawing = [op for op in stateful_ops(session.graph, f.name) if "seed" in op.attrs]
    if [op.type for op in drawing] != ["RandomUniform"]:
        return None
    seeds = tuple(drawing[0].attrs[name] for name in ("seed", "seed2"))

    def make(*inputs: Any, **attributes: Any) -> Dataset:
        hoisted = MAKERS["SeededMapDataset"](*inputs, seeds=seeds, **attributes)
        hoisted.came_from(Origin(origin.op_type, make, inputs, attributes, names=("Zip[0]", "Map")))
        return hoisted

    return make(*origin.inputs, **origin.attributes)


def _told(made: Dataset, names: tuple[str, ...], op_type: str | None = None) -> Dataset:
    """The same dataset under other names."""
    origin = made.origin
    assert origin is not None

    def make(*inputs: Any, **attributes: Any) -> Dataset:
        again = same_elements(origin.make(*inputs, **attributes))
        again.came_from(Origin(op_type or origin.op_type, make, inputs, attributes, names=names))
        return again

    return make(*origin.inputs, **origin.attributes)


def _parallelized(made: Dataset) -> Dataset | None:
    origin = origin_of(made, "MapDataset")
    if origin is None or "f" not in origin.attributes or set(_state(origin)) - {"Assert"}:
        return None
    return MAKERS["ParallelMapDataset"](*origin.inputs, torch.tensor(-1), sloppy=False, **origin.attributes)


def _mapped_and_batched(made: Dataset) -> Dataset | None:
    outer = origin_of(made, *_BATCHES)
    inner = origin_of(outer.inputs[0], *_MAPS) if outer else None
    if outer is None or inner is None:
        return None
    size, drop = outer.number(1), len(outer.inputs) > 2 and bool(outer.inputs[2])
    calls = inner.number(2) if inner.op_type == "ParallelMapDataset" else 1

    def make(*inputs: Any, **attributes: Any) -> Dataset:
        mapped = inner.make(*inputs, **inner.attributes)
        whole = telling_threads(grouped(mapped, size, drop, batched, with_map=True), calls)
        if stages.IS_WATCHING:  # they are two things still
            stages.watched(whole, "BatchDataset", [mapped], {})
        whole.came_from(Origin("MapAndBatchDataset", make, inputs, inner.attributes, name="MapAndBatchDataset"))
        return whole

    return make(*inner.inputs)


def _vectorized(names_of: Callable[..., tuple[str, ...]]) -> _Rule:
    """A map and the batch after it, in the other order; a prefetch between them stays."""

    def rule(made: Dataset) -> Dataset | None:
        both = origin_of(made, "MapAndBatchDataset")
        if both is not None:
            return _told(made, names_of("BatchV2", "ParallelMap"), "VectorizedDataset") if _is_plain(both) else None
        batch = origin_of(made, *_BATCHES)
        below = batch.inputs[0] if batch else made
        prefetch = origin_of(below, "PrefetchDataset")
        mapped = prefetch.inputs[0] if prefetch else below
        origin = origin_of(mapped, *_MAPS)
        if batch is None or origin is None or not _is_plain(origin):
            return None
        inner = below if prefetch is None else _as_one(below, mapped, "PrefetchDataset")
        outer = batch.made_of(lambda part: inner if part is below else part)
        names = names_of(batch.plain_name, origin.plain_name, *(["Prefetch"] if prefetch else []))
        return _as_one(outer, inner, "VectorizedDataset", names)

    return rule


def _is_plain(origin: Origin) -> bool:
    """Whether functions have no state, and all that goes in and comes out has a known shape."""
    graph, captured = origin.attributes["session"].graph, len(origin.inputs[1])
    for function in _functions(origin):
        inputs, outputs = graph._functions[function.name].body_tensors()
        tensors = [*inputs[: len(inputs) - captured], *outputs]
        if any(t.dtype is dtypes.variant for t in tensors):
            return False
        # A function that was read from a file doesn't know the shapes of its arguments; the datasets around it do.
        source = origin.inputs[0].origin
        known = [_element_shapes(source), _element_shapes(origin)]
        shapes = [s for part in known for s in part] if all(known) else [t.shape for t in tensors]
        if not all(shape.is_fully_defined() for shape in shapes):
            return False
    return not _state(origin)


def _element_shapes(origin: Origin | None) -> list[Any]:
    """The shapes that the op of a map, or of what it maps, has for elements; none where they are not told."""
    is_batch = origin is not None and origin.op_type.endswith("MapAndBatchDataset")  # these are a batch's
    return [] if origin is None or is_batch else origin.attribute("output_shapes") or []


def _with_prefetch(made: Dataset) -> Dataset | None:
    return MAKERS["PrefetchDataset"](made, torch.tensor(-1)) if origin_of(made, *_MADE_AHEAD) else None


def _timed(made: Dataset) -> Dataset | None:
    """How long it takes for an element is told under its name; TensorFlow passes over ops that are a second version."""
    origin = made.origin
    if origin is None or not origin.op_type.endswith("Dataset"):
        return None
    tag = np.array(f"record_latency::{origin.told_name}".encode(), object)
    return MAKERS["LatencyStatsDataset"](made, tag)


# In the order in which they are done.
_RULES: dict[str, _Rule | None] = {
    "noop_elimination": _without_idle,
    "shuffle_and_repeat_fusion": _shuffled_and_repeated,
    "map_fusion": _fused("MapDataset"),
    "filter_fusion": _fused("FilterDataset"),
    "map_and_filter_fusion": _mapped_and_filtered,
    "hoist_random_uniform": _hoisted,
    "map_parallelization": _parallelized,
    "map_and_batch_fusion": _mapped_and_batched,
    _FASTEST: _vectorized(lambda *names: ("ChooseFastestBranch",)),
    "map_vectorization": _vectorized(lambda *names: names),
    "inject_prefetch": _with_prefetch,
    "make_sloppy": None,
    "parallel_batch": None,
    "latency_all_edges": _timed,
    "slack": None,
}


# --- going through a pipeline ----------------------------------------------------------------


def inputs_first(top: Dataset, closed: str = "") -> Iterator[Dataset]:
    """A dataset and all it is made of, each after what it is made of itself; without recursion, since datasets may be
    joined by the thousand. What is below a dataset of the type `closed` is left out.
    """
    seen: set[Dataset] = set()
    stack: list[tuple[Dataset, bool]] = [(top, False)]
    while stack:
        made, is_ready = stack.pop()
        if is_ready:
            yield made
        elif made not in seen:
            seen.add(made)
            stack.append((made, True))
            if made.origin is not None and made.origin.op_type != closed:
                stack += [(part, False) for part in reversed(list(made.origin.datasets()))]


def passed(top: Dataset, rule: _Rule) -> Dataset:
    """What a rule makes of a pipeline. What can't be written as a graph can't be rewritten."""
    changed: dict[Dataset, Dataset] = {}
    for made in inputs_first(top, closed="NonSerializableDataset"):
        again = made
        if made.origin is not None and any(changed.get(part, part) is not part for part in made.origin.datasets()):
            again = made.origin.made_of(lambda part: changed.get(part, part))
        changed[made] = rule(again) or again
    return changed[top]


def _draws(made: Dataset) -> bool:
    """Whether a dataset, or a function of it, has a random stream."""
    origin = made.origin
    if origin is not None and origin.op_type == "ShuffleDataset":
        return True
    if origin is None or "session" not in origin.attributes:
        return False
    return any(Iteration.draws(origin.attributes["session"], function) for function in _functions(origin))


def _in_place(number: int) -> _Rule:
    """A rule for one of several places in which a dataset is used: random streams are that place's own."""

    def rule(made: Dataset) -> Dataset | None:
        origin = made.origin
        if origin is None or not _draws(made):
            return None
        told = {}
        for name, value in origin.attributes.items():
            if isinstance(value, NameAttrList):
                told[name] = NameAttrList(name=value.name)
                told[name].attr[INSTANCE].i = number
        again = origin.make(*origin.inputs, **{**origin.attributes, **told})
        again.origin = again.origin._replace(node=origin.node, name=origin.name)
        return again

    return rule


def _each_place_apart(top: Dataset) -> Dataset:
    """A pipeline in which each place that draws random numbers has a stream of its own, though a dataset be used in
    several, or a function.
    """
    every = list(inputs_first(top))
    drawing = [made for made in every if _draws(made)]
    numbers, used, seen, changed = itertools.count(1), set(), set(), {}

    def place(part: Dataset) -> Dataset:
        found = changed[part]
        if found in used:
            found = passed(found, _in_place(next(numbers)))
        used.add(found)
        return found

    for made in every if drawing else ():
        origin = made.origin
        parts = list(origin.datasets()) if origin is not None else []
        is_other = any(changed[part] is not part or part in used for part in parts) or len(set(parts)) < len(parts)
        changed[made] = origin.made_of(place) if origin is not None and is_other else made
        used.update(parts)
        if made in drawing and origin is not None:
            names = {function.name for function in _functions(origin)}
            if names & seen:
                changed[made] = _in_place(next(numbers))(changed[made]) or changed[made]
            seen |= names
    return changed[top] if drawing else top


def optimized(top: Dataset, rewrites: frozenset[str]) -> Dataset:
    """A dataset rewritten; the same one each time."""
    is_alone = top.origin is None or not any(True for _ in top.origin.datasets())
    if is_alone and "latency_all_edges" not in rewrites:
        return top
    if rewrites not in top.rewritten:
        made = top
        for name, rule in _RULES.items():
            if name in rewrites and rule is not None:
                made = passed(made, rule)
        top.rewritten[rewrites] = made
    return top.rewritten[rewrites]


def _give_names(top: Dataset) -> None:
    """Name datasets as a graph of their own has them: by type and number, constants counted as well."""
    number = 0
    for made in inputs_first(top):
        if made.origin is not None:
            number += sum(not hasattr(value, "origin") for value in made.origin.values())
            made.origin = made.origin._replace(name=f"{made.origin.op_type}/_{number}")
            number += 1


def _check_slack(top: Dataset) -> None:
    waiting = [top]
    while waiting:
        made = waiting.pop()
        kind = made.origin.op_type if made.origin is not None else "a dataset"
        if made.origin is not None and kind.removesuffix("V2") in _AFTER_PREFETCH:
            waiting += made.origin.datasets()
        elif kind != "PrefetchDataset":
            raise InvalidArgumentError(
                None, None, f"With experimental_slack a pipeline ends with a prefetch; this one ends with {kind}"
            )


@dataset("OptimizeDataset")
def optimize_dataset(
    input_dataset: Dataset, optimizations: Strings, *, optimization_configs: Sequence[str] = ()
) -> Dataset:
    rewrites = frozenset(name.decode() for name in optimizations.reshape(-1).tolist())
    for name in sorted(rewrites - set(_RULES)):
        raise InternalError(None, None, f"There is no rewrite of datasets by the name {name!r}")
    if "map_vectorization" in rewrites and _FASTEST in optimization_configs:
        rewrites |= {_FASTEST}
    if "slack" in rewrites:
        _check_slack(input_dataset)
    _give_names(input_dataset)
    rewritten = optimized(_each_place_apart(input_dataset), rewrites)

    def start(iteration: Iteration) -> Following:
        iteration.rewrites |= rewrites
        return rewritten.start(iteration)

    made = Dataset(start, input_dataset.cardinality)
    attributes: Mapping[str, Any] = {"optimization_configs": optimization_configs}
    origin = Origin("OptimizeDataset", MAKERS["OptimizeDataset"], (rewritten, optimizations), attributes, names=())
    made.came_from(origin)
    return made


# --- what must come next ---------------------------------------------------------------------


@dataset("AssertNextDataset", "ExperimentalAssertNextDataset")
def assert_next_dataset(input_dataset: Dataset, transformations: Strings) -> Dataset:
    """The same elements; an iterator only starts if the datasets made of this one are those that are named."""
    if transformations.ndim != 1:
        raise InvalidArgumentError(None, None, "`transformations` must be a vector.")
    return same_elements(input_dataset)


_Path = tuple[str, "_Path"] | tuple[()]


def _with_paths(top: Dataset, path: _Path, wanted: Callable[[Dataset], bool]) -> Iterator[tuple[Dataset, _Path]]:
    """Datasets below one that fit, or have one below them that may, with the names of what comes after each."""
    waiting = [(top, path)]
    while waiting:
        made, above = waiting.pop()
        if made.origin is None or not wanted(made):
            continue
        yield made, above
        for part in made.origin.sources():
            names = above
            for name in reversed(made.origin.names_for(part)):
                names = (name, names)
            waiting.append((part, names))


def check_next(top: Dataset, path: _Path = ()) -> None:
    """InvalidArgumentError where a dataset says that others must come after it, and they don't."""
    for made, above in _with_paths(top, path, lambda made: made.asserts):
        if (origin := origin_of(made, "AssertNextDataset")) is not None:
            _compare([name.decode() for name in origin.inputs[1].tolist()], above)


def part_of(iteration: Iteration, whole: Dataset, part: Dataset, number: int = 0) -> Dataset:
    """A dataset that a function gave, as the iteration over `whole`, which is made of such parts, takes it."""
    part = optimized(part, iteration.rewrites)
    if part.asserts and iteration.top is not None and whole.origin is not None:
        every = dict(_with_paths(iteration.top, (), lambda made: True))
        check_next(part, (f"{whole.origin.plain_name}[{number}]", every.get(whole, ())))
    return part


def _compare(wanted: list[str], path: _Path) -> None:
    for at, name in enumerate(wanted):
        if not path:
            raise InvalidArgumentError(None, None, f"{wanted} must come next, but only {at} datasets do")
        found, path = path
        if found != name:
            raise InvalidArgumentError(None, None, f"{name} must come next at offset {at}, not {found}")
