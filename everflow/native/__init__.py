"""Machine code for regions of small ops, through LLVM (`llvmlite`).

What a region computes is written down as expressions over whole tensors (`values.py`), grouped into loop nests
(`nests.py`), written as LLVM IR (`codegen.py`, `scalars.py`, `math_functions.py`) and compiled, kept and called by
`toolchain.py`. Nothing here knows graphs or torch: kernels say what an op is in these terms (`lowering.py`), and plans
choose the regions (`runtime/plan/native/regions.py`). docs/native.md follows one region all the way.
"""
