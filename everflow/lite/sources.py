"""Frozen graphs with their inputs and outputs, from the files and sessions in which models are kept."""

from __future__ import annotations

from everflow.framework.errors import NotFoundError
from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import convert_variables_to_constants
from everflow.framework.importer import import_graph_def
from everflow.platform.gfile import GFile
from everflow.protos.graph_pb2 import GraphDef
from everflow.runtime.session import Session

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp", "ReadVariableOp")


def tensor_name(tensor) -> str:
    """A tensor's name, without `:0`."""
    return tensor.name.removesuffix(":0")


def is_frozen(graph_def) -> bool:
    """Whether a graph has no variables."""
    return not any(node.op.startswith("Variable") or node.op in _VARIABLES for node in graph_def.node)


def freeze(sess, outputs):
    """The graph of a session with variables as constants."""
    graph_def = sess.graph.as_graph_def(add_shapes=True)
    if is_frozen(graph_def):
        return graph_def
    return convert_variables_to_constants(sess, graph_def, [tensor.op.name for tensor in outputs])


def read_graph_def(path):
    """A GraphDef from a binary or text file."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    try:
        with GFile(path, "rb") as f:
            data = f.read()
    except NotFoundError as e:
        raise OSError(f"File '{path}' does not exist.") from e
    try:
        return GraphDef.FromString(data)
    except DecodeError:
        try:
            return text_format.Parse(data.decode(), GraphDef())
        except (text_format.ParseError, UnicodeDecodeError) as e:
            raise OSError(f"Unable to parse input file '{path}' as a GraphDef, neither binary nor text.") from e


def imported(graph_def):
    """A graph with this definition."""
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
    return graph


def tensors_by_name(graph, names) -> list:
    """The first outputs of ops with these names; ValueError names those that aren't there."""
    there = {op.name: op.outputs[0] for op in graph.get_operations() if op.outputs}
    found, missing = [], []
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"Invalid type for a tensor name in the provided graph. Expected a string, got {type(name).__name__}."
            )
        plain = name.removesuffix(":0")
        if plain in there:
            found.append(there[plain])
        elif ":" in plain and plain.partition(":")[0] in there:
            found.append(graph.get_tensor_by_name(plain))
        else:
            missing.append(plain)
    if missing:
        raise ValueError(f"Invalid tensors '{','.join(missing)}' were found.")
    return found


def give_shapes(tensors, shapes) -> None:
    """Set the shapes of inputs that the caller knows, by name."""
    by_name = {tensor_name(t): t for t in tensors}
    for name, shape in (shapes or {}).items():
        if name not in by_name:
            raise ValueError(f"Invalid tensor '{name}' found in tensor shapes map.")
        if shape is not None:
            try:
                by_name[name].set_shape(shape)
            except ValueError as e:
                raise ValueError(f"Tensor {name!r} of shape {by_name[name].shape} can't get shape {shape}: {e}") from e


def give_batch_size(tensors, size: int) -> None:
    """Set the first dimension of inputs that don't know it."""
    for tensor in tensors:
        if tensor.shape.rank and tensor.shape.as_list()[0] is None:
            tensor.set_shape([size, *tensor.shape.as_list()[1:]])


def from_saved_model(folder, input_arrays, input_shapes, output_arrays, tags, signature_key):
    """(frozen GraphDef, inputs, outputs) of a signature of a SavedModel."""
    from everflow.saved_model import loader, signature_constants, tag_constants  # loads google_crc32c

    signature_key = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY if signature_key is None else signature_key
    with Session(graph=Graph()) as sess:
        meta = loader.load(sess, {tag_constants.SERVING} if tags is None else set(tags), folder)
        if signature_key not in meta.signature_def:
            known = ",".join(sorted(meta.signature_def))
            raise ValueError(f"The SavedModel has no signature {signature_key!r}; its SignatureDefs are {known}.")
        signature = meta.signature_def[signature_key]

        def chosen(infos, names):
            if names is not None:
                return tensors_by_name(sess.graph, names)
            return [sess.graph.get_tensor_by_name(name) for name in sorted(info.name for info in infos.values())]

        inputs, outputs = chosen(signature.inputs, input_arrays), chosen(signature.outputs, output_arrays)
        give_batch_size(inputs, 1)
        give_shapes(inputs, input_shapes)
        return freeze(sess, outputs), inputs, outputs


def from_keras_file(path, input_arrays, input_shapes, output_arrays, custom_objects):
    """(frozen GraphDef, inputs, outputs) of a Keras model in an HDF5 file."""
    from everflow.keras import backend, models  # loads google_crc32c

    backend.clear_session()
    backend.set_learning_phase(False)
    model = models.load_model(path, custom_objects)
    sess = backend.get_session()
    inputs = tensors_by_name(sess.graph, input_arrays) if input_arrays else model.inputs
    outputs = tensors_by_name(sess.graph, output_arrays) if output_arrays else model.outputs
    give_shapes(inputs, input_shapes)
    return freeze(sess, outputs), inputs, outputs
