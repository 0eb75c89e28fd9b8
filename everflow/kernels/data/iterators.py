"""Iterators at run time: resources of a session that hold an iteration of a dataset and hand out its elements."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    UnimplementedError,
)
from everflow.framework.forking import renewed
from everflow.kernels.array.basic import zeros_like
from everflow.kernels.data.datasets import Dataset, End, Following, Iteration
from everflow.kernels.data.rewrites import check_next, inputs_first
from everflow.kernels.facts import same
from everflow.kernels.math.binary import add_n
from everflow.kernels.queues.queues import shared_resource
from everflow.kernels.registry import fresh, kernel, reading
from everflow.kernels.remote_calls import called_on

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.data.devices import MultiDeviceIterator
    from everflow.kernels.tensors import Strings, Value
    from everflow.protos.attr_value_pb2 import NameAttrList

KIND = "iterator"
HANDLES = "iterator handle"
_INITIALIZE = ". Ensure that you have run the initializer operation for this iterator before getting the next element."


def _kinds(dataset: Dataset) -> list[str]:
    """The types of the datasets that one is made of, and its own."""
    return [made.origin.op_type for made in inputs_first(dataset) if made.origin is not None]


class IteratorResource:
    """The place of an iteration; empty until it is initialised, or until its first use where it has a `factory`."""

    def __init__(self, name: str, factory: Callable[..., Dataset] | None = None, node: Node | None = None) -> None:
        self.name = name
        self.device = "" if node is None else called_on(node)
        self._node = node  # says which types and shapes elements have, where that is known
        self._factory = factory
        self._lock = renewed(threading.RLock())
        self._dataset: Dataset | None = None
        self._iteration: Iteration | None = None
        self._following: Following | None = None
        self._asked = 0

    def check_elements(self, asked: Node) -> None:
        """That elements are what a node with types and shapes expects."""
        if self._node is None:
            return
        count, own_count = (len(node.attrs["output_types"]) for node in (asked, self._node))
        if count and own_count and count != own_count:
            raise InvalidArgumentError(None, None, f"The iterator's elements have {own_count} components, not {count}")
        for what, given in (("output_types", "Data type"), ("output_shapes", "Shape")):
            pairs = zip(asked.attrs[what], self._node.attrs[what], strict=False)  # nothing asked: anything will do
            for i, (wanted, own) in enumerate(pairs):
                if not wanted.is_compatible_with(own):
                    raise InvalidArgumentError(
                        None, None, f"{given} of component {i} of the iterator: expected {wanted}, but it is {own}"
                    )

    def begin(self, dataset: Dataset, step: Step, noted_seeds: Sequence[tuple[int, int]] = ()) -> None:
        check_next(dataset)
        with step.holding(self._lock):
            self._dataset, self._asked = dataset, 0
            self._iteration = iteration = Iteration(step, noted_seeds=noted_seeds)
            iteration.top = dataset
            self._following = dataset.start(iteration)

    def get_next(self, step: Step) -> list[Value]:
        """The next element; raises End."""
        with step.holding(self._lock):
            if self._following is None:
                if self._factory is None:
                    raise FailedPreconditionError(
                        None,
                        None,
                        f"GetNext() failed because the iterator has not been initialized{_INITIALIZE}",
                    )
                self.begin(self._factory(step), step)
            iteration, following = self._iteration, self._following
            assert iteration is not None and following is not None
            iteration.step = step
            self._asked += 1
            try:
                return list(following())
            finally:
                iteration.step = None

    def state(self, session: Session, step: Step) -> bytes:
        """Where the iteration is: how many elements were asked for, and the seeds of its streams."""
        with step.holding(self._lock):
            if self._following is None and self._factory is not None:
                self.begin(self._factory(step), step)
            if self._iteration is None or self._following is None:
                raise FailedPreconditionError(
                    None, None, f"Save() failed because the iterator has not been initialized{_INITIALIZE}"
                )
            if self._iteration.stats is not None:
                raise UnimplementedError(None, None, "An iterator that tells statistics can't be saved.")
            stateful = self._iteration.stateful_op(session)
            if stateful is not None:
                raise FailedPreconditionError(None, None, f"{stateful} is stateful.")
            assert self._dataset is not None
            state = {"asked": self._asked, "seeds": self._iteration.seeds, "kinds": _kinds(self._dataset)}
            return json.dumps(state).encode()

    def restore(self, state: bytes, step: Step) -> None:
        """Go to where another iteration over the same dataset was, by asking for what it had been asked for."""
        with step.holding(self._lock):
            if self._dataset is None and self._factory is not None:
                self.begin(self._factory(step), step)
            if self._dataset is None:
                raise FailedPreconditionError(
                    None, None, f"Restore() failed because the iterator has not been initialized{_INITIALIZE}"
                )
            try:
                found = json.loads(state)
                asked, seeds = int(found["asked"]), [(int(a), int(b)) for a, b in found["seeds"]]
            except (ValueError, KeyError, TypeError) as e:
                raise DataLossError(
                    None, None, "the state of an iterator was not written by Everflow, or is damaged"
                ) from e
            # None: of an older checkpoint.
            if (kinds := found.get("kinds")) not in (
                None,
                own := _kinds(self._dataset),
            ):
                problem = f"The state of an iterator over {' '.join(kinds)} was given to one over {' '.join(own)}"
                raise NotFoundError(None, None, problem)
            self.begin(self._dataset, step, seeds)
            for _ in range(asked):
                with contextlib.suppress(End, OpError):  # what failed then fails again
                    self.get_next(step)
                step.check()


@kernel("Iterator", "IteratorV2", once=True)
def iterator(*, node: Node, session: Session, shared_name: str, container: str) -> IteratorResource:
    return shared_resource(KIND, node, session, container, shared_name, lambda name: IteratorResource(name, node=node))


@kernel("AnonymousIterator")
def anonymous_iterator(*, node: Node) -> IteratorResource:
    return IteratorResource(node.name, node=node)


@kernel("AnonymousIteratorV2")
def anonymous_iterator_v2(*, node: Node) -> tuple[IteratorResource, IteratorResource]:
    made = IteratorResource(node.name, node=node)
    return made, made


@kernel("DeleteIterator")
def delete_iterator(handle: IteratorResource, deleter: IteratorResource, *, session: Session) -> None:
    session.resources.remove(handle)


@kernel("OneShotIterator", once=True)
def one_shot_iterator(
    *, dataset_factory: NameAttrList, node: Node, session: Session, shared_name: str, container: str
) -> IteratorResource:
    def factory(step: Step) -> Dataset:
        return session.function(dataset_factory)(step=step)[0]

    return shared_resource(
        KIND, node, session, container, shared_name, lambda name: IteratorResource(name, factory, node)
    )


@kernel("MakeIterator", first=True, keeps=(0,), writes=())
def make_iterator(dataset: Dataset, iterator: IteratorResource, *, step: Step) -> None:
    iterator.begin(dataset, step)


@reading("SerializeIterator")
def serialize_iterator(resource_handle: IteratorResource, *, session: Session, step: Step) -> Strings:
    return np.array(resource_handle.state(session, step), object)


@kernel("DeserializeIterator")
def deserialize_iterator(resource_handle: IteratorResource, serialized: Strings, *, step: Step) -> None:
    resource_handle.restore(serialized.item(), step)


@kernel("IteratorGetNext", "IteratorGetNextSync", first=True, writes=(), threads_matter_from=0)
def iterator_get_next(iterator: IteratorResource, *, step: Step) -> list[Value]:
    try:
        return iterator.get_next(step)
    except End:
        raise OutOfRangeError(None, None, "End of sequence") from None


@kernel("IteratorGetDevice", "ExperimentalIteratorGetDevice", writes=())
def iterator_get_device(resource: IteratorResource, *, node: Node) -> Strings:
    return np.array((node.device or "/job:localhost/replica:0/task:0/device:CPU:0").encode(), object)


@kernel("IteratorToStringHandle", "MultiDeviceIteratorToStringHandle")
def iterator_to_string_handle(resource_handle: MultiDeviceIterator | IteratorResource, *, session: Session) -> Strings:
    name = f"{resource_handle.name}/{id(resource_handle)}"
    session.resources.lookup_or_create("", HANDLES, name, lambda: resource_handle)
    return np.array(name.encode(), object)


@kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2", "MultiDeviceIteratorFromStringHandle")
def iterator_from_string_handle(
    string_handle: Strings, *, node: Node, session: Session
) -> MultiDeviceIterator | IteratorResource:
    name = string_handle.item().decode(errors="replace")
    found = session.resources.lookup("", HANDLES, name)
    if found is None:
        raise InvalidArgumentError(
            None, None, f"Could not parse string_handle {name!r}: it names no iterator of this session"
        )
    if isinstance(found, IteratorResource):
        if found.device and (asking := called_on(node)) and asking != found.device:
            raise InvalidArgumentError(
                None, None, f"The iterator of {name!r} is on {found.device}, and {asking} can't take it from there"
            )
        found.check_elements(node)
    return found


# --- optional values -------------------------------------------------------------------------


class Optional:
    """A value or none."""

    def __init__(self, components: list[Value] | None = None, types: Sequence[DType] = ()) -> None:
        self.components, self.types = components, types

    @property
    def shape(self) -> torch.Size:
        return torch.Size([])

    def check(self, types: Sequence[DType], shapes: Sequence[TensorShape]) -> None:
        """That what it has is of these types and shapes."""
        for what, own, wanted in zip(self.components or (), self.types, zip(types, shapes), strict=True):
            if own != wanted[0] or not wanted[1].is_compatible_with(tuple(what.shape)):
                given = f"{own.name} of shape {tuple(what.shape)}"
                raise InvalidArgumentError(
                    None, None, f"The optional has {given}, where {wanted[0].name} of shape {wanted[1]} is expected"
                )

    def zeros(self) -> Optional:
        """One of zeros, or of nothing."""
        return Optional(None if self.components is None else [zeros_like(x) for x in self.components], self.types)

    def __add__(self, other: Optional) -> Optional:
        if self.components is None and other.components is None:
            return self
        if self.components is None or other.components is None:
            text = "Cannot add optionals because one has a value and the other doesn't."
            raise InvalidArgumentError(None, None, text)
        return Optional([add_n([a, b]) for a, b in zip(self.components, other.components, strict=True)], self.types)


@kernel("IteratorGetNextAsOptional", first=True, writes=(), threads_matter_from=0)
def iterator_get_next_as_optional(iterator: IteratorResource, *, output_types: list[DType], step: Step) -> Optional:
    try:
        return Optional(iterator.get_next(step), output_types)
    except End:
        return Optional()


@kernel("OptionalFromValue", result=same(0))
def optional_from_value(components: list[Value], *, Toutput_types: list[DType]) -> Optional:
    return Optional(list(components), Toutput_types)


@fresh("OptionalNone")
def optional_none() -> Optional:
    return Optional()


@fresh("OptionalHasValue")
def optional_has_value(optional: Optional) -> torch.Tensor:
    return torch.tensor(optional.components is not None)


@kernel("OptionalGetValue", result=same(0))
def optional_get_value(
    optional: Optional, *, output_types: list[DType], output_shapes: list[TensorShape]
) -> list[Value]:
    if optional.components is None:
        raise InvalidArgumentError(None, None, "The given optional does not have a value.")
    if len(output_types) != len(optional.components):
        problem = f"The optional has {len(optional.components)} components, where {len(output_types)} are expected"
        raise InvalidArgumentError(None, None, problem)
    optional.check(output_types, output_shapes)
    return optional.components
