"""`tensorflow.compiler.tf2xla.python.xla`: XLA's own operations under short names."""

from everflow import raw_ops

# Those that are an op type as it is; the others take more than the op does.
_OPS = {
    "dequantize": "XlaDequantize",
    "dynamic_slice": "XlaDynamicSlice",
    "dynamic_update_slice": "XlaDynamicUpdateSlice",
    "einsum": "XlaEinsum",
    "key_value_sort": "XlaKeyValueSort",
    "recv": "XlaRecv",
    "replica_id": "XlaReplicaId",
    "self_adjoint_eig": "XlaSelfAdjointEig",
    "send": "XlaSend",
    "sort": "XlaSort",
    "while_loop": "XlaWhile",
}


def __getattr__(name):
    if name in _OPS:
        return raw_ops.function(_OPS[name], positional=True)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
