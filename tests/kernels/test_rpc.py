"""Calls of a gRPC server in this process."""

import concurrent.futures

import grpc
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


class Doubling(grpc.GenericRpcHandler):
    """Says everything twice, and refuses to say nothing."""

    def service(self, details):
        def answer(request, context):
            if not request:
                context.abort(grpc.StatusCode.OUT_OF_RANGE, "nothing to say")
            return request * 2

        return grpc.unary_unary_rpc_method_handler(answer) if details.method == "/service/double" else None


@pytest.fixture
def address():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([Doubling()])
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield f"localhost:{port}"
    server.stop(None).wait()


def _call(build, *arguments, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        address, method, request = arguments
        return session.run(build(address=address, method=method, request=request, timeout_in_ms=20_000, **options))


def test_answers_have_the_shape_of_requests(address):
    assert _call(raw.Rpc, address, "/service/double", [["a", "bc"]], protocol="grpc").tolist() == [[b"aa", b"bcbc"]]
    assert _call(raw.Rpc, [address, address], "/service/double", "x").tolist() == [b"xx", b"xx"]


def test_refusals_are_errors_or_codes(address):
    with pytest.raises(tf.errors.OutOfRangeError, match="nothing to say"):
        _call(raw.Rpc, address, "/service/double", ["a", ""])
    answer, code, message = _call(raw.TryRpc, address, ["/service/double", "/service/other"], "")
    assert (answer.tolist(), code.tolist(), message[0]) == ([b"", b""], [11, 12], b"nothing to say")


def test_what_cannot_be_called():
    with pytest.raises(tf.errors.UnavailableError):
        _call(raw.Rpc, "localhost:1", "/a/b", "x")
    with pytest.raises(tf.errors.InvalidArgumentError):
        _call(raw.TryRpc, "localhost:1", "/a/b", "x", protocol="other")
