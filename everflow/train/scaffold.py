"""`Scaffold`: the ops that a monitored session needs of a graph, made by default where a program brings none."""

from __future__ import annotations

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection, get_default_graph
from everflow.ops.array import concat
from everflow.ops.grouping import group
from everflow.ops.lookup import tables_initializer
from everflow.ops.resources import initialize_resources, local_resources, report_uninitialized_resources, shared_resources
from everflow.ops.summaries import merge_all
from everflow.ops.variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from everflow.platform import logging
from everflow.train.saver import Saver


def saver_or_default():
    """The saver of the graph's collection; a sharded one of all variables, put there, where there is none."""
    savers = get_collection(GraphKeys.SAVERS)
    if savers:
        if len(savers) > 1:
            raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use.")
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    if saver is not None:
        add_to_collection(GraphKeys.SAVERS, saver)
    return saver


class Scaffold:
    """Init ops, ready ops, summaries and the saver of a graph; `finalize` makes what was not given."""

    def __init__(
        self,
        init_op=None,
        init_feed_dict=None,
        init_fn=None,
        ready_op=None,
        ready_for_local_init_op=None,
        local_init_op=None,
        summary_op=None,
        saver=None,
        copy_from_scaffold=None,
    ):
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError(f"`copy_from_scaffold` must be a Scaffold, not {copy_from_scaffold!r}")
            other = copy_from_scaffold
            self._user_init_fn = init_fn or other._user_init_fn
            init_op = _first(init_op, other.init_op)
            init_feed_dict = _first(init_feed_dict, other.init_feed_dict)
            ready_op = _first(ready_op, other.ready_op)
            ready_for_local_init_op = _first(ready_for_local_init_op, other.ready_for_local_init_op)
            local_init_op = _first(local_init_op, other.local_init_op)
            summary_op = _first(summary_op, other.summary_op)
            saver = _first(saver, other.saver)
        else:
            self._user_init_fn = init_fn
        self._init_fn = (lambda sess: self._user_init_fn(self, sess)) if self._user_init_fn else None
        self._init_op = init_op
        self._init_feed_dict = init_feed_dict
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._local_init_op = local_init_op
        self._summary_op = summary_op
        self._saver = saver

    def finalize(self):
        """Make what is missing, and finalize the graph; gives itself."""
        if self._init_op is None:
            self._init_op = Scaffold.get_or_default(
                "init_op",
                GraphKeys.INIT_OP,
                lambda: group(global_variables_initializer(), initialize_resources(shared_resources())),
            )
        if self._ready_op is None:
            self._ready_op = Scaffold.get_or_default(
                "ready_op",
                GraphKeys.READY_OP,
                lambda: concat([report_uninitialized_variables(), report_uninitialized_resources()], 0),
            )
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = Scaffold.get_or_default(
                "ready_for_local_init_op",
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                lambda: concat([report_uninitialized_variables(global_variables()), report_uninitialized_resources(shared_resources())], 0),
            )
        if self._local_init_op is None:
            self._local_init_op = Scaffold.get_or_default("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
        if self._summary_op is None:
            self._summary_op = Scaffold.get_or_default("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = saver_or_default()
        if isinstance(self._saver, Saver):
            self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self):
        """A function of the session, called after the init op."""
        return self._init_fn

    @property
    def init_op(self):
        """The op that initializes global variables."""
        return self._init_op

    @property
    def init_feed_dict(self):
        """What is fed to the init op."""
        return self._init_feed_dict

    @property
    def ready_op(self):
        """A tensor of the names of what is not initialized yet."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        """A tensor of the names of what is missing for the local init op."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self):
        """The op that initializes local variables and tables."""
        return self._local_init_op

    @property
    def summary_op(self):
        """All summaries, merged."""
        return self._summary_op

    @property
    def saver(self):
        """The saver."""
        return self._saver

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The one thing of a collection, or a default that is put there."""
        elements = get_collection(collection_key)
        if elements:
            if len(elements) > 1:
                raise RuntimeError(
                    f'More than one item in the collection "{collection_key}". Please indicate which one to use by passing it to the '
                    f"tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
                )
            return elements[0]
        op = default_constructor()
        if op is not None:
            add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op():
        """An op that initializes local variables, tables and local resources."""
        return group(local_variables_initializer(), tables_initializer(), initialize_resources(local_resources()))


def _first(a, b):
    return b if a is None else a
