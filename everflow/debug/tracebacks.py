"""The lines of a program that drew a graph, and its source files, sent to debuggers that listen over gRPC."""

from __future__ import annotations

import os
import socket

from everflow.debug.run_keys import GRPC_URL_PREFIX
from everflow.platform import gfile
from everflow.protos import debug_pb2, debug_service_pb2

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LARGEST = 64 << 20  # bytes of a message that holds a source file


def send_graph_tracebacks(destinations, run_key, origin_stack, graph, send_source=True):
    """Send where each node of a graph was made, and where the run was asked for.

    Args:
        destinations: The address of a listener, or a list of them.
        run_key: What tells this run from others.
        origin_stack: The stack of the call that runs the graph, as `traceback.extract_stack` gives it.
        graph: The graph.
        send_source: Whether the source files of the program follow.
    """
    texts = _Texts()
    call = debug_service_pb2.CallTraceback(
        call_type=debug_service_pb2.CallTraceback.GRAPH_EXECUTION, call_key=run_key, graph_version=graph.version
    )
    files = set()
    for op in graph.get_operations():
        entry = call.graph_traceback.log_entries.add(name=op.name)
        files |= texts.write(entry.code_def, op.traceback)
    call.graph_traceback.id_to_string.update(texts.by_id())
    _send(destinations, call, origin_stack, files, send_source)


def send_eager_tracebacks(destinations, origin_stack, send_source=True):
    """Send the stack of an eager call, and the source files of the program; arguments as `send_graph_tracebacks`."""
    call = debug_service_pb2.CallTraceback(call_type=debug_service_pb2.CallTraceback.EAGER_EXECUTION)
    _send(destinations, call, origin_stack, set(), send_source)


class _Texts:
    """Strings that stand in a message once, under a number."""

    def __init__(self):
        self._ids = {}

    def _id(self, text):
        return self._ids.setdefault(text, len(self._ids) + 1)

    def by_id(self):
        return {number: text for text, number in self._ids.items()}

    def write(self, code_def, stack):
        """Write the frames of a stack; returns their files."""
        for file, line, function, text, *_ in stack:
            code_def.traces.add(
                file_id=self._id(file), lineno=line, function_id=self._id(function), line_id=self._id(text or "")
            )
        return {frame[0] for frame in stack}


def _send(destinations, call, origin_stack, files, send_source):
    import grpc  # only programs that are debugged from elsewhere need it

    texts = _Texts()
    files = files | texts.write(call.origin_stack, [frame for frame in origin_stack if not _is_ours(frame[0])])
    call.origin_id_to_string.update(texts.by_id())
    sources = [_source(path) for path in sorted(files) if not _is_ours(path) and gfile.Exists(path)]
    for address in [destinations] if isinstance(destinations, str) else destinations:
        options = [("grpc.max_send_message_length", _LARGEST)]
        with grpc.insecure_channel(address.removeprefix(GRPC_URL_PREFIX), options) as channel:
            _tell(channel, "SendTracebacks", call)
            for source in sources if send_source else ():
                _tell(channel, "SendSourceFiles", debug_pb2.DebuggedSourceFiles(source_files=[source]))


def _tell(channel, method, message):
    call = channel.unary_unary(
        f"/tensorflow.EventListener/{method}",
        type(message).SerializeToString,
        debug_service_pb2.EventReply.FromString,
    )
    call(message)


def _is_ours(path):
    return os.path.abspath(path).startswith(_PACKAGE + os.sep)


def _source(path):
    """A source file with its lines and what tells whether it has changed."""
    with gfile.GFile(path, "rb") as f:
        content = f.read()
    return debug_pb2.DebuggedSourceFile(
        host=socket.gethostname(),
        file_path=path,
        last_modified=gfile.Stat(path).mtime_nsec // 1000,
        bytes=len(content),
        lines=content.decode("utf-8", "replace").splitlines(),
    )
