"""`Scaffold`: the ops that a monitored session needs of a graph, made by default where a program brings none."""

from __future__ import annotations

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection, get_default_graph
from everflow.ops.array import concat
from everflow.ops.control_flow.grouping import group
from everflow.ops.io.summaries import merge_all
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.variables.resources import (
    initialize_resources,
    local_resources,
    report_uninitialized_resources,
    shared_resources,
)
from everflow.ops.variables.variable import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.train.saver import Saver


def only_of(collection, argument):
    """The one thing in a collection of the graph, or None; where there are more, `argument` can say which one."""
    found = get_collection(collection)
    if len(found) > 1:
        raise RuntimeError(f'More than one item in the collection "{collection}": say which one is meant by {argument}')
    return found[0] if found else None


# What `finalize` makes where neither the program nor a collection of the graph has it, in this order.
_DEFAULTS = {
    "init_op": (
        GraphKeys.INIT_OP,
        lambda: group(global_variables_initializer(), initialize_resources(shared_resources())),
    ),
    "ready_op": (
        GraphKeys.READY_OP,
        lambda: concat([report_uninitialized_variables(), report_uninitialized_resources()], 0),
    ),
    "ready_for_local_init_op": (
        GraphKeys.READY_FOR_LOCAL_INIT_OP,
        lambda: concat(
            [report_uninitialized_variables(global_variables()), report_uninitialized_resources(shared_resources())], 0
        ),
    ),
    "local_init_op": (GraphKeys.LOCAL_INIT_OP, lambda: Scaffold.default_local_init_op()),
    "summary_op": (GraphKeys.SUMMARY_OP, merge_all),
    "saver": (GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True)),
}


class ModelOps:
    """The ops by which a model is made ready, summarized and saved."""

    init_op = property(lambda self: self._init_op, doc="The op that initializes the model: its global variables.")
    init_feed_dict = property(lambda self: self._init_feed_dict, doc="What is fed to the init op.")
    ready_op = property(lambda self: self._ready_op, doc="A tensor of the names of what is not initialized yet.")
    ready_for_local_init_op = property(
        lambda self: self._ready_for_local_init_op,
        doc="A tensor of the names of what is missing for the local init op.",
    )
    summary_op = property(lambda self: self._summary_op, doc="All summaries, merged.")
    saver = property(lambda self: self._saver, doc="The saver.")


class Scaffold(ModelOps):
    """Init ops, ready ops, summaries and the saver of a graph; `finalize` makes what was not given.

    Args:
        init_op: What initializes variables.
        init_feed_dict: What is fed to it.
        init_fn: A function of scaffold and session to call after it.
        ready_op: What names the variables that aren't initialized yet.
        ready_for_local_init_op: What names the variables that `local_init_op` still waits for.
        local_init_op: What initializes local variables and tables.
        summary_op: What makes the summaries to write.
        saver: What writes and reads checkpoints.
        copy_from_scaffold: Another scaffold, whose values are taken where none is given.

    Example:
        >>> v = tf.Variable(1.0)
        >>> change = v.assign(5.0)
        >>> scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(change))
        >>> with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        ...     print(session.run(v))
        5.0
    """

    @takes(
        """init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
        local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None""",
    )
    def __init__(self, init_fn, copy_from_scaffold, **given):
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError(f"`copy_from_scaffold` must be a Scaffold, not {copy_from_scaffold!r}")
            init_fn = init_fn or copy_from_scaffold._user_init_fn
            given = {
                name: getattr(copy_from_scaffold, name) if value is None else value for name, value in given.items()
            }
        for name, value in given.items():
            setattr(self, f"_{name}", value)
        self._user_init_fn = init_fn
        self._init_fn = (lambda sess: self._user_init_fn(self, sess)) if init_fn else None

    local_init_op = property(
        lambda self: self._local_init_op, doc="The op that initializes local variables and tables."
    )
    init_fn = property(lambda self: self._init_fn, doc="A function of the session, called after the init op.")

    def finalize(self):
        """Make what is missing, and finalize the graph; gives itself."""
        for name, (collection, make) in _DEFAULTS.items():
            if getattr(self, name) is None:
                setattr(self, f"_{name}", Scaffold.get_or_default(name, collection, make))
        if isinstance(self._saver, Saver):
            self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The one thing of a collection, or a default that is put there."""
        op = only_of(collection_key, f"tf.train.Scaffold({arg_name}=...)")
        if op is None:
            op = default_constructor()
            if op is not None:
                add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op():
        """An op that initializes local variables, tables and local resources."""
        return group(local_variables_initializer(), tables_initializer(), initialize_resources(local_resources()))
