"""What goes over the pipes of the compiler's process."""

import io

import pytest

from everflow.native import compiler_process

MODULE = 'define i32 @"f"(i32 %"x") { ret i32 %"x" }'


def request(text: str, vectorise: bool = True) -> bytes:
    data = text.encode()
    return len(data).to_bytes(8, "little") + bytes([vectorise]) + data


def test_every_request_has_a_reply():
    replies = io.BytesIO()
    compiler_process.serve(io.BytesIO(request(MODULE) + request(MODULE, False)), replies)
    replies.seek(0)
    for _ in range(2):
        size = int.from_bytes(replies.read(8), "little")
        assert len(replies.read(size)) == size > 0
    assert replies.read() == b""


def test_what_is_no_module_ends_it():
    with pytest.raises(RuntimeError):
        compiler_process.serve(io.BytesIO(request("no module")), io.BytesIO())
