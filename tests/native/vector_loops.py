"""Loops over arrays around the functions of `everflow.native`, compiled for this machine or another."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir

from everflow.native.math_functions import FUNCTIONS

Lowering = Callable[..., ir.Value]

TYPES = {np.dtype(np.float32): ir.FloatType(), np.dtype(np.float64): ir.DoubleType()}
OF_TWO = ("atan2", "pow")

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def machine(cpu: str = "", triple: str = "") -> llvm.TargetMachine:
    """A processor by name; without one, this machine's."""
    features = "" if cpu else llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(triple or llvm.get_process_triple())
    return target.create_target_machine(cpu=cpu or llvm.get_host_cpu_name(), features=features, opt=3, jit=not triple)


def loop(lower: Lowering, type: ir.Type, arguments: int, result: ir.Type | None = None) -> ir.Module:
    """out[i] = lower(in0[i], in1[i], ...) for i < n; the result may be of another type."""
    module = ir.Module("loop")
    word, pointer = ir.IntType(64), ir.PointerType()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [word] + [pointer] * (arguments + 1)), "loop")
    for argument in function.args[1:]:
        argument.add_attribute("noalias")
    count, out, *inputs = function.args
    entry, body, done = (function.append_basic_block(name) for name in ("entry", "body", "done"))
    b = ir.IRBuilder(entry)
    b.cbranch(b.icmp_unsigned("==", count, word(0)), done, body)
    b.position_at_end(body)
    i = b.phi(word)
    i.add_incoming(word(0), entry)
    values = [b.load(b.gep(p, [i], source_etype=type), typ=type) for p in inputs]
    b.store(lower(b, *values), b.gep(out, [i], source_etype=result or type))
    following = b.add(i, word(1))
    i.add_incoming(following, body)
    b.cbranch(b.icmp_unsigned("<", following, count), body, done)
    b.position_at_end(done)
    b.ret_void()
    return module


def optimized(module: ir.Module, target: llvm.TargetMachine) -> llvm.ModuleRef:
    module.triple = target.triple
    module.data_layout = str(target.target_data)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(parsed, passes)
    return parsed


def assembly(name: str, dtype: np.dtype | type, target: llvm.TargetMachine) -> str:
    module = loop(FUNCTIONS[name], TYPES[np.dtype(dtype)], 2 if name in OF_TWO else 1)
    return target.emit_assembly(optimized(module, target))


def calls(text: str) -> list[str]:
    """The calls in an assembly of x86 or Arm, those by a jump included."""
    return re.findall(r"^\s+(?:callq?|blr?)\s.*|^\s+(?:jmpq?|b)\s+(?!\.L).*", text, re.MULTILINE)


_engines = []  # which own the code


def compile_loop(
    lower: Lowering, type: ir.Type, arguments: int, cpu: str = "", result: ir.Type | None = None
) -> Callable[..., np.ndarray]:
    """The loop as a function of arrays; where the result is of another type, it needs an `out`."""
    target = machine(cpu)
    engine = llvm.create_mcjit_compiler(optimized(loop(lower, type, arguments, result), target), target)
    engine.finalize_object()
    _engines.append(engine)
    code = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arguments + 1))(
        engine.get_function_address("loop")
    )

    def run(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        inputs = tuple(np.ascontiguousarray(x) for x in inputs)
        result = np.empty_like(inputs[0]) if out is None else out
        code(result.size, result.ctypes.data, *(x.ctypes.data for x in inputs))
        return result

    return run


@cache
def compiled(name: str, dtype: np.dtype | type, cpu: str = "") -> Callable[..., np.ndarray]:
    """A function of the table over arrays."""
    return compile_loop(FUNCTIONS[name], TYPES[np.dtype(dtype)], 2 if name in OF_TWO else 1, cpu)
