"""Operations on labeled tensors that are more than functions of their entries: selections, shapes, sums, products."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from everflow.contrib.labeled_tensor.axes import Axes, Axis, AxisOrderError, as_axis, concat_axes, current_order
from everflow.contrib.labeled_tensor.core import LabeledTensor, convert_to_labeled_tensor, slice_function, transpose
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant as constant_tensor
from everflow.ops.array.constants import placeholder as plain_placeholder
from everflow.ops.checks.values import verify_tensor_all_finite as check_finite
from everflow.ops.control_flow.maps import foldl as fold
from everflow.ops.random.distributions import random_crop as crop

# --- selections -----------------------------------------------------------------------------------


def select(labeled_tensor: Any, selection: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """Entries by label: {axis: label, slice of labels with both ends, or list of labels}."""
    with name_scope(name, "lt_select", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        slices: dict[str, Any] = {}
        lists: dict[str, list[int]] = {}
        for name_of_axis, wanted in selection.items():
            if name_of_axis not in labeled_tensor.axes:
                raise ValueError(f"{name_of_axis!r} is none of {labeled_tensor.axes}")
            axis = labeled_tensor.axes[name_of_axis]
            if axis.labels is None:
                raise ValueError(f"Entries are selected by label, and {axis} has none")
            if isinstance(wanted, slice):
                slices[name_of_axis] = _positions(axis, wanted)
            elif isinstance(wanted, (list, tuple)):
                lists[name_of_axis] = [axis.index(label) for label in wanted]
            else:
                slices[name_of_axis] = axis.index(wanted)
        if len(lists) > 1:
            raise NotImplementedError(f"Labels can be listed for one axis at a time, not for {sorted(lists)}")
        if not lists:
            return slice_function(labeled_tensor, slices, name=scope)
        if slices:
            labeled_tensor = slice_function(labeled_tensor, slices)
        return _gathered(labeled_tensor, *lists.popitem(), scope)


def _positions(axis: Axis, labels: slice) -> slice:
    if labels.step is not None:
        raise NotImplementedError("A slice of labels has no step")
    start = None if labels.start is None else axis.index(labels.start)
    return slice(start, None if labels.stop is None else axis.index(labels.stop) + 1)


def _gathered(labeled_tensor: LabeledTensor, axis: str, positions: list[int], scope: str) -> LabeledTensor:
    indices = constant_tensor(positions, dtype=dtypes.int64)
    order = list(labeled_tensor.axes)
    first = transpose(labeled_tensor, [axis, *(each for each in order if each != axis)])
    labels = [labeled_tensor.axes[axis].labels[position] for position in positions]
    taken = array.gather(first.tensor, indices)
    axes = [Axis(axis, labels), *list(first.axes.values())[1:]]
    return transpose(LabeledTensor(taken, axes), order, name=scope)


def boolean_mask(labeled_tensor: Any, mask: Any, name: str | None = None) -> LabeledTensor:
    """The entries along the first axis for which a mask of that axis holds."""
    with name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        labeled_tensor, mask = map(convert_to_labeled_tensor, (labeled_tensor, mask))
        if len(mask.axes) > 1:
            raise NotImplementedError(f"A mask has one axis, not {list(mask.axes)}")
        first, *others = labeled_tensor.axes.values()
        (of_mask,) = mask.axes.values()
        if first != of_mask:
            raise ValueError(f"The mask is of {of_mask}, and the first axis of the tensor is {first}")
        kept = array.boolean_mask(labeled_tensor.tensor, mask.tensor, name=scope)
        return LabeledTensor(kept, [first.name, *others])


def random_crop(
    labeled_tensor: Any, shape_map: Mapping[str, int], seed: int | None = None, name: str | None = None
) -> LabeledTensor:
    """A part of given sizes along some axes, anywhere."""
    with name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        for axis in shape_map:
            if axis not in labeled_tensor.axes:
                raise ValueError(f"There is no axis {axis!r} in {labeled_tensor.axes}")
        sizes = [shape_map.get(axis.name, axis.size) for axis in labeled_tensor.axes.values()]
        axes = [axis.name if axis.name in shape_map else axis for axis in labeled_tensor.axes.values()]
        return LabeledTensor(crop(labeled_tensor.tensor, sizes, seed=seed, name=scope), axes)


# --- shapes ---------------------------------------------------------------------------------------


def concat(labeled_tensors: Sequence[Any], axis_name: str, name: str | None = None) -> LabeledTensor:
    """Tensors one behind the other along an axis; their other axes are the same."""
    with name_scope(name, "lt_concat", labeled_tensors) as scope:
        parts = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        if not parts:
            raise ValueError("concat() needs at least one tensor")
        if axis_name not in parts[0].axes:
            raise ValueError(f"{axis_name!r} is none of {parts[0].axes}")
        others = parts[0].axes.remove(axis_name)
        for part in parts[1:]:
            if part.axes.remove(axis_name) != others:
                raise ValueError(f"Axes other than {axis_name!r} differ: {others} and {part.axes.remove(axis_name)}")
        joined = concat_axes([part.axes[axis_name] for part in parts])
        place = list(parts[0].axes).index(axis_name)
        axes = [joined if axis == axis_name else parts[0].axes[axis] for axis in parts[0].axes]
        return LabeledTensor(array.concat([part.tensor for part in parts], place, name=scope), axes)


def _named(axis: Any, size: int | None) -> Axis:
    return Axis(axis, size) if isinstance(axis, str) else as_axis(axis)


def pack(
    labeled_tensors: Sequence[Any], new_axis: Any, axis_position: int = 0, name: str | None = None
) -> LabeledTensor:
    """Tensors of the same axes side by side along a new one."""
    with name_scope(name, "lt_pack", labeled_tensors) as scope:
        parts = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        if not parts:
            raise ValueError("pack() needs at least one tensor")
        axes = list(parts[0].axes.values())
        for part in parts[1:]:
            if list(part.axes.values()) != axes:
                raise ValueError(f"Tensors to be packed have the same axes; {part.axes} differ from {parts[0].axes}")
        axes.insert(axis_position, _named(new_axis, len(parts)))
        return LabeledTensor(array.stack([part.tensor for part in parts], axis=axis_position, name=scope), axes)


def unpack(labeled_tensor: Any, axis_name: str | None = None, name: str | None = None) -> list[LabeledTensor]:
    """A tensor for each position along an axis, the first by default."""
    with name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names = list(labeled_tensor.axes)
        if not names:
            raise ValueError("A tensor without axes can't be unpacked")
        place = names.index(names[0] if axis_name is None else axis_name)
        axes = labeled_tensor.axes.remove(names[place])
        return [LabeledTensor(t, axes) for t in array.unstack(labeled_tensor.tensor, axis=place, name=scope)]


def reshape(
    labeled_tensor: Any, existing_axes: Sequence[str], new_axes: Sequence[Any], name: str | None = None
) -> LabeledTensor:
    """Axes that are side by side, in place of them others of as many entries; one of them may be of open size."""
    with name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        names, wanted = list(labeled_tensor.axes), list(existing_axes)
        unknown = [axis for axis in wanted if axis not in names]
        if unknown:
            raise ValueError(f"There are no axes {unknown} in {labeled_tensor.axes}")
        start = names.index(wanted[0]) if wanted else 0
        if names[start : start + len(wanted)] != wanted:
            raise AxisOrderError(f"{wanted} are not side by side in {names}: transpose before")
        made = [_named(axis, None) for axis in new_axes]
        kept = list(labeled_tensor.axes.values())
        axes = [*kept[:start], *made, *kept[start + len(wanted) :]]
        sizes = [axis.size for axis in axes]
        if sizes.count(None) > 1:
            raise ValueError(f"Only one size of {axes} may be open")
        new = array.reshape(labeled_tensor.tensor, [-1 if size is None else size for size in sizes], name=scope)
        return LabeledTensor(new, axes)


def rename_axis(labeled_tensor: Any, existing_name: str, new_name: str, name: str | None = None) -> LabeledTensor:
    """An axis by another name."""
    with name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        if existing_name not in labeled_tensor.axes:
            raise ValueError(f"There is no axis {existing_name!r} in {labeled_tensor.axes}")
        renamed = Axis(new_name, labeled_tensor.axes[existing_name].value)
        return reshape(labeled_tensor, [existing_name], [renamed], name=scope)


def squeeze(labeled_tensor: Any, axis_names: Iterable[str] | None = None, name: str | None = None) -> LabeledTensor:
    """Without axes of size 1: those named, or all."""
    with name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        names = [axis for axis in axes if axes[axis].size == 1] if axis_names is None else list(axis_names)
        for axis in names:
            if axis not in axes:
                raise ValueError(f"There is no axis {axis!r} in {axes}")
            if axes[axis].size != 1:
                raise ValueError(f"{axes[axis]} is not of size 1")
        places = [place for place, axis in enumerate(axes) if axis in names]
        left = [axes[axis] for axis in axes if axis not in names]
        if not places:
            return LabeledTensor(array.identity(labeled_tensor.tensor, name=scope), left)
        return LabeledTensor(array.squeeze(labeled_tensor.tensor, places, name=scope), left)


def tile(labeled_tensor: Any, multiples: Mapping[str, int], name: str | None = None) -> LabeledTensor:
    """A tensor several times along axes without labels: {axis: how often}."""
    with name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        axes = labeled_tensor.axes
        if not set(multiples) <= set(axes):
            raise ValueError(f"{sorted(multiples)} are not all among {axes}")
        labeled = [axis for axis in multiples if axes[axis].labels is not None]
        if labeled:
            raise ValueError(f"The labels of {labeled} would come up several times")
        times = [multiples.get(axis, 1) for axis in axes]
        new = [axis if axis in multiples else axes[axis] for axis in axes]
        return LabeledTensor(array.tile(labeled_tensor.tensor, times, name=scope), new)


def pad(
    labeled_tensor: Any, paddings: Mapping[str, Any], mode: str = "CONSTANT", name: str | None = None
) -> LabeledTensor:
    """Further entries before and behind: {axis: (how many or their labels, the same for those behind)}. An axis of which
    some entries have no labels has none.
    """
    with name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        if not set(paddings) <= set(labeled_tensor.axes):
            raise ValueError(f"{sorted(paddings)} are not all among {labeled_tensor.axes}")
        axes, counts = [], []
        for axis in labeled_tensor.axes.values():
            before, behind = paddings.get(axis.name, (0, 0))
            counts.append([_count(before), _count(behind)])
            if axis.name not in paddings:
                axes.append(axis)
            elif axis.labels is not None and all(_is_labels(added) for added in (before, behind)):
                axes.append(Axis(axis.name, [*(before or ()), *axis.labels, *(behind or ())]))
            else:
                axes.append(Axis(axis.name, None if axis.size is None else axis.size + sum(counts[-1])))
        return LabeledTensor(array.pad(labeled_tensor.tensor, counts, mode, name=scope), axes)


def _is_labels(padding: Any) -> bool:
    return not isinstance(padding, int) or padding == 0


def _count(padding: Any) -> int:
    return padding if isinstance(padding, int) else len(padding)


# --- functions of tensors -------------------------------------------------------------------------


def map_fn(fn: Callable, labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """What a function gives for each position along the first axis, packed."""
    with name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        results = [fn(part) for part in unpack(labeled_tensor)]
        first = next(iter(labeled_tensor.axes.values()))
        return pack(results, first, name=scope)


def foldl(fn: Callable, labeled_tensor: Any, initial_value: Any, name: str | None = None) -> LabeledTensor:
    """What a function of a value and an entry gives, applied to one entry along the first axis after the other."""
    with name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        labeled_tensor, initial_value = map(convert_to_labeled_tensor, (labeled_tensor, initial_value))
        first = next(iter(labeled_tensor.axes))
        axes, inner = initial_value.axes, labeled_tensor.axes.remove(first)

        def step(value: Any, entry: Any) -> Any:
            result = fn(LabeledTensor(value, axes), LabeledTensor(entry, inner))
            if result.axes != axes:
                raise ValueError(f"The function gave a tensor of {result.axes}, where {axes} is wanted")
            return result.tensor

        folded = fold(step, labeled_tensor.tensor, initializer=initial_value.tensor)
        return LabeledTensor(array.identity(folded, name=scope), axes)


def matmul(a: Any, b: Any, name: str | None = None) -> LabeledTensor:
    """The product of two tensors of one or two axes over the one axis that they share."""
    with name_scope(name, "lt_matmul", [a, b]) as scope:
        a, b = map(convert_to_labeled_tensor, (a, b))
        if len(a.axes) > 2 or len(b.axes) > 2:
            raise NotImplementedError(f"matmul() takes tensors of up to two axes, not {a.axes} and {b.axes}")
        shared = set(a.axes) & set(b.axes)
        if len(shared) != 1:
            raise NotImplementedError(
                f"matmul() sums over one axis that both tensors have; they share {sorted(shared)} of {a.axes} and {b.axes}"
            )
        (inner,) = shared
        if a.axes[inner] != b.axes[inner]:
            raise ValueError(f"The axes {inner!r} differ: {a.axes[inner]} and {b.axes[inner]}")
        order = current_order()
        mine, its = _other(a, inner), _other(b, inner)
        if order is not None and mine and its and order.index(its[0].name) < order.index(mine[0].name):
            a, b, mine, its = b, a, its, mine
        left = a.tensor if mine else array.reshape(a.tensor, [1, -1])
        right = b.tensor if its else array.reshape(b.tensor, [-1, 1])
        turn_left = bool(mine) and next(iter(a.axes)) == inner
        turn_right = bool(its) and next(iter(b.axes)) != inner
        product = math.matmul(left, right, transpose_a=turn_left, transpose_b=turn_right)
        gone = ([] if mine else [0]) + ([] if its else [1])
        if gone:
            product = array.squeeze(product, gone)
        return LabeledTensor(array.identity(product, name=scope), [*mine, *its])


def _other(tensor: LabeledTensor, inner: str) -> list[Axis]:
    return [axis for axis in tensor.axes.values() if axis.name != inner]


def define_reduce_op(op_name: str, reduce_fn: Callable) -> Callable:
    """A function of labeled tensors from a reduction such as `tf.reduce_sum`."""
    default = f"lt_{op_name}"

    def op(labeled_tensor: Any, axes: Any = None, name: str | None = None) -> LabeledTensor:
        with name_scope(name, default, [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            kept = _reduced(labeled_tensor.axes, axes)
            places = [place for place, axis in enumerate(labeled_tensor.axes) if axis in kept]
            reduced = reduce_fn(labeled_tensor.tensor, places, keepdims=True)
            gone = [place for place, axis in enumerate(labeled_tensor.axes) if axis in kept and kept[axis] is None]
            left = [
                kept.get(axis.name, axis)
                for axis in labeled_tensor.axes.values()
                if axis.name not in kept or kept[axis.name] is not None
            ]
            result = array.squeeze(reduced, gone, name=scope) if gone else array.identity(reduced, name=scope)
            return LabeledTensor(result, left)

    op.__name__, op.__doc__ = op_name, f"`tf.{op_name}` over axes: all, or names; (name, label) keeps one of size 1."
    return op


def _reduced(existing: Axes, axes: Any) -> dict[str, Axis | None]:
    """{axis to reduce: what stays of it, or None}."""
    if axes is None:
        return dict.fromkeys(existing)
    wanted = [axes] if isinstance(axes, (str, tuple)) else list(axes)
    found: dict[str, Axis | None] = {}
    for axis in wanted:
        name = axis if isinstance(axis, str) else axis[0]
        if name not in existing:
            raise ValueError(f"There is no axis {name!r} in {existing}")
        found[name] = None if isinstance(axis, str) else Axis(name, [axis[1]])
    return found


REDUCTIONS = {
    f"reduce_{kind}": define_reduce_op(f"reduce_{kind}", getattr(math, f"reduce_{kind}"))
    for kind in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
}


# --- values ---------------------------------------------------------------------------------------


def constant(
    value: Any, dtype: Any = None, axes: Sequence[Any] | None = None, name: str | None = None
) -> LabeledTensor:
    """A constant with axes."""
    with name_scope(name, "lt_constant") as scope:
        return LabeledTensor(constant_tensor(value, dtype=dtype, name=scope), [] if axes is None else axes)


def placeholder(dtype: Any, axes: Sequence[Any], name: str | None = None) -> LabeledTensor:
    """A tensor to be fed; axes of which only the name is given are of any size."""
    with name_scope(name, "lt_placeholder") as scope:
        known = [_named(axis, None) for axis in axes]
        return LabeledTensor(plain_placeholder(dtype, [axis.size for axis in known], name=scope), known)


def cast(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """The entries as another type."""
    with name_scope(name, "lt_cast", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(math.cast(labeled_tensor.tensor, dtype=dtype, name=scope), labeled_tensor.axes)


def _alike(kind: str) -> Callable:
    def op(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{kind}", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            made = getattr(array, kind)(labeled_tensor.tensor, dtype=dtype, name=scope)
            return LabeledTensor(made, labeled_tensor.axes)

    op.__name__, op.__doc__ = kind, f"`tf.{kind}` with the same axes."
    return op


zeros_like, ones_like = _alike("zeros_like"), _alike("ones_like")


def where(condition: Any, x: Any, y: Any, name: str | None = None) -> LabeledTensor:
    """Entries of `x` where a condition holds, else of `y`; all three have the same axes."""
    with name_scope(name, "lt_where", [condition, x, y]) as scope:
        condition, x, y = map(convert_to_labeled_tensor, (condition, x, y))
        if not condition.axes == x.axes == y.axes:
            raise ValueError(
                f"The condition and both tensors have the same axes, not {condition.axes}, {x.axes}, {y.axes}"
            )
        return LabeledTensor(array.where(condition.tensor, x.tensor, y.tensor, name=scope), x.axes)


def verify_tensor_all_finite(labeled_tensor: Any, message: str, name: str | None = None) -> LabeledTensor:
    """The tensor; when it runs, an error with a message where an entry is infinite or no number."""
    with name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(check_finite(labeled_tensor.tensor, msg=message, name=scope), labeled_tensor.axes)


class ReshapeCoder:
    """`reshape`, and the way back."""

    def __init__(self, existing_axis_names: Sequence[str], new_axes: Sequence[Any], name: str | None = None) -> None:
        self._existing, self._new = list(existing_axis_names), list(new_axes)
        self._name = name
        self._axes: list[Axis] | None = None

    def encode(self, labeled_tensor: Any) -> LabeledTensor:
        """The tensor reshaped."""
        with name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            self._axes = [labeled_tensor.axes[name] for name in self._existing]
            return reshape(labeled_tensor, self._existing, self._new, name=scope)

    def decode(self, labeled_tensor: Any) -> LabeledTensor:
        """A tensor with the axes that the last encoded one had."""
        if self._axes is None:
            raise ValueError("Nothing was encoded, so the axes to go back to are not known")
        with name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            names = [axis if isinstance(axis, str) else as_axis(axis).name for axis in self._new]
            return reshape(labeled_tensor, names, self._axes, name=scope)
