"""`pyct.ast_util`: small things to do with trees."""

from __future__ import annotations

import ast
import inspect

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import sources, trees
from everflow.legacy.inner.autograph.trees import nodes


class CleanCopier:
    """Copies of trees without places in the source and, but for some, without notes."""

    def __init__(self, preserve_annos):
        self.preserve_annos = preserve_annos

    def copy(self, node):
        """A copy of a tree, a list or tuple of them, or a value in one."""
        if isinstance(node, (list, tuple)):
            return type(node)(self.copy(part) for part in node)
        if not isinstance(node, ast.AST):
            return node
        made = type(node)()
        for field in node._fields:
            if not field.startswith("__") and hasattr(node, field):
                setattr(made, field, self.copy(getattr(node, field)))
        for key in self.preserve_annos:
            anno.copyanno(node, made, key)
        return made


def copy_clean(node, preserve_annos=None):
    """A copy of a tree that keeps only the notes under some keys."""
    return CleanCopier(preserve_annos or ()).copy(node)


class SymbolRenamer(nodes.NodeTransformer):
    """The walk that gives names of a tree others."""

    def __init__(self, name_map):
        self.name_map = name_map

    def _renamed(self, node):
        name = anno.getanno(node, anno.Basic.QN, None)
        if name not in self.name_map:
            return self.generic_visit(node)
        made = self.name_map[name].ast()
        made.ctx = node.ctx
        for key in anno.keys(node):
            anno.copyanno(node, made, key)
        return made

    visit_Name = visit_Attribute = visit_Subscript = _renamed


def rename_symbols(node, name_map):
    """A tree, or several, with other names in the place of some; names are resolved already."""
    renamer = SymbolRenamer(name_map)
    if isinstance(node, (list, tuple)):
        return type(node)(renamer.visit(part) for part in node)
    return renamer.visit(node)


def keywords_to_dict(keywords):
    """The node of a dict that has what keyword arguments have."""
    return nodes.Dict([trees.constant(given.arg) for given in keywords], [given.value for given in keywords])


class PatternMatcher(nodes.NodeVisitor):
    """Compares a tree with a pattern, in which `_` stands for any name, or list of parts; the answer is in `matches`."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.matches = True

    def generic_visit(self, node):
        if not self.matches:
            return
        pattern = self.pattern
        for field in node._fields:
            if field.startswith("__") or isinstance(getattr(node, field, None), nodes.expr_context):
                continue
            self.pattern = getattr(pattern, field, None)
            self._compare(getattr(node, field, None))
        self.pattern = pattern

    def visit(self, node):
        """Compare one node."""
        if not isinstance(node, type(self.pattern)):
            self.matches = False
        else:
            self.generic_visit(node)

    def _compare(self, part):
        if _is_wildcard(self.pattern) or _is_wildcard_list(self.pattern, part):
            return
        if isinstance(part, ast.AST):
            self.visit(part)
        elif isinstance(part, (list, tuple)):
            pattern = self.pattern
            if not isinstance(pattern, (list, tuple)) or len(pattern) != len(part):
                self.matches = False
                return
            for inside, self.pattern in zip(part, pattern):
                self._compare(inside)
            self.pattern = pattern
        elif part != self.pattern:
            self.matches = False


def _is_wildcard(pattern):
    return pattern == "_" or isinstance(pattern, nodes.Name) and pattern.id == "_"


def _is_wildcard_list(pattern, part):
    return isinstance(part, list) and isinstance(pattern, list) and len(pattern) == 1 and _is_wildcard(pattern[0])


def matches(node, pattern):
    """Whether a tree is like a pattern, a tree or source, in which `_` stands for anything simple."""
    matcher = PatternMatcher(sources.parse_expression(pattern) if isinstance(pattern, str) else pattern)
    matcher.visit(node)
    return matcher.matches


def apply_to_single_assignments(targets, values, apply_fn):
    """Call `apply_fn(target, value)` for every single name that an assignment of tuples comes to."""
    for target in targets if isinstance(targets, (list, tuple)) else [targets]:
        if not isinstance(target, (nodes.Tuple, nodes.List)):
            apply_fn(target, values)
            continue
        for position, part in enumerate(target.elts):
            if isinstance(values, (nodes.Tuple, nodes.List)):
                value = values.elts[position]
            else:
                value = trees.subscript(values, trees.constant(position), nodes.Load())
            apply_to_single_assignments(part, value, apply_fn)


def parallel_walk(node, other):
    """Pairs of nodes at the same place of two trees; ValueError where they aren't built alike."""
    waiting = [(node, other)]
    while waiting:
        one, two = waiting.pop()
        if isinstance(one, (list, tuple)) or isinstance(two, (list, tuple)):
            one, two = (list(part) if isinstance(part, (list, tuple)) else [part] for part in (one, two))
            if len(one) != len(two):
                raise ValueError(f"the trees aren't alike: {len(one)} parts here, {len(two)} there")
            waiting.extend(reversed(list(zip(one, two))))
            continue
        yield one, two
        if type(one) is not type(two):
            raise ValueError(f"the trees aren't alike: {type(one).__name__} here, {type(two).__name__} there")
        if not isinstance(one, ast.AST):
            continue
        for field in one._fields:
            parts = getattr(one, field, None), getattr(two, field, None)
            if all(isinstance(part, (list, tuple, ast.AST)) for part in parts):
                waiting.append(parts)
            elif not field.startswith("__") and None not in parts and parts[0] != parts[1]:
                raise ValueError(f"the trees aren't alike: {field} is {parts[0]!r} here, {parts[1]!r} there")


class LambdaDefinitionMatcher(nodes.NodeVisitor):
    """Finds the lambdas of a tree that have the parameters of a function; they are in `matching_nodes`."""

    def __init__(self, fn):
        self.fn = fn
        self.matching_nodes = []

    def visit_Lambda(self, node):
        self.generic_visit(node)
        given, wanted = node.args, inspect.getfullargspec(self.fn)
        names = [*map(trees.argument_name, getattr(given, "posonlyargs", None) or ())]
        names += map(trees.argument_name, given.args)
        single = [None if one is None else trees.argument_name(one) for one in (given.vararg, given.kwarg)]
        only = [trees.argument_name(one) for one in given.kwonlyargs or ()]
        if (names, single, only) == (wanted.args, [wanted.varargs, wanted.varkw], wanted.kwonlyargs):
            self.matching_nodes.append(node)


def find_matching_definitions(node, f):
    """The lambdas of a tree that a function may have been made by."""
    matcher = LambdaDefinitionMatcher(f)
    matcher.visit(node)
    return tuple(matcher.matching_nodes)
