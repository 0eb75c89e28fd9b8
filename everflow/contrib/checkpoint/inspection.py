"""Looking into checkpoints: which objects they hold, and how these hang together."""

from __future__ import annotations

from everflow.formats.checkpoint import open_checkpoint
from everflow.train.checkpoint_reader import NewCheckpointReader
from everflow.train.tracking import OBJECT_GRAPH_KEY, children_of, read_object_graph


def list_objects(root_trackable):
    """All objects that hang on one, nearest first."""
    found, known = [root_trackable], {id(root_trackable)}
    for thing in found:
        for _, child in children_of(thing):
            if id(child) not in known:
                known.add(id(child))
                found.append(child)
    return found


def object_metadata(save_path):
    """The graph of objects that a checkpoint was made of."""
    reader = open_checkpoint(save_path)
    if not reader.has(OBJECT_GRAPH_KEY):
        raise ValueError(
            f"{save_path} holds variables by their names: it has no objects, as those of tf.train.Checkpoint have"
        )
    return read_object_graph(reader, save_path)


def dot_graph_from_checkpoint(save_path):
    """The objects of a checkpoint as a drawing in the DOT language; variables are blue, slots of optimizers red."""
    graph = object_metadata(save_path)
    reader = NewCheckpointReader(save_path)
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    slots = {slot.slot_variable_node_id for node in graph.nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(graph.nodes):
        style = 'shape=point label=""'
        for attribute in node.attributes:
            if attribute.name == "VARIABLE_VALUE":
                key = attribute.checkpoint_key
                color = "red" if number in slots else "blue"
                style += f' color={color} width=.25 tooltip="Variable {attribute.full_name} shape={shapes[key]} {types[key].name}"'
                break
        else:
            style += " width=.25"
        lines.append(f"N_{number} [{style}]")
        lines += [f'N_{number} -> N_{child.node_id} [label="{child.local_name}"]' for child in node.children]
        for slot in node.slot_variables:
            edge = f"N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id}"
            lines.append(f'{edge} [label="{slot.slot_name}" style=dotted]')
    return "\n".join([*lines, "}", ""])
