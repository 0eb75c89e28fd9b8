"""Variables at run time: the buffers that ref and resource variables are, and the ops that read and write them.

A ref variable's output is a `Ref`, a resource variable's handle a `ResourceVariable`; both hold one buffer, and one
table of functions writes into it. Training ops are in `training.py`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    UnimplementedError,
)
from everflow.framework.forking import renewed
from everflow.framework.slicing import MASKS, resolve
from everflow.kernels.facts import FRESH, Effect, same, view
from everflow.kernels.registry import kernel, reading, updating
from everflow.kernels.tensors import AnyTensor, Strings, Value, apart, torch_dtype
from everflow.native.lowering import lowers

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Node, Session, Step
    from everflow.native.values import Value as Expression


class Buffer:
    """Memory that outlives a run: `value` is None until something is assigned.

    An assignment of the same shape copies into the buffer, so that whoever holds it sees the new value. Writers that
    must not come between one another hold `lock`; plans see to that (`runtime/plan/locking.py`).
    """

    __slots__ = ("value", "dtype", "name", "shape", "container", "lock", "__weakref__")

    def __init__(self, dtype: DType, name: str = "", shape: TensorShape | None = None, container: str = "") -> None:
        self.value: Value = None
        self.dtype = dtype
        self.name = name
        self.shape = shape
        self.container = container
        self.lock = renewed(threading.Lock())

    def assign(self, value: Value, owned: bool = False) -> None:
        """Take a copy of `value`, into the buffer there is where it has that shape. Where there is none, one that is
        `owned`, since nobody else needs it, becomes the buffer.
        """
        buffer = self.value
        if not isinstance(value, torch.Tensor):
            self.value = value.copy() if isinstance(value, np.ndarray) else value
        elif (
            buffer is None
            or buffer.shape != value.shape
            or buffer.dtype != value.dtype
            or buffer.device != value.device
        ):
            self.value = value if owned and _fills_memory(value) else value.clone(memory_format=torch.contiguous_format)
        else:
            buffer.copy_(apart(value, buffer))  # the value may be the buffer's transpose

    def unshare(self) -> None:
        """Before a write: if somebody else still holds what was read from here, leave that alone and go on with a copy."""
        if isinstance(self.value, torch.Tensor):
            if self._holders() > _ALONE:
                self.value = self.value.clone()
        elif isinstance(self.value, np.ndarray):
            self.value = self.value.copy()

    def _holders(self) -> int:
        """How many hold the tensor or a view of its memory; `_ALONE` where only this does."""
        return sys.getrefcount(self.value) + torch._C._storage_Use_Count(self.value.untyped_storage()._cdata)

    def __repr__(self) -> str:
        state = "uninitialized" if self.value is None else tuple(self.value.shape)
        return f"<{type(self).__name__} {self.name!r} dtype={self.dtype.name} {state}>"


def _fills_memory(value: torch.Tensor) -> bool:
    """Whether a tensor lies in memory as buffers do: in its order, with nothing around it, where vectors may begin."""
    return (
        value.is_contiguous()
        and value.untyped_storage().nbytes() == value.nbytes
        and value.data_ptr() % _ALIGNMENT == 0
    )


# ATen's own.
_ALIGNMENT = 64


def _holders_of_a_new_one() -> int:
    buffer = Buffer(dtypes.float32)
    buffer.value = torch.zeros(())
    return buffer._holders()


# How references are counted differs from one Python to the next.
_ALONE = _holders_of_a_new_one()


class Ref(Buffer):
    """What a ref variable's output carries."""

    __slots__ = ()

    def read(self) -> Value:
        """The buffer; FailedPreconditionError where nothing was assigned yet."""
        if self.value is None:
            raise FailedPreconditionError(None, None, f"Attempting to use uninitialized value {self.name}")
        return self.value

    buffer = read


class ResourceVariable(Buffer):
    """What the handle of a resource variable refers to."""

    __slots__ = ()

    def missing(self) -> str:
        """The sentence that says this variable does not exist yet."""
        return f"Resource {self.container or 'localhost'}/{self.name}/N10tensorflow3VarE does not exist."

    def read(self) -> Value:
        """The buffer, as a reader sees it."""
        if self.value is None:
            raise FailedPreconditionError(
                None,
                None,
                f"Error while reading resource variable {self.name} from Container: {self.container or 'localhost'}. "
                f"This could mean that the variable was uninitialized. Not found: {self.missing()}",
            )
        return self.value

    def buffer(self) -> Value:
        """The buffer, for an op that updates it in part."""
        if self.value is None:
            raise NotFoundError(None, None, self.missing())
        return self.value


