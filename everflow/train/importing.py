"""`tf.train.import_meta_graph`: a graph with its collections, and a Saver for its variables."""

from __future__ import annotations

from everflow.framework.scopes import get_default_graph
from everflow.ops.io.meta_graph import import_with_elements, read_meta_graph_file, refuse_when_eager
from everflow.ops.variables.variable import _all_saveable_objects
from everflow.platform import logging
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.train.saver import Saver


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Add a MetaGraphDef's nodes and collections to the default graph; returns a Saver for its variables or None.

    Args:
        meta_graph_or_file: A MetaGraphDef, or a file with one.
        clear_devices: Whether nodes forget their devices.
        import_scope: The name scope they are put under.
        **kwargs: `input_map`, and what else `tf.import_graph_def` takes.

    Returns:
        A `tf.train.Saver`, or None.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> v = tf.Variable(1.0, name="v")
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./model")
        >>> with tf.Graph().as_default(), tf.Session() as session:
        ...     saver = tf.train.import_meta_graph("model.meta")
        ...     saver.restore(session, path)
        ...     print(session.run("v:0"))
        1.0
    """
    return import_meta_graph_with_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_meta_graph_with_elements(
    meta_graph_or_file, clear_devices=False, import_scope=None, return_elements=None, **kwargs
):
    """As `import_meta_graph`; returns (Saver, the return elements)."""
    refuse_when_eager()
    meta = (
        meta_graph_or_file if isinstance(meta_graph_or_file, MetaGraphDef) else read_meta_graph_file(meta_graph_or_file)
    )
    graph = get_default_graph()
    scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else graph.get_name_scope()
    _, elements = import_with_elements(
        meta, clear_devices, import_scope=import_scope, return_elements=return_elements, **kwargs
    )
    return saver_for_imported(meta, scope, _all_saveable_objects(scope=import_scope)), elements


def saver_for_imported(meta_graph_def, import_scope, imported_vars):
    """The Saver that came with a MetaGraphDef, or else one for its variables; None where there are none."""
    if meta_graph_def.HasField("saver_def"):
        return Saver(saver_def=meta_graph_def.saver_def, name=import_scope)
    if imported_vars:
        return Saver()
    logging.info("The imported graph has no variables, so there is no Saver for it.")
    return None
