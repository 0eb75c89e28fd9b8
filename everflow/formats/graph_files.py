"""GraphDefs in files, as text or binary."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from google.protobuf import text_format

from everflow.framework.graph import Graph
from everflow.platform import file_io

if TYPE_CHECKING:
    from everflow.protos import graph_pb2


def write_graph(graph_or_graph_def: Graph | graph_pb2.GraphDef, logdir: str, name: str, as_text: bool = True) -> str:
    """Write a graph to `logdir`/`name`, making the folder where it is missing; returns the path.

    Args:
        graph_or_graph_def: A Graph or GraphDef.
        logdir: The folder.
        name: The file's name in it.
        as_text: Whether the file is text, which people can read, or bytes.

    Returns:
        The path.

    Example:
        >>> tf.train.write_graph(tf.get_default_graph(), "model", "train.pbtxt")
        'model/train.pbtxt'
    """
    graph_def = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    file_io.recursive_create_dir(logdir)
    path = os.path.join(logdir, name)
    content = text_format.MessageToString(graph_def) if as_text else graph_def.SerializeToString()
    file_io.atomic_write_string_to_file(path, content)
    return path
