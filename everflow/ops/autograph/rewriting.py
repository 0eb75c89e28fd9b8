"""Branches and loops of a function's source written as calls of `ag__.if_stmt`, `ag__.while_stmt` and `ag__.for_stmt`.

The blocks become functions of the variables they assign; which of those come out is known from what is read later.
Attributes and elements that they assign are read and written in place (see `paths`).
"""

from __future__ import annotations

import ast
import copy

from everflow.ops.autograph import paths

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PYTHON_ONLY = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.NamedExpr)
# Called as they are: what they do depends on where they are called.
_AS_THEY_ARE = {"super", "locals", "globals", "vars", "eval", "exec", "ag__"}


class Unsupported(Exception):
    """A function uses what can't be converted."""


def load(name):
    return ast.Name(name, ast.Load())


def assign(name, value):
    return ast.Assign([ast.Name(name, ast.Store())], value)


def rewritten(definition: ast.FunctionDef) -> ast.FunctionDef:
    """The function with its branches, loops, calls and logic rewritten."""
    if any(_only_python_runs(statement) for statement in definition.body):
        raise Unsupported("statements that only Python can run")
    _spell_super_out(definition)
    rewriter = _Rewriter()
    definition.body = rewriter.block(definition.body, set())[0]
    return ast.fix_missing_locations(definition)


def _spell_super_out(definition: ast.FunctionDef) -> None:
    """`super()` with its arguments: the function of a branch that it comes to stand in isn't the method it is about."""
    own = [*definition.args.posonlyargs, *definition.args.args]
    waiting: list[ast.AST] = list(definition.body) if own else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.args = [load("__class__"), load(own[0].arg)]
        waiting += ast.iter_child_nodes(node)


def _only_python_runs(node):
    """Whether there is a statement that stays Python's; functions inside are converted, or not, by themselves."""
    if isinstance(node, SCOPES):
        return False
    return isinstance(node, _PYTHON_ONLY) or any(_only_python_runs(child) for child in ast.iter_child_nodes(node))


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _reads(*nodes):
    """Names whose values nodes need from around them; what a function or comprehension inside has of its own doesn't
    count.
    """
    found = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found |= {node.id} if isinstance(node.ctx, (ast.Load, ast.Del)) else set()
        elif isinstance(node, (ast.Lambda, ast.FunctionDef)):
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            others = {
                name
                for part in body
                for n in ast.walk(part)
                if isinstance(n, (ast.Global, ast.Nonlocal))
                for name in n.names
            }
            own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)} | _assigned(body) - others
            found |= (_reads(*body) - own) | _reads(node.args, *getattr(node, "decorator_list", ()))
        elif isinstance(node, _COMPREHENSIONS):
            found |= _reads(*ast.iter_child_nodes(node)) - _assigned([part.target for part in node.generators])
        else:
            found |= _reads(*ast.iter_child_nodes(node))
    return found


def _assigned(statements):
    """Names that statements give values to, in their own scope."""
    found = set()

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
            return
        if isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for statement in statements:
        visit(statement)
    return found


