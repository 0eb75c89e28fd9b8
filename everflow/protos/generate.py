"""Compile the .proto files of this folder: `python -m everflow.protos.generate`.

The generated files are checked in. They come from grpcio-tools 1.63, the last with protobuf 5.26 code: that code asks
for no exact runtime, so every protobuf from 5.26 on loads it. A newer compiler would shut out older runtimes.
"""

from __future__ import annotations

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


def generate(destination: pathlib.Path = ROOT) -> None:
    """Write a `*_pb2.py`, and a `*_pb2.pyi` for type checkers, for every `.proto`, under `destination`/everflow/protos."""
    from importlib.resources import files

    from grpc_tools import protoc  # only developers have it

    well_known = str(files("grpc_tools") / "_proto")
    sources = [str(path.relative_to(ROOT)) for path in sorted(HERE.glob("*.proto"))]
    status = protoc.main(
        ["protoc", f"-I{ROOT}", f"-I{well_known}", f"--python_out={destination}", f"--pyi_out={destination}", *sources]
    )
    if status:
        sys.exit(status)


if __name__ == "__main__":
    generate()
