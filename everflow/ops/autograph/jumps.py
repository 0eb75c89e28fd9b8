"""`return`, `break` and `continue` written as plain branches and flags, so that only `if`, `while` and `for` are left."""

from __future__ import annotations

import ast
import copy

from everflow.ops.autograph.rewriting import SCOPES, Unsupported, assign, load

RESULT = "ag__result"


def without_jumps(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The function with one `return`, at its end, and without jumps in its loops."""
    jumps = _Jumps()
    body = definition.body
    definition.body = [*jumps.block(body, None), ast.Return(load(RESULT))]
    return definition


def _contains(node, kinds, loops_hide=False):
    """Whether a statement has one of these inside, not counting nested functions (or, for jumps of a loop, nested
    loops).
    """
    if isinstance(node, kinds):
        return True
    if isinstance(node, SCOPES) or loops_hide and isinstance(node, (ast.For, ast.While)):
        return False
    return any(_contains(child, kinds, loops_hide) for child in ast.iter_child_nodes(node))


def _jumps(statement):
    """Whether a statement may leave the block it is in."""
    return _contains(statement, (ast.Break, ast.Continue), loops_hide=True) or _contains(statement, ast.Return)


class _Loop:
    """The flags of a loop that is being rewritten."""

    def __init__(self, number):
        self.stop, self.skip, self.returned = f"ag__break_{number}", f"ag__continue_{number}", f"ag__returned_{number}"


class _Jumps:
    """The walk through one function."""

    def __init__(self):
        self._count = 0

    def block(self, statements, loop):
        """Statements without jumps. In a function's own block (loop is None) each way through sets the result."""
        out = []
        for index, statement in enumerate(statements):
            rest = statements[index + 1 :]
            if isinstance(statement, ast.Return):
                value = statement.value or ast.Constant(None)
                if loop is None:
                    return [*out, _at(assign(RESULT, value), statement)]
                flags = [
                    assign(RESULT, value),
                    assign(loop.returned, ast.Constant(True)),
                    assign(loop.stop, ast.Constant(True)),
                ]
                return [*out, *(_at(s, statement) for s in flags)]
            if isinstance(statement, (ast.Break, ast.Continue)):
                flag = loop.stop if isinstance(statement, ast.Break) else loop.skip
                return [*out, _at(assign(flag, ast.Constant(True)), statement)]
            if isinstance(statement, (ast.For, ast.While)):
                before, after = self.loop(statement, loop, rest)
                out += before
                if after is not None:
                    return out + after
                continue
            if isinstance(statement, ast.If):
                if loop is None and _contains(statement, ast.Return):
                    # What follows goes into both branches, so that each has a result of its own.
                    made = ast.If(statement.test, [*statement.body, *rest], [*statement.orelse, *copy.deepcopy(rest)])
                    made.body, made.orelse = self.block(made.body, None), self.block(made.orelse, None)
                    return [*out, ast.copy_location(made, statement)]
                jumps = loop is not None and _jumps(statement)
                made = ast.If(
                    statement.test,
                    self.block(statement.body, loop or _NONE),
                    self.block(statement.orelse, loop or _NONE),
                )
                out.append(ast.copy_location(made, statement))
                if jumps:
                    return [*out, *self.unless_left(rest, loop)]
                continue
            if isinstance(statement, (ast.With, ast.Try)) and _contains(
                statement, (ast.Return, ast.Break, ast.Continue)
            ):
                before, after = self.inside(statement, loop, rest)
                out += before
                if after is not None:
                    return out + after
                continue
            out.append(statement)
        return [*out, assign(RESULT, ast.Constant(None))] if loop is None else out

    def unless_left(self, rest, loop):
        """What follows a statement that may leave a loop's block."""
        if not rest:
            return []
        guard = ast.UnaryOp(ast.Not(), ast.BoolOp(ast.Or(), [load(loop.stop), load(loop.skip)]))
        return [_at(ast.If(guard, self.block(rest, loop), []), rest[0])]

    def inside(self, statement, loop, rest):
        """(the statements of a `with` or `try`, what follows where it may jump: rest included, else None)."""
        if loop is None and isinstance(statement, ast.With) and isinstance(statement.body[-1], ast.Return):
            statement.body = self.block(statement.body, None)
            return [statement], []
        jumps = _jumps(statement)
        flags = loop or _NONE
        if jumps and loop is None:
            # As a loop that runs once: what it returns is told by a flag.
            self._count += 1
            flags = _Loop(self._count)
        for part in (statement, *getattr(statement, "handlers", ())):
            for field in ("body", "orelse", "finalbody"):
                if getattr(part, field, None):
                    setattr(part, field, self.block(getattr(part, field), flags))
        if not jumps:
            return [statement], None
        if loop is not None:
            return [statement], self.unless_left(rest, loop)
        before = [_at(assign(name, ast.Constant(False)), statement) for name in (flags.stop, flags.skip)]
        return [*before, *self.unreturned(flags, statement), statement], self.unless_returned(
            flags, statement, rest, None
        )

    def unreturned(self, flags, where):
        """What comes before a loop that may return."""
        return [_at(assign(flags.returned, ast.Constant(False)), where), _at(assign(RESULT, ast.Constant(None)), where)]

    def unless_returned(self, flags, where, rest, outer):
        """What comes after it: the rest, or nothing more, in the loop around it either."""
        done = [assign(RESULT, load(RESULT))]
        if outer is not None:
            done += [assign(outer.returned, ast.Constant(True)), assign(outer.stop, ast.Constant(True))]
        return [_at(ast.If(load(flags.returned), done, self.block(rest, outer)), where)]

    def loop(self, statement, outer, rest):
        """(the loop's statements, what follows where the loop may return: rest included, else None)."""
        otherwise, statement.orelse = statement.orelse, []
        if any(_contains(s, (ast.Return, ast.Break, ast.Continue)) for s in otherwise):
            raise Unsupported("a jump in the `else` of a loop")
        self._count += 1
        flags = _Loop(self._count)
        jumps = any(_contains(s, ast.Break, loops_hide=True) or _contains(s, ast.Return) for s in statement.body)
        skips = any(_contains(s, ast.Continue, loops_hide=True) for s in statement.body)
        returns = any(_contains(s, ast.Return) for s in statement.body)
        statement.body = self.block(statement.body, flags)
        before = []
        if jumps or skips:
            # Both flags may be asked for, so both are there.
            statement.body.insert(0, _at(assign(flags.skip, ast.Constant(False)), statement))
            before = [_at(assign(name, ast.Constant(False)), statement) for name in (flags.stop, flags.skip)]
        if jumps:
            go_on = ast.UnaryOp(ast.Not(), load(flags.stop))
            if isinstance(statement, ast.While):
                statement.test = _at(ast.BoolOp(ast.And(), [go_on, statement.test]), statement)
            else:
                statement.ag_go_on = _at(go_on, statement)
        if otherwise:
            otherwise = self.block(otherwise, outer or _NONE)
            otherwise = (
                [_at(ast.If(ast.UnaryOp(ast.Not(), load(flags.stop)), otherwise, []), otherwise[0])]
                if jumps
                else otherwise
            )
        if not returns:
            return [*before, statement, *otherwise], None
        before += self.unreturned(flags, statement)
        return [*before, statement, *otherwise], self.unless_returned(flags, statement, rest, outer)


# In a branch that can't return, outside of loops: nothing to set at the end.
_NONE = _Loop(0)


def _at(node, where):
    return ast.fix_missing_locations(ast.copy_location(node, where))
