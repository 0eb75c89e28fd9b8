"""`converters.break_statements`, `continue_statements` and `return_statements`: jumps written as flags and branches.

The conversion that `tf.function` uses has a way of its own (`ops/autograph/jumps.py`); these are transformations that
libraries call one by one, and the flags have the names that they see in TensorFlow.
"""

from __future__ import annotations

from everflow.legacy.inner.autograph import activity, converters, templates
from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph.trees import nodes

_LOOPS = (nodes.For, nodes.While)
_SCOPES = (nodes.FunctionDef, nodes.ClassDef, nodes.Lambda)


def _has(statements, kind, through_loops=False) -> bool:
    """Whether a jump of this kind is among statements, not counting functions, nor loops where it is theirs."""
    for node in statements:
        if isinstance(node, kind):
            return True
        hidden = isinstance(node, _SCOPES) or isinstance(node, _LOOPS) and not through_loops
        if not hidden and _has(list(nodes.iter_child_nodes(node)), kind, through_loops):
            return True
    return False


class _JumpConverter(converters.Base):
    """What the three have in common: blocks of statements, visited in order."""

    _FIELDS = ("body", "orelse", "handlers", "finalbody")

    def _new_flag(self, root, node):
        scope = anno.getanno(node, activity.NodeAnno.BODY_SCOPE, None)
        return self.ctx.namer.new_symbol(root, () if scope is None else scope.referenced)

    def _visit_blocks(self, node):
        for field in self._FIELDS:
            if getattr(node, field, None):
                setattr(node, field, self.visit_block(getattr(node, field)))
        return node

    visit_If = visit_With = visit_Try = visit_ExceptHandler = visit_FunctionDef = _visit_blocks


def _assigned(flag, value):
    return templates.replace(f"flag = {value}", flag=flag)[0]


def _unless(flag, body):
    return templates.replace("if ag__.not_(flag):\n  body", flag=flag, body=body)


class BreakTransformer(_JumpConverter):
    """`break` as a flag that a loop's test looks at, and `continue`."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._flags: list = []

    def visit_Break(self, node):
        return [_assigned(self._flags[-1], "True"), nodes.Continue()]

    def _loop(self, node):
        breaks = _has(node.body, nodes.Break)
        self._flags.append(self._new_flag("break_", node) if breaks else None)
        node.body = self.visit_block(node.body)
        flag = self._flags.pop()
        node.orelse = self.visit_block(node.orelse)
        if not breaks:
            return node
        if node.orelse:
            node.orelse = _unless(flag, node.orelse)
        if isinstance(node, nodes.While):
            node.test = templates.replace_as_expression(
                "ag__.and_(lambda: test, lambda: ag__.not_(flag))", test=node.test, flag=flag
            )
        else:
            anno.setanno(node, "extra_test", templates.replace_as_expression("ag__.not_(flag)", flag=flag))
            # The loop's body reads the flag, so that analyses of names see that the loop depends on it.
            node.body = [*templates.replace("(flag,)", flag=flag), *node.body]
        return [_assigned(flag, "False"), node]

    visit_For = visit_While = _loop


class ContinueCanonicalizationTransformer(_JumpConverter):
    """`continue` as a flag: what follows in the loop's body only happens while it isn't set."""

    def __init__(self, ctx):
        super().__init__(ctx)
        self._flags: list = []

    def visit_Continue(self, node):
        return _assigned(self._flags[-1], "True")

    def visit_block(self, nodes, before_visit=None, after_visit=None):
        results: list = []
        destination = results
        for position, statement in enumerate(nodes or ()):
            jumps = bool(self._flags) and self._flags[-1] is not None and _is_continue(statement)
            made = self.visit(statement)
            destination.extend(made if isinstance(made, list) else [made])
            if jumps and position + 1 < len(nodes):
                (guard,) = _unless(self._flags[-1], [_PASS])
                guard.body = []
                destination.append(guard)
                destination = guard.body
        return results

    def _loop(self, node):
        self._flags.append(self._new_flag("continue_", node) if _has(node.body, nodes.Continue) else None)
        node.body = self.visit_block(node.body)
        flag = self._flags.pop()
        if flag is not None:
            node.body = [_assigned(flag, "False"), *node.body]
        node.orelse = self.visit_block(node.orelse)
        return node

    visit_For = visit_While = _loop


_PASS = nodes.Pass()


def _is_continue(statement) -> bool:
    return not isinstance(statement, _LOOPS) and _has([statement], nodes.Continue)


class ReturnStatementsTransformer(_JumpConverter):
    """One `return`, at the end: others set a flag and the value. `default_to_null_return` gives both a value to begin with,
    for functions that may end without a `return`.
    """

    def __init__(self, ctx, default_to_null_return):
        super().__init__(ctx)
        self._default = default_to_null_return
        self._names: list = []

    def visit_Return(self, node):
        flag, value = self._names[-1]
        result = node.value if node.value is not None else templates.replace_as_expression("None")
        return templates.replace("flag = True\nvalue = result", flag=flag, value=value, result=result)

    def _guarded(self, statements):
        """Statements in which what follows a return is only done where none happened."""
        made: list = []
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            if isinstance(statement, nodes.If) and rest and _has([statement], nodes.Return, through_loops=True):
                if _always_returns(statement.body):
                    statement.orelse, rest = [*statement.orelse, *rest], []
                elif _always_returns(statement.orelse):
                    statement.body, rest = [*statement.body, *rest], []
            returns = _has([statement], nodes.Return, through_loops=True)
            visited = self.visit(statement)
            made.extend(visited if isinstance(visited, list) else [visited])
            if isinstance(statement, nodes.Return) or returns and _always_returns([statement]):
                return made  # what follows is never reached
            if returns:
                return [*made, *_unless(self._names[-1][0], self._guarded(rest))] if rest else made
        return made

    def visit_block(self, nodes, before_visit=None, after_visit=None):
        return self._guarded(list(nodes or ()))

    def _loop(self, node):
        returns = _has(node.body, nodes.Return, through_loops=True)
        self._visit_blocks(node)
        if returns:
            flag = self._names[-1][0]
            go_on = templates.replace_as_expression("ag__.not_(flag)", flag=flag)
            if isinstance(node, nodes.While):
                node.test = templates.replace_as_expression(
                    "ag__.and_(lambda: go_on, lambda: test)", go_on=go_on, test=node.test
                )
            else:
                anno.setanno(node, "extra_test", go_on)
        return node

    visit_For = visit_While = _loop

    def visit_FunctionDef(self, node):
        if not _has(node.body, nodes.Return, through_loops=True):
            self._names.append((None, None))
            self._visit_blocks(node)
            self._names.pop()
            return node
        flag, value = self._new_flag("do_return", node), self._new_flag("retval_", node)
        self._names.append((flag, value))
        node.body = self._guarded(node.body)
        self._names.pop()
        if self._default:
            before = "flag = False\nvalue = ag__.UndefinedReturnValue()"
            node.body = [
                *templates.replace(before, flag=flag, value=value),
                *node.body,
                *templates.replace("(flag,)", flag=flag),
                *templates.replace("return ag__.retval(value)", value=value),
            ]
        else:
            node.body = [*node.body, *templates.replace("return value", value=value)]
        return node


def _always_returns(statements) -> bool:
    """Whether no way leads past these statements."""
    return any(
        isinstance(statement, nodes.Return)
        or isinstance(statement, nodes.If)
        and _always_returns(statement.body)
        and _always_returns(statement.orelse)
        or isinstance(statement, nodes.With)
        and _always_returns(statement.body)
        for statement in statements
    )
