"""Why a name or an op type of TensorFlow 1.15 is missing, and what is there but differs.

Keys may have `*`; the first that fits is taken. A reason that nothing missing needs any more fails
tests/docs/test_compatibility.py.
"""

from __future__ import annotations

MISSING_NAMES: dict[str, str] = {}

MISSING_OP_TYPES = {
    "*TPU*": "needs a TPU",
    "Infeed*": "needs a TPU",
    "Outfeed*": "needs a TPU",
    "Prelinearize*": "needs a TPU",
    "WorkerHeartbeat": "needs a TPU",
    "CrossReplicaSum": "needs a TPU",
    "AllToAll": "needs a TPU",
    "CollectivePermute": "needs a TPU",
    "Nccl*": "collective ops between GPUs: tf.distribute adds up without them",
    "Xla*": "made by TensorFlow's compiler, never by a program",
    "Bigtable*": "Google Cloud's Bigtable",
    "DatasetToBigtable": "Google Cloud's Bigtable",
    "*BigQuery*": "Google Cloud's BigQuery",
    "Gcs*": "settings of Google Cloud Storage: gs:// files are read by fsspec",
    "*": "not yet",
}

# What planning does itself: these have no kernel and need none.
PLANNED = frozenset(
    "Const Placeholder PlaceholderV2 Switch RefSwitch Merge RefMerge Enter RefEnter Exit RefExit NextIteration RefNextIteration LoopCond".split()
)

DIFFERS = {
    "load_op_library": "compiled libraries of ops are refused: they call TensorFlow's C++ interface. Write the op in Python (adding-ops).",
    "load_library": "compiled libraries of ops are refused, as in load_op_library",
    "load_file_system_library": "compiled libraries are refused: fsspec reaches remote files",
    "Operation": "the constructor takes other arguments. Programs make ops by functions, or by Graph.create_op, which takes TensorFlow's.",
    "GIT_VERSION": "says everflow-VERSION",
    "COMPILER_VERSION": "says none",
    "sysconfig.get_include": "there are no C++ headers in that folder",
    "sysconfig.get_lib": "there is no C++ library in that folder",
    "py_func": "a graph that was loaded from a file can't call Python functions of this process by number",
    "Session": "where a graph leaves the order of a variable's use and write open, uses come first, every time",
    "contrib.tpu.TPUEstimator": "trains on the CPU, as with use_tpu=False",
    "estimator.tpu.TPUEstimator": "trains on the CPU, as with use_tpu=False",
    "data.experimental.parallel_interleave": "sloppy=True gives the elements in order: any order is allowed, and this one is repeatable",
    "GPUOptions": "accepted; memory fractions and growth have no effect, as torch has its own allocator",
}
