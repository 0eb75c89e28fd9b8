"""Regions compile for processors that this one is not, and give the same bits on older ones of its kind."""

import platform

import numpy as np
import pytest
from llvmlite import binding as llvm

from everflow.native import linker, toolchain
from everflow.native.codegen import SHARED_WORK, Writer
from everflow.native.compiler_process import optimized
from everflow.native.values import apply, input_value
from tests.native.expressions import Drawn
from tests.native.vector_loops import machine

# Processor → its triple, and the number by which ELF files call it.
PROCESSORS = {
    "x86-64": ("x86_64-unknown-linux-gnu", 62),
    "haswell": ("x86_64-unknown-linux-gnu", 62),
    "skylake-avx512": ("x86_64-unknown-linux-gnu", 62),
    "neoverse-n1": ("aarch64-unknown-linux-gnu", 183),
    "cortex-a72": ("aarch64-unknown-linux-gnu", 183),
}


def regions():
    """Outputs over inputs: random ones, and a softmax, a normalization and a long sum that threads share."""
    x, w = input_value(0, "f4", [64, 100]), input_value(1, "f4", [100])
    powers = apply("exp", x - x.reduce("max", [1]).reshape([64, 1]).expand([64, 100]))
    softmax = powers / powers.reduce("sum", [1]).reshape([64, 1]).expand([64, 100])
    mean = (x.reduce("sum", [0]) / 64.0).expand([64, 100])
    normal = (x - mean) * apply("rsqrt", ((x - mean) * (x - mean)).reduce("sum", [0]) + 1e-3).expand([64, 100])
    random = np.random.RandomState(0)
    inputs = [random.randn(64, 100).astype("f4"), random.randn(100).astype("f4")]
    yield [softmax, apply("tanh", normal * w.expand([64, 100]))], inputs
    long = input_value(0, "f4", [SHARED_WORK])
    yield [(long * 2.0).reduce("sum", [0])], [random.randn(SHARED_WORK).astype("f4")]
    for seed in range(30):
        drawn = Drawn(seed)
        if drawn.outputs:
            yield drawn.outputs, drawn.inputs


def written(shares):
    writer = Writer(shares)
    return writer, [writer.add(outputs, len(inputs)) for outputs, inputs in regions()]


@pytest.mark.parametrize("cpu", PROCESSORS)
def test_regions_compile_for_a_processor(cpu):
    triple, number = PROCESSORS[cpu]
    target = machine(cpu, triple)
    writer, _ = written(shares=True)
    image = target.emit_object(optimized(writer.text(), target))
    assert image[:4] == b"\x7fELF" and int.from_bytes(image[18:20], "little") == number


def older_processor(cpu):
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=cpu, features="", opt=3, reloc="pic", jit=True)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs several processors in one")
@pytest.mark.parametrize("cpu", ["x86-64", "haswell"])
def test_same_bits_on_processors_without_wide_vectors(cpu):
    """And loops come to an end there: LLVM once made one that did not of few entries in wide vectors."""
    results = []
    for target in (older_processor(cpu), linker.target_machine()):
        writer, entries = written(toolchain.can_share())
        file = toolchain.Loaded(target.emit_object(optimized(writer.text(), target)), [entry.name for entry in entries])
        results.append([])
        for entry, (outputs, inputs) in zip(entries, regions(), strict=True):
            made = [np.zeros(v.shape, v.dtype) for v in outputs]
            scratch = np.zeros(entry.scratch + 1, np.uint8)
            function = file.function(entry.name)
            kept = [np.ascontiguousarray(x) for x in inputs]
            function(*(a.ctypes.data for a in (*kept, *made, scratch)), 2)
            results[-1] += made
    for older, newer in zip(*results, strict=True):
        assert older.tobytes() == newer.tobytes()