def shape_text(shape: Sequence[Any]) -> str:
    """A shape as TensorFlow's messages write it: `[2,3]`."""
    return f"[{','.join(str(int(d)) for d in shape)}]"


@kernel("VariableV2", "Variable", once=True)
def variable(
    *, dtype: DType, shape: TensorShape, container: str, shared_name: str, node: Node, session: Session
) -> Ref:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "variable", name, lambda: Ref(dtype, name, shape, container))


@kernel("VarHandleOp", once=True)
def var_handle(
    *, dtype: DType, shape: TensorShape, container: str, shared_name: str, node: Node, session: Session
) -> ResourceVariable:
    name = shared_name or node.name
    return session.resources.lookup_or_create(
        container, "resource_variable", name, lambda: ResourceVariable(dtype, name, shape, container)
    )


@kernel("TemporaryVariable")
def temporary_variable(*, dtype: DType, shape: TensorShape, var_name: str, node: Node, step: Step) -> Ref:
    ref = Ref(dtype, var_name or node.name, shape)
    dims: list[Any] = shape.as_list()
    ref.value = np.full(dims, b"", object) if dtype.name == "string" else torch.empty(dims, dtype=torch_dtype(dtype))
    key = ("temporary_variable", ref.name)
    if key in step.container:
        raise AlreadyExistsError(None, None, f"There is a temporary variable {ref.name!r} in this run already.")
    step.container[key] = ref
    return ref


@kernel("DestroyTemporaryVariable", result=same(0), effect=Effect.ACTS, writes=(0,))
def destroy_temporary_variable(ref: Ref, *, var_name: str, step: Step) -> torch.Tensor:
    if step.container.pop(("temporary_variable", var_name), None) is None:
        raise NotFoundError(None, None, f"Resource __per_step/{var_name}/TmpVar does not exist.")
    return ref.read()


@reading("IsVariableInitialized", "VarIsInitializedOp")
def is_initialized(variable: Ref | ResourceVariable) -> torch.Tensor:
    return torch.tensor(variable.value is not None)


@reading("ReadVariableOp", result=view(0))
def read_variable(resource: ResourceVariable) -> torch.Tensor:
    return resource.read()


@reading("VariableShape")
def variable_shape(resource: ResourceVariable, *, out_type: DType) -> torch.Tensor:
    return torch.tensor(resource.buffer().shape, dtype=torch_dtype(out_type))


@kernel("DestroyResourceOp", writes=(0,))
def destroy_resource(resource: Any, *, ignore_lookup_error: bool, session: Session) -> None:
    if hasattr(resource, "destroyed"):  # it has something to end
        resource.destroyed()
    if isinstance(resource, ResourceVariable):
        if resource.value is None and not ignore_lookup_error:
            raise NotFoundError(None, None, resource.missing())
        resource.value = None
    elif not session.resources.remove(resource) and not ignore_lookup_error:
        raise NotFoundError(None, None, f"{resource!r} does not exist.")


def _sizes(shape: TensorShape) -> list[int]:
    return [size or 0 for size in shape.as_list()]


@updating("ZeroInitializer")
def zero_initializer(ref: Ref, *, T: DType) -> Ref:
    if ref.value is not None:
        raise InvalidArgumentError(None, None, "The variable has a value already: only a new one is filled with zeros")
    if ref.shape is None or not ref.shape.is_fully_defined():
        raise InvalidArgumentError(None, None, "Zeros for a variable need its shape, which is not fully known")
    ref.assign(torch.zeros(_sizes(ref.shape), dtype=torch_dtype(T.base_dtype)))
    return ref


@updating("ZeroVarInitializer", locks=True)
def zero_var_initializer(var: ResourceVariable, *, dtype: DType, shape: TensorShape) -> ResourceVariable:
    if var.value is None:
        var.assign(torch.zeros(_sizes(shape), dtype=torch_dtype(dtype)))
    return var


@updating("Assign")
def assign(ref: Ref, value: AnyTensor, *, validate_shape: bool, owned: bool = False) -> Ref:
    if validate_shape:
        held = (
            ref.shape.as_list()
            if ref.value is None and ref.shape is not None and ref.shape.is_fully_defined()
            else None
        )
        held = held if ref.value is None else list(ref.value.shape)
        if held is not None and held != list(value.shape):
            both = f"lhs shape= {shape_text(held)} rhs shape= {shape_text(value.shape)}"
            raise InvalidArgumentError(None, None, f"Assign requires shapes of both tensors to match. {both}")
    ref.assign(value, owned)
    return ref


