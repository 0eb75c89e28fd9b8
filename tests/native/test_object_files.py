"""Object files become code without LLVM; what is not known of them is left to its linker."""

import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import binding as llvm
from llvmlite import ir

from everflow.native import compiler_process, linker, object_files, python_calls, toolchain
from everflow.native.codegen import Writer
from everflow.native.object_files import Foreign, Image
from everflow.native.values import apply, input_value

pytestmark = pytest.mark.skipif(not object_files.CAN_LOAD, reason="LLVM's own linker loads code here")
X = input_value(0, "f4", [10])


def text() -> str:
    writer = Writer()
    writer.add([apply("exp", X) * 3.0 + 1.0], 1)
    return writer.text()


def addresses() -> dict[str, int]:
    return {**toolchain.imports(), **python_calls.imports()}


def called(code) -> bytes:
    function = python_calls.function_at(code["entry0_python"], code)
    x, y = np.linspace(-3, 3, 10, dtype="f4"), np.zeros(10, "f4")
    function(x.ctypes.data, y.ctypes.data, 0, 1)
    return y.tobytes()


def test_code_does_what_it_does_when_llvm_loads_it():
    image = toolchain.object_code(text())
    assert called(Image(image, addresses())) == called(linker.Linked(image, ["entry0_python"], addresses()))


def test_nobody_can_write_over_code():
    code = Image(toolchain.object_code(text()), addresses())
    with open("/proc/self/maps") as maps:
        rights = {line.split()[1] for line in maps if line.startswith(f"{code._base:x}-")}
    assert rights == {"r-xp"}


def jumping() -> str:
    """A function with a table of where to go on, which is data that needs addresses."""
    module = ir.Module("jumping")
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
    function = ir.Function(module, kind, "chosen")
    b = ir.IRBuilder(function.append_basic_block())
    other = function.append_basic_block()
    choice = b.switch(function.args[0], other)
    for i in range(16):
        block = function.append_basic_block()
        choice.add_case(ir.IntType(64)(i), block)
        called = ir.Function(module, kind, f"of_{i}")
        b = ir.IRBuilder(block)
        b.ret(b.call(called, [function.args[0]]))
    ir.IRBuilder(other).ret(ir.IntType(64)(-1))
    python_calls.write(module, function)
    return str(module)


def test_a_name_that_is_nowhere_is_told():
    with pytest.raises(Foreign, match="of_0"):
        Image(toolchain.object_code(jumping()), addresses())


def test_tables_of_places_to_go_on():
    doubling = ir.Module("doubling")
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
    for i in range(16):
        function = ir.Function(doubling, kind, f"of_{i}")
        b = ir.IRBuilder(function.append_basic_block())
        b.ret(b.mul(function.args[0], ir.IntType(64)(i + 2)))
    others = Image(toolchain.object_code(str(doubling)), {})
    known = addresses() | {f"of_{i}": others[f"of_{i}"] for i in range(16)}
    code = Image(toolchain.object_code(jumping()), known)
    function = python_calls.function_at(code["chosen_python"], code)
    assert [function(i) for i in (0, 3, 15, 16)] == [0, 15, 255, -1]


def link_places_of_another_kind():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3, reloc="pic", codemodel="small")
    image = machine.emit_object(compiler_process.optimized(text(), machine))
    with pytest.raises(Foreign, match="relocation"):
        Image(image, addresses())
    file = toolchain.Loaded(image, ["entry0"])
    assert isinstance(file._code, linker.Linked)
    assert np.allclose(np.frombuffer(called(file._code), "f4"), 3 * np.exp(np.linspace(-3, 3, 10)) + 1)


def test_places_of_another_kind_are_left_to_llvm():
    # Such code reaches two gigabytes, which in a process that has grown may not be enough for LLVM; it would abort.
    subprocess.run(
        [sys.executable, "-c", f"import {__name__} as tests; tests.link_places_of_another_kind()"], check=True
    )


def test_a_file_that_was_cut_off_is_refused():
    image = toolchain.object_code(text())
    for size in (0, 5, 20, 63, *range(64, len(image) - 1, 97)):
        with pytest.raises(Foreign):
            Image(image[:size], addresses())


def test_a_file_for_another_machine_is_refused():
    image = bytearray(toolchain.object_code(text()))
    struct.pack_into("<H", image, 18, 183)
    with pytest.raises(Foreign, match="x86-64"):
        Image(bytes(image), addresses())


def run(program: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "EVERFLOW_NATIVE": "always"}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)


def test_a_program_with_machine_code_has_no_llvm_in_it():
    done = run("""
import sys
import everflow as tf
x = tf.placeholder(tf.float32, [100])
y = tf.reduce_sum(tf.exp(x) * 2.0 + 1.0)
with tf.Session() as sess:
    assert "_Native" in sess.explain(y, [x])
    print(sess.run(y, {x: [0.0] * 100}), "llvmlite.binding" in sys.modules)
""")
    assert done.stdout.split() == ["300.0", "False"], done.stderr


def test_a_program_ends_while_another_thread_is_in_machine_code():
    done = run("""
import threading, time
import everflow as tf
x = tf.constant([1.0] * 200000)
y = tf.while_loop(lambda i, v: i < 20, lambda i, v: (i + 1, tf.sin(v) + tf.cos(v)), [0, x])[1]
sess = tf.Session()
sess.run(y)
def for_ever():
    while True:
        sess.run(y.op)
threading.Thread(target=for_ever, daemon=True).start()
time.sleep(0.2)
print("over")
""")
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr
