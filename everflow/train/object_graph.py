"""The objects below a root as a checkpoint names them: paths, slots of optimizers, the TrackableObjectGraph, and matching one."""

from __future__ import annotations

from collections import deque

from everflow.protos.trackable_object_graph_pb2 import TrackableObjectGraph

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def objects_below(root):
    """[(object, path)] of all objects that can be reached, breadth first; a path is the shortest tuple of names."""
    found, queue = {root: ()}, deque([root])
    while queue:
        parent = queue.popleft()
        for name, child in parent._checkpoint_dependencies:
            if child not in found:
                found[child] = (*found[parent], name)
                queue.append(child)
    return list(found.items())


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


def _prefix(path):
    return "/".join(_escaped(name) for name in path)


def _key(prefix, attribute):
    return f"{prefix}/.ATTRIBUTES/{attribute}" if prefix else f".ATTRIBUTES/{attribute}"


def described(root):
    """(TrackableObjectGraph, [(key in the checkpoint, what is saved)]) of the objects below a root."""
    graph, saved = TrackableObjectGraph(), []
    objects = objects_below(root)
    ids = {obj: i for i, (obj, _) in enumerate(objects)}
    prefixes = {obj: _prefix(path) for obj, path in objects}
    slots = _slots(objects, ids, prefixes)
    for obj, _ in objects:
        node = graph.nodes.add()
        for name, child in obj._checkpoint_dependencies:
            node.children.add(local_name=name, node_id=ids[child])
        for slot_name, original, slot in slots.get(obj, ()):
            node.slot_variables.add(slot_name=slot_name, original_variable_node_id=ids[original], slot_variable_node_id=ids[slot])
        _describe_values(node, obj, prefixes[obj], saved)
    for obj in list(ids)[len(objects) :]:
        _describe_values(graph.nodes.add(), obj, prefixes[obj], saved)
    return graph, saved


def _slots(objects, ids, prefixes):
    """Optimizer → [(slot name, variable, slot)]; slots that nothing else holds get ids and names of their own."""
    found = {}
    for optimizer, path in objects:
        if not hasattr(optimizer, "get_slot_names"):
            continue
        found[optimizer] = []
        for slot_name in optimizer.get_slot_names():
            for variable, _ in objects:
                slot = optimizer.get_slot(variable, slot_name) if hasattr(variable, "op") else None
                if slot is None:
                    continue
                if slot not in ids:
                    ids[slot] = len(ids)
                    prefixes[slot] = f"{prefixes[variable]}/.OPTIMIZER_SLOT/{_prefix(path)}/{_escaped(slot_name)}"
                found[optimizer].append((slot_name, variable, slot))
    return found


def _describe_values(node, obj, prefix, saved):
    for attribute, saveable in obj._gather_saveables_for_checkpoint().items():
        key = _key(prefix, attribute)
        node.attributes.add(name=attribute, full_name=getattr(saveable, "_shared_name", ""), checkpoint_key=key)
        saved.append((key, saveable))


def matched(graph, root):
    """Node id → object, as far as the names of a checkpoint's object graph lead from a root."""
    bound, queue = {0: root}, deque([0])
    while queue:
        node_id = queue.popleft()
        for child in graph.nodes[node_id].children:
            obj = bound[node_id]._lookup_dependency(child.local_name)
            if obj is not None and child.node_id not in bound:
                bound[child.node_id] = obj
                queue.append(child.node_id)
    for node_id, obj in list(bound.items()):
        for slot in graph.nodes[node_id].slot_variables:
            original = bound.get(slot.original_variable_node_id)
            found = obj.get_slot(original, slot.slot_name) if original is not None and hasattr(obj, "get_slot") else None
            if found is not None:
                bound[slot.slot_variable_node_id] = found
    return bound
