"""`core.converter`: what conversions of functions are derived from, and what they know of the function and the program."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from everflow.legacy.inner.autograph import activity, definitions, flow_graphs, liveness, names, sources, walking
from everflow.legacy.inner.autograph import annotations as anno
from everflow.ops.autograph.options import ConversionOptions


class ProgramContext(NamedTuple):
    """What is the same for all functions that are transformed together."""

    options: Any
    autograph_module: Any


class EntityContext(walking.Context):
    """What transformations of one function or class know."""

    def __init__(self, namer, entity_info, program_ctx, target_name=None):
        super().__init__(entity_info)
        self.namer = namer
        self.program = program_ctx
        self.target_name = target_name


class AgAnno(enum.Enum):
    """Notes of converters."""

    DIRECTIVES = "directives that were given with a call"

    def __repr__(self):
        return self.name


class AnnotatedDef(definitions.Definition):
    """A definition, with {directive: {argument: node}} that a program gave for it."""


class Base(walking.Base):
    """What converters are derived from."""

    def get_definition_directive(self, node, directive, arg, default):
        """The argument of a directive that was given for a name; the default where none was."""
        found = [
            given[directive]
            for definition in anno.getanno(node, anno.Static.ORIG_DEFINITIONS, ())
            if directive in (given := definition.directives)
        ]
        values = [given[arg] for given in found if arg in given]
        if not values:
            return default
        texts = {sources.ast_to_source(value) for value in values}
        if len(texts) > 1:
            raise ValueError(f"{directive} says different things of {arg}: {sorted(texts)}")
        return values[0]


def standard_analysis(node, context, is_initial=False):
    """The tree with notes on its names, on what its statements read and write, where values come from and how long they are
    needed.
    """
    graphs = flow_graphs.build(node)
    node = names.resolve(node)
    node = activity.resolve(node, context, None)
    node = definitions.resolve(node, context, graphs, AnnotatedDef)
    node = liveness.resolve(node, context, graphs)
    if is_initial:
        anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})
    return node


def apply_(node, context, converter_module):
    """A converter's transformation, with the notes it needs made before."""
    return converter_module.transform(standard_analysis(node, context), context)


STANDARD_OPTIONS = ConversionOptions(recursive=True, optional_features=None)
