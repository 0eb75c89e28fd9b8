"""`pyct.anno`: notes on the nodes of a syntax tree, under keys."""

from __future__ import annotations

import enum

from everflow.legacy.inner.autograph.trees import nodes

_FIELD = "___pyct_anno"
FAIL = object()


class NoValue(enum.Enum):
    """Keys that are shown by their names."""

    def __repr__(self):
        return self.name


class Basic(NoValue):
    """What is known of a node as it was written."""

    QN = "the qualified name that it is"
    SKIP_PROCESSING = "not to be transformed further"
    INDENT_BLOCK_REMAINDER = "what follows goes into a block of its own"
    ORIGIN = "where in the source it was"


class Static(NoValue):
    """What was found out about a node without running it."""

    IS_PARAM = "a name is a parameter"
    SCOPE = "names that a statement reads and writes"
    ARGS_SCOPE = "names in a call's arguments"
    COND_SCOPE = "names in the test of a branch or loop"
    BODY_SCOPE = "names in the body of a function, branch or loop"
    ORELSE_SCOPE = "names in the other branch"
    DEFINITIONS = "definitions that may reach a name"
    ORIG_DEFINITIONS = "definitions that may reach a name, in the code as it was at first"
    DEFINED_VARS_IN = "names that are defined when a statement begins"
    LIVE_VARS_OUT = "names still needed when a statement is done"
    LIVE_VARS_IN = "names needed when a statement begins"


def keys(node, field_name=_FIELD):
    """The keys of a node's notes."""
    return frozenset(getattr(node, field_name, ()))


def getanno(node, key, default=FAIL, field_name=_FIELD):
    """A node's note under a key, or the default; without one a KeyError."""
    found = getattr(node, field_name, {})
    return found[key] if default is FAIL else found.get(key, default)


def hasanno(node, key, field_name=_FIELD):
    """Whether a node has a note under a key."""
    return key in keys(node, field_name)


def setanno(node, key, value, field_name=_FIELD):
    """Put a note under a key. Notes are a field of the node, so that copies of trees keep them."""
    notes = getattr(node, field_name, {})
    setattr(node, field_name, notes)
    notes[key] = value
    if field_name not in node._fields:
        node._fields = (*node._fields, field_name)


def delanno(node, key, field_name=_FIELD):
    """Take a note away; with the last one the field goes, too."""
    notes = getattr(node, field_name)
    del notes[key]
    if not notes:
        delattr(node, field_name)
        node._fields = tuple(field for field in node._fields if field != field_name)


def copyanno(from_node, to_node, key, field_name=_FIELD):
    """Give a node another's note, where that has it."""
    if hasanno(from_node, key, field_name):
        setanno(to_node, key, getanno(from_node, key, field_name=field_name), field_name)


def dup(node, copy_map, field_name=_FIELD):
    """In a whole tree, put each note that is under a key of `copy_map` under that entry's value as well."""
    for inside in nodes.walk(node):
        for key in copy_map:
            if hasanno(inside, key, field_name):
                setanno(inside, copy_map[key], getanno(inside, key, field_name=field_name), field_name)
