"""The compiler in its own process, and code that comes and goes."""

import multiprocessing

import numpy as np
import pytest

from everflow.native import toolchain
from everflow.native.background import Ending
from everflow.native.codegen import Writer
from everflow.native.values import input_value
from tests.native.expressions import compiled

X = input_value(0, "f4", [10])


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_code_that_llvm_refuses_is_an_error_and_the_next_compiles():
    with pytest.raises(toolchain.CompilerError):
        toolchain._compiler.compile("this is no module")
    assert toolchain._compiler.compile(text())


def text() -> str:
    writer = Writer()
    writer.add([X * 3.0], 1)
    return writer.text()


def test_a_compiler_that_was_killed_is_started_again():
    assert toolchain._compiler.compile(text())
    toolchain._compiler._process.kill()
    assert toolchain._compiler.compile(text())


@pytest.mark.skipif(not toolchain.pathlib.Path("/proc/self/statm").exists(), reason="looks at /proc")
def test_memory_of_code_is_given_back():
    image = toolchain.object_code(text())
    for _ in range(200):
        toolchain.Loaded(image, ["entry0"])
    before = resident()
    for _ in range(2000):
        toolchain.Loaded(image, ["entry0"])
    assert resident() - before < 2 << 20


def in_child(connection) -> None:
    connection.send(compiled([X * 5.0], [np.ones(10, "f4")])[0].tolist())


def test_a_forked_child_compiles_too():
    compiled([X * 4.0], [np.ones(10, "f4")])
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=in_child, args=(there,))
    child.start()
    assert here.recv() == [5.0] * 10
    child.join()


def test_a_function_holds_its_code():
    function = toolchain.Loaded(toolchain.object_code(text()), ["entry0"]).function("entry0")
    x, y = np.ones(10, "f4"), np.zeros(10, "f4")
    function(x.ctypes.data, y.ctypes.data, 0, 1)
    assert (y == 3).all()


def test_a_program_that_ends_gets_no_code():
    compiler = toolchain._Compiler()
    compiler.end()
    with pytest.raises(Ending):
        compiler.compile(text())


def test_a_program_that_ends_while_code_is_asked_for_gets_none(monkeypatch):
    compiler = toolchain._Compiler()
    assert compiler.compile(text())
    wait = toolchain.threading.Timer

    def end_meanwhile(*args):
        compiler.end()
        return wait(*args)

    monkeypatch.setattr(toolchain.threading, "Timer", end_meanwhile)
    with pytest.raises(Ending):
        compiler.compile(text())


def test_code_is_kept_for_what_this_processor_can_do(monkeypatch, tmp_path):
    cpu = tmp_path / "cpuinfo"
    cpu.write_text("vendor_id\t: Some\nmodel\t\t: 7\ncpu MHz\t\t: 1234.5\nflags\t\t: sse avx\n\nflags\t: other\n")
    monkeypatch.setattr(toolchain, "_CPU_INFO", cpu)
    assert toolchain._told_by_linux().splitlines()[1:] == ["vendor_id Some", "model 7", "flags sse avx"]
    cpu.write_text("something else\n")
    assert toolchain._told_by_linux() == ""
    monkeypatch.setattr(toolchain, "_CPU_INFO", tmp_path / "none")
    assert toolchain._told_by_linux() == ""


def test_what_the_processor_can_do(monkeypatch):
    monkeypatch.setattr(toolchain, "_processor", lambda: "x86_64\nflags fpu sse4_2 avx")
    monkeypatch.setattr(toolchain.platform, "machine", lambda: "AMD64")
    assert toolchain.can("x86_64", "sse4_2", "+sse4.2")
    assert not toolchain.can("x86_64", "avx512f")
    assert not toolchain.can("aarch64", "sse4_2")
    monkeypatch.setattr(toolchain, "_processor", lambda: "arm64-apple-darwin\napple-m1\n+aes,+crc,+neon")
    monkeypatch.setattr(toolchain.platform, "machine", lambda: "arm64")
    assert toolchain.can("aarch64", "crc32", "+crc")
