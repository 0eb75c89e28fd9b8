"""Op types that TensorFlow computes on other machines only, or nowhere in the builds that people installed: running
them is an InvalidArgumentError there, as of a node that no device takes.
"""

from __future__ import annotations

import fnmatch
import functools

_MACHINES = {
    "a TPU": """*TPU* Infeed* Outfeed* Prelinearize* AllToAll CollectivePermute CrossReplicaSum WorkerHeartbeat""",
    "GPUs with NCCL": "Nccl*",
    "an XLA device": "XlaDequantize XlaLaunch XlaRecv XlaSend",
    "a build with MKL": """QuantizedConv2DAnd* QuantizedConv2DPerChannel QuantizedConv2DWith* QuantizedDepthwiseConv2D*
        QuantizedMatMulWithBias* Requantiz*PerChannel""",
}


@functools.cache
def machine_of(op_type: str) -> str | None:
    """What an op type without a kernel needs, where TensorFlow's own builds have none either."""
    for machine, patterns in _MACHINES.items():
        if any(fnmatch.fnmatchcase(op_type, pattern) for pattern in patterns.split()):
            return machine
    return None
