"""What those of the test ops do that run in TensorFlow, too: say which kernel, device or graph they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from everflow.framework.dtypes import float32
from everflow.framework.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from everflow.kernels.registry import acting, kernel, reading, safe
from everflow.kernels.tensors import from_numpy

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Value

# Where there are kernels by label: the one without is None.
_LABELS = {"KernelLabel": (None, "overload_1", "overload_2"), "KernelLabelRequired": ("overload_1", "overload_2")}


def _text(words: str) -> np.ndarray:
    return np.array(words.encode(), dtype=object)


@kernel("KernelLabel")
def kernel_label(*, node: Node) -> np.ndarray:
    return _label(node)


@kernel("KernelLabelRequired")
def kernel_label_required(input: Value, *, node: Node) -> np.ndarray:
    return _label(node)


def _label(node: Node) -> np.ndarray:
    label = node.attrs.get("_kernel")
    label = (label.decode() if isinstance(label, bytes) else label) or None
    if label not in _LABELS[node.type]:
        raise InvalidArgumentError(None, None, f"A '{node.type}' op has no kernel of the label {label!r}")
    return _text(f"My label is: {label or 'default'}")


@kernel("DevicePlacementOp")
def device_placement(*, node: Node) -> np.ndarray:
    return _text(node.device)


@safe("GraphDefVersion")
def graph_def_version(*, session: Session) -> Value:
    return from_numpy(np.array(session.graph.graph_def_versions.producer, np.int32))


@kernel("TestAttr")
def test_attr(*, T: DType) -> Value:
    if T != float32:
        raise InvalidArgumentError(None, None, f"A 'TestAttr' op runs with float32 only, not with {T.name}")
    return from_numpy(np.array(1.0, np.float32))


@acting("Old")
def old() -> None:
    return None


class StubResource:
    """A handle of what may be there or not."""

    def __init__(self, container: str, name: str) -> None:
        self.where = (container or "localhost", "stub", name)


@kernel("StubResourceHandleOp", once=True)
def stub_resource_handle(*, container: str, shared_name: str) -> StubResource:
    return StubResource(container, shared_name)


@reading("ResourceInitializedOp")
def resource_initialized(resource: StubResource, *, session: Session) -> Value:
    return from_numpy(np.array(session.resources.lookup(*resource.where) is not None))


@acting("ResourceCreateOp")
def resource_create(resource: StubResource, *, session: Session) -> None:
    made = object()
    if session.resources.lookup_or_create(*resource.where, lambda: made) is not made:
        raise AlreadyExistsError(None, None, f"There is a resource {resource.where[2]!r} already")


@reading("ResourceUsingOp")
def resource_using(resource: StubResource, *, session: Session) -> None:
    if session.resources.lookup(*resource.where) is None:
        raise NotFoundError(None, None, f"There is no resource {resource.where[2]!r}")
