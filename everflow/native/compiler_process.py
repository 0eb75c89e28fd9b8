"""The compiler, in a process of its own: IR comes in, an object file goes out, over pipes.

It is run as a file, not as a module, and needs llvmlite only. What goes wrong inside LLVM ends this process and not
the program that trains; the program's other threads are not held up while code is made.

    request: length (8 bytes), vectorise (1 byte), IR          reply: length, object file; or length 0
"""

from __future__ import annotations

import sys
from typing import BinaryIO

import llvmlite.binding as llvm


def target_machine() -> llvm.TargetMachine:
    """The processor of this machine, with all it can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, reloc="pic", jit=True
    )


def optimized(text: str, machine: llvm.TargetMachine, vectorise: bool = True) -> llvm.ModuleRef:
    """Check and optimise a module."""
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = vectorise
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return module


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Compile what comes until there is nothing more."""
    machine = target_machine()
    while header := requests.read(9):
        text = requests.read(int.from_bytes(header[:8], "little")).decode()
        image = machine.emit_object(optimized(text, machine, bool(header[8])))
        replies.write(len(image).to_bytes(8, "little") + image)
        replies.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