@updating("AssignVariableOp", locks=True)
def assign_variable(resource: ResourceVariable, value: Value, *, owned: bool = False) -> None:
    resource.assign(value, owned)


def _assign_update(name: str, method: Callable) -> None:
    """AssignAdd and AssignSub on refs, and their resource forms."""

    @updating(name)
    def update_ref(ref: Ref, value: torch.Tensor) -> Ref:
        buffer = ref.read()
        if buffer.shape != value.shape:
            raise InvalidArgumentError(None, None, "Parameters and update must be the same size")
        method(buffer, value)
        return ref

    @updating(f"{name}VariableOp", locks=True)
    def update_resource(resource: ResourceVariable, value: torch.Tensor) -> None:
        buffer = resource.buffer()
        if buffer.shape != value.shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Cannot update variable with shape {shape_text(buffer.shape)} using a Tensor with shape {shape_text(value.shape)}, "
                "shapes must be equal.",
            )
        method(buffer, value)


_assign_update("AssignAdd", torch.Tensor.add_)
_assign_update("AssignSub", torch.Tensor.sub_)


@lowers("Assign", "AssignVariableOp", updates=True)
def _lower_assign(held: Expression, value: Expression) -> Expression | None:
    return value if held.shape == value.shape else None


@lowers("AssignAdd", "AssignAddVariableOp", updates=True)
def _lower_assign_add(held: Expression, value: Expression) -> Expression | None:
    return held + value if held.shape == value.shape else None


@lowers("AssignSub", "AssignSubVariableOp", updates=True)
def _lower_assign_sub(held: Expression, value: Expression) -> Expression | None:
    return held - value if held.shape == value.shape else None


@updating("CountUpTo", "ResourceCountUpTo", result=FRESH, locks=True)
def count_up_to(variable: Ref | ResourceVariable, *, limit: int) -> torch.Tensor:
    buffer = variable.buffer()
    if buffer.item() >= limit:
        raise OutOfRangeError(None, None, f"Reached limit of {limit}")
    before = buffer.clone()
    buffer.add_(1)
    return before


# --- parts of a variable ------------------------------------------------------------------


def check_indices(indices: torch.Tensor, size: int) -> torch.Tensor:
    """The indices as int64; InvalidArgumentError names the first that is not in [0, size)."""
    indices = indices.long()
    if indices.numel():
        low, high = torch.aminmax(indices)
        if low.item() < 0 or high.item() >= size:
            at = ((indices < 0) | (indices >= size)).nonzero()[0].tolist()
            where = ",".join(map(str, at))
            raise InvalidArgumentError(
                None, None, f"indices[{where}] = {indices[tuple(at)].item()} is not in [0, {size})"
            )
    return indices


# Marking each index costs less than sorting them, if they lie close enough together.
_MARKS, _SPARSEST = 1 << 16, 64


def _are_distinct(indices: torch.Tensor) -> bool:
    """Whether no index comes twice, where that is quickly found out."""
    highest = int(indices.max())
    if highest >= _MARKS + _SPARSEST * len(indices):
        return False
    marks = torch.zeros(highest + 1, dtype=torch.bool)
    marks[indices] = True
    return int(marks.count_nonzero()) == len(indices)


