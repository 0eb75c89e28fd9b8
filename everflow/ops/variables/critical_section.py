"""`CriticalSection`: parts of graphs of which one at a time runs, whichever threads and runs ask for them."""

from __future__ import annotations

import collections

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Operation
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import (
    add_to_collection,
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_collection_ref,
    get_default_graph,
    name_scope,
)
from everflow.ops import array
from everflow.ops.control_flow.grouping import group
from everflow.ops.control_flow.grouping import tuple as gated
from everflow.ops.shape_rules import scalar_output

CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"

_Execution = collections.namedtuple("_ExecutionSignature", ["op", "handle", "resources", "exclusive_resource_access"])


class CriticalSection:
    """A lock that belongs to the session. What `execute` draws runs while the lock is held.

    Args:
        name: Its name.
        shared_name: The name under which other sessions of the same server find it, too.
        critical_section_def: A message to make it from; not supported by TensorFlow 1.15 either.
        import_scope: What was put before names when the message's graph was imported.

    Example:
        >>> v = tf.Variable(1.0, use_resource=True)
        >>> section = tf.CriticalSection()
        >>> counted = section.execute(lambda: v.assign(v.read_value() + 1.0))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(counted)
        np.float32(2.0)
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def and name is not None:
            raise ValueError("Give either a name or a critical_section_def, not both")
        if critical_section_def:
            raise NotImplementedError("critical_section_def is not supported: give a name or a shared_name")
        with name_scope(name, "CriticalSection", []) as scope:
            # A lock of this node alone, unless it is shared by name.
            node_name = scope.rstrip("/")
            self._handle = raw.MutexV2(
                shared_name=shared_name if shared_name is not None else scope, container="", name=scope
            )
        self._name = node_name
        if not executing_eagerly():
            add_to_collection(CRITICAL_SECTIONS, self)

    @property
    def name(self):
        """The name of the lock's node."""
        return self._handle.op.name if not executing_eagerly() else self._name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """Draw what `fn()` draws so that it runs while the lock is held; returns what it returns.

        With `exclusive_resource_access` no other CriticalSection may use the same resources: two locks wouldn't keep
        them apart.
        """
        with name_scope(name, "critical_section_execute", []):
            lock = raw.MutexLock(mutex=self._handle)
            if executing_eagerly():
                result = nest.map_structure(lambda x: x if x is None else array.identity(x), fn())
                raw.ConsumeMutexLock(mutex_lock=lock)
                return result
            graph = get_default_graph()
            before = len(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
            drawn = graph.get_operations()[before:]
            resources = self._order_inputs_first(lock.op, drawn)
            self._check_others(lock.op, resources, exclusive_resource_access)
            flat = nest.flatten(result)
            with control_dependencies([_again(x) for x in flat]):
                with colocate_with(self._handle):
                    released = raw.ConsumeMutexLock(mutex_lock=lock)
                flat = gated(flat)
            with control_dependencies([released]):
                return nest.pack_sequence_as(result, [_again(x) for x in flat])

    def _order_inputs_first(self, lock_op, drawn):
        """Let the lock wait for what comes from outside, so that it is held as short as can be; the resources among it."""
        inside = set(drawn)
        outside = dict.fromkeys(t for op in drawn for t in op.inputs if t.op not in inside and t.op is not lock_op)
        resources = [t for t in outside if t.dtype.base_dtype == dtypes.resource]
        if any(map(self._is_own, resources)):
            raise ValueError(
                f"fn attempts to directly access the CriticalSection it runs in, {self._handle.name}: it"
                " would wait for itself, which deadlocks"
            )
        if outside:
            lock_op._add_control_input(group(*dict.fromkeys(t.op for t in outside)))
        return resources

    def _is_own(self, handle):
        """Whether a handle is of this lock: this one, or another node that shares it by name."""
        if handle is self._handle:
            return True
        names = ("container", "shared_name")
        own, other = self._handle.op, handle.op
        return other.type == own.type and all(other.get_attr(name) == own.get_attr(name) for name in names)

    def _check_others(self, lock_op, resources, exclusive):
        executions = get_collection_ref(CRITICAL_SECTION_EXECUTIONS)
        for other in executions:
            if other.handle is self._handle or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [t for t in resources if any(t is o for o in other.resources)]
            if shared:
                raise ValueError(
                    f"{sorted(t.name for t in shared)} would be used under two locks, {self._handle} and {other.handle} (at "
                    f"{other.op.name}), one of which requested exclusive resource access; exclusive_resource_access=False lets both have them."
                )
        executions.append(_Execution(lock_op, self._handle, resources, exclusive))


def _again(item):
    return group(item) if isinstance(item, Operation) else array.identity(item)


shape_rule("MutexV2", "MutexLock")(scalar_output)
