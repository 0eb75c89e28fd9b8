"""A debugger for tests: it takes what sessions send over gRPC, and asks for tensors."""

import contextlib
import json
from concurrent import futures

from everflow.framework.tensor_values import make_ndarray
from everflow.protos import debug_pb2, debug_service_pb2, event_pb2, graph_pb2

CHANGE = debug_service_pb2.EventReply.DebugOpStateChange


class Listener:
    """Takes events as a debugger does. `wanted` are the gated watches it asks for when a run begins."""

    def __init__(self):
        self.events, self.calls, self.sources = [], [], []
        self.wanted = {}

    def send_events(self, events, context):
        for event in events:
            self.events.append(event)
            held = event.WhichOneof("what") == "summary" and CHANGE.READ_WRITE in self.wanted.values()
            if event.WhichOneof("what") != "summary" or held:
                reply = debug_service_pb2.EventReply()
                for node, state in self.wanted.items():
                    reply.debug_op_state_changes.add(state=state, node_name=node, debug_op="DebugIdentity")
                yield reply

    def send_tracebacks(self, call, context):
        self.calls.append(call)
        return debug_service_pb2.EventReply()

    def send_sources(self, sources, context):
        self.sources += sources.source_files
        return debug_service_pb2.EventReply()

    def tensors(self):
        """The tensors that arrived, by name, whole."""
        parts = {}
        for event in self.events:
            for value in event.summary.value:
                parts.setdefault(value.node_name, []).append(value)
        found = {}
        for name, values in parts.items():
            about = [json.loads(value.metadata.plugin_data.content) for value in values]
            assert [a["chunkIndex"] for a in about] == list(range(about[0]["numChunks"]))
            tensor = values[0].tensor
            tensor.tensor_content = b"".join(value.tensor.tensor_content for value in values)
            found[name] = make_ndarray(tensor)
        return found

    def runs(self):
        return [json.loads(e.log_message.message) for e in self.events if e.WhichOneof("what") == "log_message"]

    def graphs(self):
        return [graph_pb2.GraphDef.FromString(e.graph_def) for e in self.events if e.WhichOneof("what") == "graph_def"]


@contextlib.contextmanager
def listening():
    """A Listener at an address of its own."""
    import grpc

    found = Listener()
    reply = debug_service_pb2.EventReply.SerializeToString
    handlers = {
        "SendEvents": grpc.stream_stream_rpc_method_handler(found.send_events, event_pb2.Event.FromString, reply),
        "SendTracebacks": grpc.unary_unary_rpc_method_handler(
            found.send_tracebacks, debug_service_pb2.CallTraceback.FromString, reply
        ),
        "SendSourceFiles": grpc.unary_unary_rpc_method_handler(
            found.send_sources, debug_pb2.DebuggedSourceFiles.FromString, reply
        ),
    }
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("tensorflow.EventListener", handlers),))
    found.address = f"localhost:{server.add_insecure_port('localhost:0')}"
    server.start()
    yield found
    server.stop(None)