def unique_rounds(indices: torch.Tensor) -> Sequence[torch.Tensor | None]:
    """Split positions into rounds in which no index comes twice, in order of appearance."""
    if len(indices) < 2 or _are_distinct(indices):
        return [None]
    ordered, order = torch.sort(indices, stable=True)
    starts = torch.ones_like(ordered, dtype=torch.bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    if bool(starts.all()):
        return [None]
    first = torch.arange(len(ordered)).masked_fill(~starts, 0).cummax(0).values
    turn = torch.empty_like(order)
    turn[order] = torch.arange(len(ordered)) - first
    return [(turn == r).nonzero().squeeze(1) for r in range(int(turn.max()) + 1)]


def _by_rows(combine: Callable[..., torch.Tensor]) -> Callable[..., None]:
    """A row update for functions without an indexed form: repeated rows are combined one after the other."""

    def update(rows: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
        for chosen in unique_rounds(indices):
            at, new = (indices, updates) if chosen is None else (indices[chosen], updates[chosen])
            rows.index_copy_(0, at, combine(rows.index_select(0, at), new))

    return update


def _divide(rows: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    if rows.is_floating_point() or rows.is_complex():
        return rows / updates
    if bool((updates == 0).any()):
        raise InvalidArgumentError(None, None, "Integer division by zero")
    return torch.div(rows, updates, rounding_mode="trunc")


def _update_rows(rows: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
    rows.index_copy_(0, indices, updates)


def _add_rows(rows: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
    rows.index_add_(0, indices, updates)


def _sub_rows(rows: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
    rows.index_add_(0, indices, updates, alpha=-1)


_ROW_UPDATES = {
    "Update": _update_rows,
    "Add": _add_rows,
    "Sub": _sub_rows,
    "Mul": _by_rows(torch.mul),
    "Div": _by_rows(_divide),
    "Min": _by_rows(torch.minimum),
    "Max": _by_rows(torch.maximum),
}


def _scatter(buffer: AnyTensor, indices: torch.Tensor, updates: Value, update: Callable[..., None]) -> None:
    expected = (*indices.shape, *buffer.shape[1:])
    if tuple(updates.shape) != expected:
        if updates.ndim or not buffer.ndim:
            raise InvalidArgumentError(
                None,
                None,
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
                f"got updates.shape {shape_text(updates.shape)}, indices.shape {shape_text(indices.shape)}, "
                f"params.shape {shape_text(buffer.shape)}",
            )
        updates = np.broadcast_to(updates, expected) if isinstance(updates, np.ndarray) else updates.expand(expected)
    indices = check_indices(indices, buffer.shape[0])
    if isinstance(buffer, np.ndarray):
        buffer[indices.numpy()] = updates
    else:
        update(buffer, indices.reshape(-1), apart(updates, buffer).reshape(-1, *buffer.shape[1:]))


def scatter_nd(buffer: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, update: Callable[..., None]) -> None:
    """Update slices of `buffer` that are addressed by the last axis of `indices`."""
    depth = indices.shape[-1] if indices.ndim else 1
    if depth > buffer.ndim:
        given = f"indices of shape {shape_text(indices.shape)} address {depth} axes"
        raise InvalidArgumentError(None, None, f"The variable has shape {shape_text(buffer.shape)}, but {given}")
    expected = (*indices.shape[:-1], *buffer.shape[depth:])
    if tuple(updates.shape) != expected:
        if updates.shape[: indices.ndim - 1] != indices.shape[:-1]:
            text = "The outermost dimension of updates and indices must match. "
        else:
            text = "Must have updates.shape = indices.shape[:-1] + ref.shape[indices.shape[-1]:]. "
        got = f"Got indices.shape {shape_text(indices.shape)}, updates.shape {shape_text(updates.shape)}"
        raise InvalidArgumentError(None, None, text + got)
    indices = indices.long().reshape(-1, depth)
    sizes = torch.tensor(buffer.shape[:depth])
    wrong = ((indices < 0) | (indices >= sizes)).any(dim=1)
    if bool(wrong.any()):
        at = int(wrong.nonzero()[0])
        raise InvalidArgumentError(
            None,
            None,
            f"indices[{at}] = {shape_text(indices[at].tolist())} does not index into shape {shape_text(buffer.shape)}",
        )
    flat = torch.zeros(len(indices), dtype=torch.int64)
    for axis in range(depth):
        flat.mul_(buffer.shape[axis]).add_(indices[:, axis])
    rest = tuple(buffer.shape[depth:])
    if isinstance(buffer, np.ndarray):
        buffer.reshape(-1, *rest)[flat.numpy()] = updates.reshape(-1, *rest)
    else:
        update(buffer.view(-1, *rest), flat, apart(updates, buffer).reshape(-1, *rest))


def _register_scatters() -> None:
    def ref_and_resource(name: str, function: Callable, locks: bool) -> None:
        @updating(f"Scatter{name}")
        def scatter_ref(ref: Ref, indices: torch.Tensor, updates: AnyTensor) -> Ref:
            function(ref.read(), indices, updates)
            return ref

        @updating(f"ResourceScatter{name}", locks=locks)
        def scatter_resource(resource: ResourceVariable, indices: torch.Tensor, updates: AnyTensor) -> None:
            function(resource.buffer(), indices, updates)

    for name, update in _ROW_UPDATES.items():
        ref_and_resource(name, lambda b, i, u, update=update: _scatter(b, i, u, update), locks=True)
    for name in ("Update", "Add", "Sub"):
        ref_and_resource(
            f"Nd{name}", lambda b, i, u, update=_ROW_UPDATES[name]: scatter_nd(b, i, u, update), locks=False
        )


_register_scatters()


def _strided_assign(
    buffer: AnyTensor,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    value: Value,
    masks: dict[str, int],
) -> None:
    axes = resolve(list(buffer.shape), begin.tolist(), end.tolist(), strides.tolist(), **masks)
    index: list[slice | int | None] = []
    flips = []
    dims = [axis.size for axis in axes if axis.kind != "shrink"]
    if list(value.shape) != dims:
        assigned = f"sliced l-value shape {shape_text(dims)} does not match r-value shape {shape_text(value.shape)}"
        raise UnimplementedError(None, None, f"{assigned}. Automatic broadcasting not yet implemented.")
    if 0 in dims:
        return
    position = 0
    for axis in axes:
        if axis.kind == "shrink":
            index.append(axis.begin)
        elif axis.kind == "new":
            index.append(None)
            position += 1
        else:
            assert axis.begin is not None and axis.size is not None, "kernels know all sizes"
            last = axis.begin + (axis.size - 1) * axis.stride
            low, high = min(axis.begin, last), max(axis.begin, last)
            index.append(slice(low, high + 1, abs(axis.stride)))
            if axis.stride < 0:  # torch has no negative steps: the value is turned instead
                flips.append(position)
            position += 1
    if isinstance(buffer, np.ndarray):
        buffer[tuple(index)] = np.flip(value, tuple(flips))
    else:
        buffer[tuple(index)] = torch.flip(value, flips) if flips else apart(value, buffer)


@updating("StridedSliceAssign")
def strided_slice_assign(
    ref: Ref,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    value: torch.Tensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Ref:
    masks = dict(zip(MASKS, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), strict=True))
    _strided_assign(ref.read(), begin, end, strides, value, masks)
    return ref


@updating("ResourceStridedSliceAssign", locks=True)
def resource_strided_slice_assign(
    ref: ResourceVariable,
    begin: torch.Tensor,
    end: torch.Tensor,
    strides: torch.Tensor,
    value: torch.Tensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> None:
    masks = dict(zip(MASKS, (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), strict=True))
    _strided_assign(ref.buffer(), begin, end, strides, value, masks)


@reading("ResourceGather")
def resource_gather(resource: ResourceVariable, indices: torch.Tensor, *, batch_dims: int) -> AnyTensor:
    buffer = resource.buffer()
    indices = check_indices(indices, buffer.shape[batch_dims])
    if isinstance(buffer, np.ndarray):
        return np.array(_gather_strings(buffer, indices.numpy(), batch_dims), object)
    if batch_dims:
        batch = buffer.shape[:batch_dims]
        rows = buffer.shape[batch_dims]
        flat = buffer.reshape(-1, *buffer.shape[batch_dims + 1 :])
        offsets = (torch.arange(batch.numel()) * rows).reshape(*batch, *[1] * (indices.ndim - batch_dims))
        return flat[indices + offsets]
    return buffer.index_select(0, indices.reshape(-1)).reshape((*indices.shape, *buffer.shape[1:]))


def _gather_strings(buffer: Strings, indices: np.ndarray, batch_dims: int) -> Strings | bytes:
    if not batch_dims:
        return buffer[indices]
    return np.stack([_gather_strings(b, i, batch_dims - 1) for b, i in zip(buffer, indices, strict=True)])


@reading("ResourceGatherNd")
def resource_gather_nd(resource: ResourceVariable, indices: torch.Tensor) -> AnyTensor:
    buffer = resource.buffer()
    indices = indices.long()
    depth = indices.shape[-1]
    wrong = ((indices < 0) | (indices >= torch.tensor(buffer.shape[:depth]))).any(dim=-1)
    if bool(wrong.any()):
        at = wrong.nonzero()[0].tolist()
        index = f"indices{shape_text(at)} = {shape_text(indices[tuple(at)].tolist())}"
        raise InvalidArgumentError(None, None, f"{index} does not index into param shape {shape_text(buffer.shape)}")
    if not depth:  # positions that name no axis: all of the variable for each
        dims = (*indices.shape[:-1], *buffer.shape)
        return (
            np.array(np.broadcast_to(buffer, dims)) if isinstance(buffer, np.ndarray) else buffer.expand(dims).clone()
        )
    where = indices.unbind(-1)
    if isinstance(buffer, np.ndarray):
        return np.array(buffer[tuple(i.numpy() for i in where)], object)
    taken = buffer[where]
    return taken.clone() if indices.ndim == 1 else taken  # one position alone gives a view