class _Rewriter:
    """The walk through one function, backwards, since what is needed later decides what comes out of a block."""

    def __init__(self):
        self._count = 0

    def block(self, statements, live):
        """(new statements, names whose values are needed before them); `live` are those needed after them."""
        out = []
        live = set(live)
        for statement in reversed(statements):
            made, live = self.statement(statement, live)
            out = made + out
        return out, live

    def statement(self, node, live):
        if isinstance(node, ast.If):
            return self.branch(node, live)
        if isinstance(node, ast.While):
            return self.while_loop(node, live)
        if isinstance(node, ast.For):
            return self.for_loop(node, live)
        if isinstance(node, ast.With):
            node.body, live = self.block(node.body, live)
            for item in reversed(node.items):
                live -= _assigned([item.optional_vars] if item.optional_vars else [])
                live |= _reads(item.context_expr)
                item.context_expr = _Expressions().visit(item.context_expr)
            return [node], live
        if isinstance(node, ast.Try):
            # Somewhere inside an exception may lead out, so all that is read counts.
            needed = live | _reads(node)
            for field in ("body", "orelse", "finalbody"):
                if getattr(node, field, None):
                    setattr(node, field, self.block(getattr(node, field), needed)[0])
            for handler in getattr(node, "handlers", []):
                handler.body = self.block(handler.body, needed)[0]
            return [node], needed
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return [node], (live - {node.name}) | _reads(node)
        reads, stores = _reads(node), set()
        if isinstance(node, ast.Assign):
            for target in node.targets:
                stores |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        if isinstance(node, ast.Assert):
            message = node.msg or ast.Constant("")
            call = _call("assert_stmt", _thunk(node.test), _thunk(message))
            return [ast.copy_location(ast.Expr(call), node)], live | reads
        return [_Expressions().visit(node)], (live - stores) | reads

    def name(self, what):
        self._count += 1
        return f"ag__{what}_{self._count}"

    def state(self, statements):
        """(what defines the state that statements assign, the state itself): their attributes and elements, None where
        there are none.
        """
        found = paths.assigned_paths(statements, _assigned(statements))
        if not found:
            return [], ast.Constant(None)
        name, given = self.name("put"), self.name("given")
        put = _function(name, [given], [paths.writing(found, load(given))], None)
        return [put], _call("State", paths.texts(found), paths.reader(found), load(name))

    def branch(self, node, live):
        put, state = self.state([*node.body, *node.orelse])
        body, live_body = self.block(node.body, live)
        orelse, live_orelse = self.block(node.orelse, live)
        changed = sorted(_assigned(node.body) | _assigned(node.orelse))
        results = [n for n in changed if n in live]
        before = live_body | live_orelse | _reads(node.test)
        then_name, else_name = self.name("then"), self.name("else")
        test = _Expressions().visit(node.test)
        call = _call("if_stmt", test, load(then_name), load(else_name), _current(changed), _names(results), state)
        made = [
            *put,
            _function(then_name, changed, body, results),
            _function(else_name, changed, orelse, results),
            _bind(results, call),
        ]
        return [ast.copy_location(m, node) for m in made], before

    def while_loop(self, node, live):
        put, state = self.state(node.body)
        head = live | _reads(node.test)
        head |= _Rewriter._live_before(node.body, head)
        body, _ = self.block(node.body, head)
        changed = sorted(_assigned(node.body) & head)
        test_name, body_name = self.name("test"), self.name("body")
        test = ast.Return(_Expressions().visit(node.test))
        made = [
            *put,
            _function(test_name, changed, [test], None),
            _function(body_name, changed, body, changed),
            _bind(
                changed,
                _call("while_stmt", load(test_name), load(body_name), _current(changed), _names(changed), state),
            ),
        ]
        return [ast.copy_location(m, node) for m in made], head

    def for_loop(self, node, live):
        put, state = self.state([node.target, *node.body])
        go_on = getattr(node, "ag_go_on", None)
        targets = _assigned([node.target])
        head = set(live)
        if go_on is not None:
            head |= _reads(go_on)
        head |= _Rewriter._live_before(node.body, head) - (targets - live)
        body, _ = self.block(node.body, head)
        changed = sorted((_assigned(node.body) | targets) & head)
        body_name, test_name, item = self.name("body"), self.name("test"), self.name("item")
        body = [ast.Assign([node.target], load(item)), *body]
        made = [*put, _function(body_name, [item, *changed], body, changed)]
        test = ast.Constant(None)
        if go_on is not None:
            made.append(_function(test_name, changed, [ast.Return(_Expressions().visit(go_on))], None))
            test = load(test_name)
        iterated = _Expressions().visit(node.iter)
        call = _call("for_stmt", iterated, test, load(body_name), _current(changed), _names(changed), state)
        made.append(_bind(changed, call))
        return [ast.copy_location(m, node) for m in made], head | _reads(node.iter)

    @staticmethod
    def _live_before(statements, live):
        """Names needed before statements, found on a copy: rewriting happens once, when what is needed after is known."""
        return _Rewriter().block(copy.deepcopy(statements), live)[1]


def _call(name, *arguments):
    return ast.Call(ast.Attribute(load("ag__"), name, ast.Load()), list(arguments), [])


def _thunk(expression):
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(empty, _Expressions().visit(expression))


def _names(names):
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())


def _current(names):
    """The values of variables now; one that has none yet is an `Undefined`."""
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Tuple([_call("value_of", ast.Lambda(empty, load(n)), ast.Constant(n)) for n in names], ast.Load())


def _function(name, parameters, body, results):
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(p) for p in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    if results is not None:
        body = [*body, ast.Return(_current(results))]
    made = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []
    return made


def _bind(names, call):
    if not names:
        return ast.Expr(call)
    return ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())], call)


class _Expressions(ast.NodeTransformer):
    """Logic and calls inside expressions."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return ast.copy_location(_call(name, *(_plain_thunk(v) for v in node.values)), node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.copy_location(_call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        name = {ast.Eq: "eq", ast.NotEq: "not_eq"}.get(type(node.ops[0])) if len(node.ops) == 1 else None
        return ast.copy_location(_call(name, node.left, *node.comparators), node) if name else node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return ast.copy_location(_call("if_exp", node.test, _plain_thunk(node.body), _plain_thunk(node.orelse)), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _AS_THEY_ARE:
            return node
        node.func = ast.copy_location(_call("callable_of", node.func), node.func)
        return node

    def visit_Lambda(self, node):
        return self.generic_visit(node)


def _plain_thunk(expression):
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(empty, expression)
