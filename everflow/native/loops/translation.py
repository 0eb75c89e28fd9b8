"""Python functions on numbers and pointers, in a small part of Python's syntax, as LLVM IR.

What there is: numbers of 64 bits with and without a sign, floats, pointers (`p[i]`, `p + i`), `if`, `while`, `for` over
a range, calls, constants of the module (numbers; bytes and tuples of numbers as tables). A variable has the type of its
first value; numbers of different types meet only where one is converted: `U64(n)`. Division is that of the machine.
"""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
import types
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from llvmlite import ir

from everflow.native.loops.words import TYPES, External, Intrinsic, Type, Value

_I1, _I8, _I64 = ir.IntType(1), ir.IntType(8), ir.IntType(64)
_NUMBER, _TRUTH, _NOTHING, _BYTES, _NUMBERS = (TYPES[name] for name in ("I64", "TRUTH", "NOTHING", "P8", "P64"))
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
# By operator: the instruction for floats, for numbers with a sign, and for those without.
_OPERATIONS: dict[type[ast.operator], tuple[str, str, str]] = {
    ast.Add: ("fadd", "add", "add"),
    ast.Sub: ("fsub", "sub", "sub"),
    ast.Mult: ("fmul", "mul", "mul"),
    ast.Div: ("fdiv", "", ""),
    ast.FloorDiv: ("", "sdiv", "udiv"),
    ast.Mod: ("", "srem", "urem"),
    ast.BitAnd: ("", "and_", "and_"),
    ast.BitOr: ("", "or_", "or_"),
    ast.BitXor: ("", "xor", "xor"),
    ast.LShift: ("", "shl", "shl"),
    ast.RShift: ("", "ashr", "lshr"),
}
# Of two numbers in the source.
_FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}


class TranslationError(Exception):
    """A function that is not in the language."""


class Module:
    """Functions as one module of IR, with all that they call."""

    def __init__(self, exported: Iterable[Callable[..., Any]]) -> None:
        self.ir = ir.Module("strings")
        self._functions: dict[Callable[..., Any], ir.Function] = {}
        self._tables: dict[object, ir.GlobalVariable] = {}
        for function in exported:
            self.function(function).linkage = "external"

    def function(self, function: Callable[..., Any]) -> ir.Function:
        """The IR of a function; written when it is first asked for."""
        if function not in self._functions:
            result, arguments = signature(function)
            kind = ir.FunctionType(result.register, [a.register for a in arguments.values()])
            made = ir.Function(self.ir, kind, function.__name__)
            made.linkage = "internal"
            self._functions[function] = made
            _Writer(self, function, made).write()
        return self._functions[function]

    def external(self, external: External) -> ir.Function:
        """The declaration of a function of the process."""
        found = self.ir.globals.get(external.name)
        kind = ir.FunctionType(external.result.register, [a.register for a in external.arguments])
        return found or ir.Function(self.ir, kind, external.name)

    def table(self, content: bytes | tuple[int, ...]) -> ir.GlobalVariable:
        """A constant in memory."""
        if content not in self._tables:
            element = _I8 if isinstance(content, bytes) else _I64
            constant = ir.Constant(ir.ArrayType(element, len(content)), [element(v) for v in content])
            made = ir.GlobalVariable(self.ir, constant.type, f"table{len(self._tables)}")
            made.global_constant, made.linkage, made.initializer = True, "internal", constant
            self._tables[content] = made
        return self._tables[content]


def signature(function: Callable[..., Any]) -> tuple[Type, dict[str, Type]]:
    """What a function gives, and what it takes."""
    known = {name: TYPES[text] for name, text in function.__annotations__.items() if text != "None"}
    return known.pop("return", _NOTHING), known


