"""`pyct.static_analysis.activity`: which names statements and blocks read, write and delete."""

from __future__ import annotations

import copy
import functools
import weakref

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import trees
from everflow.legacy.inner.autograph.names import QN
from everflow.legacy.inner.autograph.trees import nodes
from everflow.legacy.inner.autograph.walking import Base


class Scope:
    """The names of a piece of code. What happens in one that isn't isolated happens in the one around it, too."""

    def __init__(self, parent, isolated=True, add_unknown_symbols=False):
        self.parent = parent
        self.isolated = isolated
        self.add_unknown_symbols = add_unknown_symbols
        self.modified: set = set()
        self.deleted: set = set()
        self.read: set = set()
        self.params: weakref.WeakValueDictionary = weakref.WeakValueDictionary()

    @property
    def affects_parent(self):
        """Whether names go to the scope around it."""
        return not self.isolated and self.parent is not None

    def __repr__(self):
        return f"Scope{{r={tuple(self.read)}, w={tuple(self.modified)}}}"

    @property
    def referenced(self):
        """Names that are read here or around."""
        return self.read | self.parent.referenced if self.affects_parent else self.read

    def copy_from(self, other):
        """Take over what another scope has."""
        if other.parent is not None:
            self.parent.copy_from(other.parent)
        self.isolated = other.isolated
        self.modified, self.read = set(other.modified), set(other.read)
        self.params = copy.copy(other.params)

    @classmethod
    def copy_of(cls, other):
        """A scope like another, its parents copied as well."""
        made = cls(None if other.parent is None else cls.copy_of(other.parent), other.isolated)
        made.copy_from(other)
        return made

    def _outwards(self):
        """This scope, the one around it, and so on."""
        scope = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def merge_from(self, other):
        """Add what another scope has, and those around it."""
        mine, theirs = [*self._outwards()], [*other._outwards()]
        if len(mine) != len(theirs):
            raise ValueError(f"scopes at different depths can't be merged: {len(mine)} and {len(theirs)}")
        for scope, more in zip(mine, theirs):
            scope.read |= more.read
            scope.modified |= more.modified
            scope.params.update(more.params)

    def mark_read(self, name):
        """A name is read."""
        self.read.add(name)
        if self.affects_parent or (self.parent is not None and name not in self.params):
            self.parent.mark_read(name)

    def mark_param(self, name, owner):
        """A name is a parameter of a function."""
        self.params[name] = owner

    def mark_modified(self, name):
        """A name is written."""
        self.modified.add(name)
        if self.affects_parent:
            self.parent.mark_modified(name)

    def mark_deleted(self, name):
        """A name is deleted."""
        self.deleted.add(name)


class NodeAnno(anno.NoValue):
    """`static_analysis.annos`: further notes on nodes."""

    IS_LOCAL = "a name is of this function"
    IS_PARAM = "a name is a parameter"
    IS_MODIFIED_SINCE_ENTRY = "a name was written since its function began"
    ARGS_SCOPE = "names in a call's arguments"
    COND_SCOPE = "names in a test"
    ITERATE_SCOPE = "names that a loop assigns"
    BODY_SCOPE = "names in a body"
    ORELSE_SCOPE = "names in the other branch"


# Notes on the block of a loop's or branch's field.
_BLOCKS = {"body": NodeAnno.BODY_SCOPE, "orelse": NodeAnno.ORELSE_SCOPE}


