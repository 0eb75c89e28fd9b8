"""`pyct.transformer`: a walk through a tree that knows which functions it is in and keeps state by block."""

from __future__ import annotations

import ast
from typing import NamedTuple

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import sources, templates, tree_tools
from everflow.legacy.inner.autograph.trees import nodes


class EntityInfo(NamedTuple):
    """Where the code that is transformed comes from."""

    source_code: str
    source_file: str | None
    future_features: tuple
    namespace: dict


class Context:
    """What walks through the same code share."""

    def __init__(self, info):
        self.info = info
        self.current_origin = None


class _StateStack:
    """Values of one type, one for each block that was entered; attributes are those of the innermost."""

    def __init__(self, type_):
        object.__setattr__(self, "type", type_)
        object.__setattr__(self, "_stack", [])
        if not getattr(type_, "no_root", False):
            self.enter()

    def enter(self):
        """Begin a block."""
        self._stack.append(self.type())

    def exit(self):
        """End it: its value is given back."""
        return self._stack.pop()

    @property
    def stack(self):
        """The values, outermost first."""
        return self._stack

    @property
    def level(self):
        """How many there are."""
        return len(self._stack)

    @property
    def value(self):
        """The innermost."""
        return self._stack[-1]

    def __iter__(self):
        return iter(self._stack)

    def __getattr__(self, key):
        return getattr(self._stack[-1], key)

    def __setattr__(self, key, value):
        setattr(self._stack[-1], key, value)


class _State(dict):
    """{type: its stack}, made when asked for."""

    def __missing__(self, key):
        self[key] = _StateStack(key)
        return self[key]


class Base(nodes.NodeTransformer):
    """What transformations of trees are derived from."""

    def __init__(self, ctx):
        self.ctx = ctx
        self.state = _State()
        self._enclosing_entities: list = []
        self._local_scope_state: list[dict] = []

    @property
    def enclosing_entities(self):
        """The functions and classes that the walk is in, outermost first."""
        return tuple(self._enclosing_entities)

    @property
    def local_scope_level(self):
        """How many local scopes were entered."""
        return len(self._local_scope_state)

    def enter_local_scope(self, inherit=None):
        """Begin a scope; `inherit` are names whose values it takes over."""
        outer = self._local_scope_state[-1] if self._local_scope_state else {}
        self._local_scope_state.append({name: outer[name] for name in inherit or () if name in outer})

    def exit_local_scope(self, keep=None):
        """End a scope and return its values; those named in `keep` go to the scope around it."""
        ended = self._local_scope_state.pop()
        if self._local_scope_state:
            self._local_scope_state[-1].update({name: ended[name] for name in keep or () if name in ended})
        return ended

    def set_local(self, name, value):
        """Keep a value in the scope."""
        self._local_scope_state[-1][name] = value

    def get_local(self, name, default=None):
        """A value of the scope."""
        return self._local_scope_state[-1].get(name, default)

    def debug_print(self, node):
        """Print a tree and return it."""
        print(nodes.dump(node))
        return node

    def debug_print_src(self, node):
        """Print a tree as source and return it."""
        print(sources.ast_to_source(node, include_encoding_marker=False))
        return node

    def create_assignment(self, target, expression):
        """The statement `target = expression`."""
        return templates.replace("target = expression", target=target, expression=expression)

    def visit_block(self, nodes, before_visit=None, after_visit=None):
        """Visit statements in order.

        `after_visit` is given each and returns (what stands in its place, a list or None); with a list, statements
        after it are added there.
        """
        results: list = []
        destination = results
        for node in nodes or ():
            if before_visit:
                before_visit()
            made = self.visit(node)
            elsewhere = None
            if after_visit and made:
                made, elsewhere = after_visit(made)
            if made:
                destination.extend(made if isinstance(made, (list, tuple)) else [made])
            if elsewhere is not None:
                destination = elsewhere
        return results

    def apply_to_single_assignments(self, targets, values, apply_fn):
        """Call `apply_fn(target, value)` for every single name that an assignment of tuples comes to."""
        tree_tools.apply_to_single_assignments(targets, values, apply_fn)

    def visit(self, node):
        """Visit one node; its place in the source is kept in `ctx.current_origin`."""
        if not isinstance(node, ast.AST):
            raise ValueError(f"one node is wanted, not {type(node).__name__}: visit_block takes several")
        if anno.hasanno(node, anno.Basic.SKIP_PROCESSING):
            return node
        before = self.ctx.current_origin
        is_entity = isinstance(node, (nodes.FunctionDef, nodes.ClassDef, nodes.Lambda))
        if is_entity:
            self._enclosing_entities.append(node)
        self.ctx.current_origin = anno.getanno(node, anno.Basic.ORIGIN, before)
        try:
            return super().visit(node)
        finally:
            self.ctx.current_origin = before
            if is_entity:
                self._enclosing_entities.pop()