class _Writer:
    """One function's body."""

    def __init__(self, module: Module, function: Callable[..., Any], made: ir.Function) -> None:
        self.module, self.made = module, made
        self.globals = function.__globals__
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        self.result, arguments = signature(function)
        self.builder = ir.IRBuilder(made.append_basic_block())
        self.variables: dict[str, tuple[Type, ir.Value]] = {}
        self.loops: list[tuple[ir.Block, ir.Block]] = []  # where `continue` and `break` go
        for (name, type), value in zip(arguments.items(), made.args):
            self.assign(name, Value(type, value))

    def write(self) -> None:
        self.block(self.tree.body)
        if not self.builder.block.is_terminated:
            if self.result.name == "NOTHING":
                self.builder.ret_void()
            else:
                self.builder.unreachable()

    def fail(self, node: ast.AST, text: str) -> NoReturn:
        raise TranslationError(f"{self.tree.name}, line {getattr(node, 'lineno', 0)}: {text}: {ast.unparse(node)}")

    # --- statements

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.builder.block.is_terminated:
                return
            method = getattr(self, "_" + type(statement).__name__, None)
            if method is None:
                self.fail(statement, "no such statement")
            method(statement)

    def assign(self, name: str, value: Value) -> None:
        if name not in self.variables:
            with self.builder.goto_entry_block():
                self.variables[name] = value.type, self.builder.alloca(value.type.register, name=name)
        type, place = self.variables[name]
        if type != value.type:
            raise TranslationError(f"{self.tree.name}: {name} is {type.name} and can't be {value.type.name}")
        self.builder.store(value.ir, place)

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.expression(node.value)

    def _Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            known = self.variables.get(target.id)
            self.assign(target.id, self.typed(self.expression(node.value), known[0] if known else _NUMBER))
        elif isinstance(target, ast.Subscript):
            self.store(target, self.expression(node.value))
        else:
            self.fail(node, "only names and places in memory have values")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(type(node.target)(**{**vars(node.target), "ctx": ast.Load()}), node.target)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        self._Assign(ast.copy_location(ast.Assign([node.target], value), node))

    def _Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.builder.ret_void()
        else:
            self.builder.ret(self.typed(self.expression(node.value), self.result).ir)

    def _If(self, node: ast.If) -> None:
        yes, no, after = (self.builder.append_basic_block() for _ in range(3))
        self.branch(node.test, yes, no)
        for start, body in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(start)
            self.block(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(after)
        self.builder.position_at_end(after)

    def _While(self, node: ast.While) -> None:
        head, body, after = (self.builder.append_basic_block() for _ in range(3))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.branch(node.test, body, after)
        self.loop(node.body, body, head, after)

    def _For(self, node: ast.For) -> None:
        """`for i in range(start, end)`: the end is looked at once."""
        assert isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call)
        bounds = [self.typed(self.expression(a), _NUMBER) for a in node.iter.args]
        start = bounds[0] if len(bounds) > 1 else Value(_NUMBER, _I64(0))
        end = bounds[1] if len(bounds) > 1 else bounds[0]
        head, body, step, after = (self.builder.append_basic_block() for _ in range(4))
        self.assign(node.target.id, start)
        place = self.variables[node.target.id][1]
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(self.builder.icmp_signed("<", self.builder.load(place, typ=_I64), end.ir), body, after)
        self.builder.position_at_end(step)
        self.builder.store(self.builder.add(self.builder.load(place, typ=_I64), _I64(1)), place)
        self.builder.branch(head)
        self.loop(node.body, body, step, after)

    def loop(self, statements: list[ast.stmt], body: ir.Block, again: ir.Block, after: ir.Block) -> None:
        self.loops.append((again, after))
        self.builder.position_at_end(body)
        self.block(statements)
        if not self.builder.block.is_terminated:
            self.builder.branch(again)
        self.loops.pop()
        self.builder.position_at_end(after)

    def _Continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    def _Break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    # --- expressions

    def expression(self, node: ast.expr) -> Value | int | float:
        """A value, or a number of the source that has no type yet."""
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            self.fail(node, "no such expression")
        return method(node)

    def typed(self, value: Value | int | float, like: Type) -> Value:
        """A value that has a type: numbers of the source take the one that is wanted."""
        if isinstance(value, Value):
            return value
        if like.stored is not None:  # a pointer to nothing
            return Value(like, ir.Constant(like.register, None))
        if isinstance(like.register, ir.IntType):
            return Value(like, like.register(int(value) & (1 << like.register.width) - 1))
        return Value(like, ir.Constant(like.register, float(value)))

    def _Constant(self, node: ast.Constant) -> int | float | Value:
        if isinstance(node.value, bool):
            return Value(_TRUTH, _I1(node.value))
        return node.value  # type: ignore[return-value]

    def _Name(self, node: ast.Name) -> Value | int | float:
        if node.id in self.variables:
            type, place = self.variables[node.id]
            return Value(type, self.builder.load(place, typ=type.register))
        found = self.globals.get(node.id)
        if isinstance(found, bytes | tuple):
            return Value(_BYTES if isinstance(found, bytes) else _NUMBERS, self.module.table(found))
        if not isinstance(found, int | float):
            self.fail(node, "no such name")
        return found

    def _BinOp(self, node: ast.BinOp) -> Value | int | float:
        left, right = self.expression(node.left), self.expression(node.right)
        if not isinstance(left, Value) and not isinstance(right, Value):
            return _FOLDED[type(node.op)](left, right)
        left, right = self.alike(node, left, right)
        if left.type.stored is not None:
            return self.moved(node, left, right)
        floating = isinstance(left.type.register, ir.FloatType | ir.DoubleType)
        name = _OPERATIONS[type(node.op)][0 if floating else 1 if left.type.signed else 2]
        if not name:
            self.fail(node, "not for these types")
        return Value(left.type, getattr(self.builder, name)(left.ir, right.ir))

    def moved(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """A pointer and how far from it, or the distance of two."""
        if isinstance(node.op, ast.Sub) and right.type.stored is not None:
            b = self.builder
            return Value(_NUMBER, b.sub(b.ptrtoint(left.ir, _I64), b.ptrtoint(right.ir, _I64)))
        if not isinstance(node.op, ast.Add):
            self.fail(node, "not for pointers")
        return Value(left.type, self.builder.gep(left.ir, [right.ir], source_etype=left.type.stored))

    def alike(self, node: ast.expr, left: Value | int | float, right: Value | int | float) -> tuple[Value, Value]:
        """Two operands of one type; or a pointer and a distance."""
        if isinstance(left, Value) and left.type.stored is not None:
            return left, self.typed(right, left.type if isinstance(node, ast.Compare) else _NUMBER)
        known = left.type if isinstance(left, Value) else right.type if isinstance(right, Value) else _NUMBER
        left, right = self.typed(left, known), self.typed(right, known)
        if left.type != right.type:
            self.fail(node, f"{left.type.name} and {right.type.name}")
        return left, right

    def _UnaryOp(self, node: ast.UnaryOp) -> Value | int | float:
        if isinstance(node.op, ast.Not):
            return Value(_TRUTH, self.builder.not_(self.truth(node.operand)))
        value = self.expression(node.operand)
        if not isinstance(value, Value):
            return -value if isinstance(node.op, ast.USub) else ~value  # type: ignore[operator]
        if isinstance(node.op, ast.Invert):
            return Value(value.type, self.builder.not_(value.ir))
        floating = isinstance(value.type.register, ir.FloatType | ir.DoubleType)
        return Value(value.type, self.builder.fneg(value.ir) if floating else self.builder.neg(value.ir))

    def _Compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        tests = [self.compared(node, op, a, b) for op, a, b in zip(node.ops, operands, operands[1:])]
        found = tests[0]
        for test in tests[1:]:
            found = self.builder.and_(found, test)
        return Value(_TRUTH, found)

    def compared(self, node: ast.Compare, op: ast.cmpop, one: ast.expr, other: ast.expr) -> ir.Value:
        left, right = self.alike(node, self.expression(one), self.expression(other))
        b = self.builder
        if isinstance(left.type.register, ir.FloatType | ir.DoubleType):
            return b.fcmp_ordered(_COMPARISONS[type(op)], left.ir, right.ir)
        compare = b.icmp_signed if left.type.signed and left.type.stored is None else b.icmp_unsigned
        return compare(_COMPARISONS[type(op)], left.ir, right.ir)

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        """Sides that are not needed are not looked at."""
        yes, no, after = (self.builder.append_basic_block() for _ in range(3))
        self.branch(node, yes, no)
        for block in (yes, no):
            self.builder.position_at_end(block)
            self.builder.branch(after)
        self.builder.position_at_end(after)
        found = self.builder.phi(_I1)
        found.add_incoming(_I1(1), yes)
        found.add_incoming(_I1(0), no)
        return Value(_TRUTH, found)

    def branch(self, test: ast.expr, yes: ir.Block, no: ir.Block) -> None:
        """Go on at one block or the other."""
        if isinstance(test, ast.BoolOp):
            for part in test.values[:-1]:
                further = self.builder.append_basic_block()
                self.branch(part, *((further, no) if isinstance(test.op, ast.And) else (yes, further)))
                self.builder.position_at_end(further)
            self.branch(test.values[-1], yes, no)
        else:
            self.builder.cbranch(self.truth(test), yes, no)

    def truth(self, node: ast.expr) -> ir.Value:
        value = self.expression(node)
        if not isinstance(value, Value) or value.type.name != "TRUTH":
            self.fail(node, "a comparison is wanted")
        return value.ir

    def _IfExp(self, node: ast.IfExp) -> Value:
        yes, no, after = (self.builder.append_basic_block() for _ in range(3))
        self.branch(node.test, yes, no)
        ends = []
        for start, side in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(start)
            ends.append((self.expression(side), self.builder.block))
        known = next((v.type for v, _ in ends if isinstance(v, Value)), _NUMBER)
        sides = [(self.typed(value, known), block) for value, block in ends]
        for _, block in sides:
            self.builder.position_at_end(block)
            self.builder.branch(after)
        self.builder.position_at_end(after)
        found = self.builder.phi(known.register)
        for value, block in sides:
            found.add_incoming(value.ir, block)
        return Value(known, found)

    # --- memory and calls

    def place(self, node: ast.Subscript) -> tuple[Type, ir.Value]:
        pointer, at = self.expression(node.value), self.typed(self.expression(node.slice), _NUMBER)
        if not isinstance(pointer, Value) or pointer.type.stored is None:
            self.fail(node, "not a pointer")
        return pointer.type, self.builder.gep(pointer.ir, [at.ir], source_etype=pointer.type.stored)

    def _Subscript(self, node: ast.Subscript) -> Value:
        type, place = self.place(node)
        loaded = self.builder.load(place, align=1, typ=type.stored)
        if isinstance(type.stored, ir.IntType) and type.stored.width < 64:
            loaded = self.builder.zext(loaded, _I64)
        return Value(type.loaded, loaded)

    def store(self, node: ast.Subscript, value: Value | int | float) -> None:
        type, place = self.place(node)
        stored = self.typed(value, type.loaded).ir
        if isinstance(type.stored, ir.IntType) and type.stored.width < 64:
            stored = self.builder.trunc(stored, type.stored)
        self.builder.store(stored, place, align=1)

    def _Call(self, node: ast.Call) -> Value:
        found = self.globals.get(node.func.id) if isinstance(node.func, ast.Name) else None
        arguments = [self.expression(a) for a in node.args]
        if isinstance(found, Type):
            return self.converted(node, found, arguments[0])
        if isinstance(found, types.FunctionType):
            result, known = signature(found)
            return Value(
                result, self.builder.call(self.module.function(found), self.passed(node, arguments, known.values()))
            )
        if isinstance(found, External):
            passed = self.passed(node, arguments, found.arguments)
            return Value(found.result, self.builder.call(self.module.external(found), passed))
        if isinstance(found, Intrinsic):
            return Value(found.result, found.emit(self.builder, *self.passed(node, arguments, found.arguments)))
        self.fail(node, "no such function")

    def passed(self, node: ast.Call, values: list[Value | int | float], wanted: Iterable[Type]) -> list[ir.Value]:
        wanted = list(wanted)
        made = [self.typed(value, type) for value, type in zip(values, wanted)]
        for value, type in zip(made, wanted):
            if value.type != type and (value.type.stored is None or type.stored is None):
                self.fail(node, f"{value.type.name} where {type.name} is wanted")
        if len(values) != len(wanted):
            self.fail(node, f"{len(wanted)} arguments are wanted")
        return [value.ir for value in made]

    def converted(self, node: ast.Call, to: Type, value: Value | int | float) -> Value:
        """A value as another type: pointers and whole numbers keep their bits."""
        given = self.typed(value, to)
        b, source, target = self.builder, given.type.register, to.register
        if source == target:
            return Value(to, given.ir)
        if isinstance(source, ir.PointerType) and isinstance(target, ir.IntType):
            return Value(to, b.ptrtoint(given.ir, target))
        if isinstance(source, ir.IntType) and isinstance(target, ir.IntType):
            return Value(to, b.zext(given.ir, target))  # a truth value
        if isinstance(source, ir.IntType) and isinstance(target, ir.FloatType | ir.DoubleType):
            return Value(to, (b.sitofp if given.type.signed else b.uitofp)(given.ir, target))
        if isinstance(source, ir.DoubleType) and isinstance(target, ir.FloatType):
            return Value(to, b.fptrunc(given.ir, target))
        if isinstance(source, ir.FloatType) and isinstance(target, ir.DoubleType):
            return Value(to, b.fpext(given.ir, target))
        if isinstance(source, ir.FloatType | ir.DoubleType) and isinstance(target, ir.IntType):
            return Value(to, (b.fptosi if to.signed else b.fptoui)(given.ir, target))
        self.fail(node, f"{given.type.name} can't become {to.name}")