class ActivityAnalyzer(Base):
    """The walk that makes the notes."""

    def __init__(self, context, parent_scope=None, add_unknown_symbols=False):
        super().__init__(context)
        self.scope = Scope(parent_scope, add_unknown_symbols=add_unknown_symbols)
        self._own: list[set] = []  # names that lambdas and comprehensions around have for themselves
        self._augmented = False

    def _within(self, isolated, visit):
        """The scope of what `visit` goes through."""
        self.scope = Scope(self.scope, isolated=isolated)
        try:
            visit()
            return self.scope
        finally:
            self.scope = self.scope.parent

    def _note(self, node, key, isolated=False, visit=None):
        anno.setanno(node, key, self._within(isolated, visit or (lambda: self.generic_visit(node))))
        return node

    def _track(self, node):
        if not anno.hasanno(node, anno.Basic.QN):
            return
        name = anno.getanno(node, anno.Basic.QN)
        if any(owner in own for own in self._own for owner in (name, *name.owner_set)):
            return
        kind = type(node.ctx).__name__
        if kind == "Store":
            self.scope.mark_modified(name)
            if self._augmented:
                self.scope.mark_read(name)
        elif kind == "Load":
            self.scope.mark_read(name)
        elif kind == "Del":
            self.scope.mark_read(name)
            self.scope.mark_deleted(name)
        elif kind == "Param":
            self._parameter(node, name)

    def _parameter(self, node, name):
        self.scope.mark_modified(name)
        if self.enclosing_entities:
            self.scope.mark_param(name, self.enclosing_entities[-1])

    def _names(self, node):
        node = self.generic_visit(node)
        self._track(node)
        return node

    visit_Name = visit_Attribute = visit_Subscript = _names

    def visit_arg(self, node):
        self._parameter(node, QN(node.arg))
        return node

    def _statement(self, node):
        return self._note(node, anno.Static.SCOPE)

    visit_Assign = visit_AnnAssign = visit_Delete = visit_Expr = visit_Return = visit_Assert = visit_Raise = _statement
    visit_withitem = _statement

    def visit_AugAssign(self, node):
        self._augmented = True
        try:
            return self._statement(node)
        finally:
            self._augmented = False

    def visit_Call(self, node):
        def all_of_it():
            node.func = self.visit(node.func)
            self._note(node, NodeAnno.ARGS_SCOPE, visit=lambda: self.visit_block([*node.args, *node.keywords]))

        return self._note(node, anno.Static.SCOPE, visit=all_of_it)

    def _blocks(self, node, *fields):
        for field in fields:
            self._note(node, _BLOCKS[field], visit=functools.partial(self.visit_block, getattr(node, field)))

    def visit_With(self, node):
        self._note(node, NodeAnno.BODY_SCOPE, visit=lambda: self.generic_visit(node))
        return node

    def visit_If(self, node):
        self._test(node)
        self._blocks(node, "body", "orelse")
        return node

    visit_While = visit_If

    def _test(self, node):
        scope = self._within(False, lambda: self.visit(node.test))
        anno.setanno(node, NodeAnno.COND_SCOPE, scope)
        anno.setanno(node.test, anno.Static.SCOPE, scope)

    def visit_For(self, node):
        def head():
            self.visit(node.target)
            self.visit(node.iter)

        anno.setanno(node.iter, anno.Static.SCOPE, self._within(False, head))
        anno.setanno(node, NodeAnno.ITERATE_SCOPE, self._within(False, lambda: self.visit(node.target)))
        self._blocks(node, "body", "orelse")
        return node

    def visit_FunctionDef(self, node):
        name = QN(node.name)
        self._note(node, anno.Static.SCOPE, visit=lambda: self.scope.mark_modified(name))

        def inside():
            self._note(node.args, anno.Static.SCOPE, visit=lambda: self._parameters(node.args))
            self._note(node, NodeAnno.BODY_SCOPE, isolated=True, visit=lambda: self.visit_block(node.body))

        self.visit_block(node.decorator_list)
        self._within(True, inside)
        return node

    def visit_ClassDef(self, node):
        self._note(node, anno.Static.SCOPE, visit=lambda: self.scope.mark_modified(QN(node.name)))
        self._within(True, lambda: self.generic_visit(node))
        return node

    def _parameters(self, arguments):
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self.visit(default)
        for argument in _all_arguments(arguments):
            self.visit(argument)

    def visit_Lambda(self, node):
        self._own.append({QN(trees.argument_name(a)) for a in _all_arguments(node.args)})
        try:
            self.visit(node.body)
        finally:
            self._own.pop()
        return node

    def _comprehension(self, node):
        self._own.append(
            {
                QN(inside.id)
                for g in node.generators
                for inside in nodes.walk(g.target)
                if isinstance(inside, nodes.Name)
            }
        )
        try:
            return self.generic_visit(node)
        finally:
            self._own.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def _all_arguments(arguments):
    listed = [*(getattr(arguments, "posonlyargs", None) or ()), *arguments.args, *(arguments.kwonlyargs or ())]
    return [*listed, *(a for a in (arguments.vararg, arguments.kwarg) if a is not None)]


def resolve(node, context, parent_scope=None):
    """The tree with notes on what is read and written; names are resolved already."""
    return ActivityAnalyzer(context, parent_scope).visit(node)
