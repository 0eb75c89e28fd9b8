"""How paths into TensorFlow's tree are served where a row of `path_table.py` doesn't say it all: the packages behind its
folders, modules that are ours as they are, and names that mean a function of version 2.
"""

from __future__ import annotations

# Modules that are ours under another name, so that a program which sets a name there, as tests do, sets ours.
SAME = frozenset(
    "python.distribute.cluster_resolver.cluster_resolver python.distribute.cluster_resolver.tpu_cluster_resolver "
    "python.tf2 python.platform.tf_logging python.platform.flags python.platform.app python.lib.io.file_io "
    "tools.compatibility.tf_upgrade_v2_main tools.compatibility.tf_upgrade_v2".split()
)

# Names that mean the function of TensorFlow 2 inside its tree, where those that end in _v1 are of 1; of most others the
# functions of 1 take all that those of 2 take.
OF_TWO = {
    "python.framework.constant_op": "constant",
    "python.ops.confusion_matrix": "confusion_matrix",
    "python.ops.math_ops": "bincount",
    "python.ops.nn_ops": "avg_pool2d",
    "python.ops.parsing_ops": "decode_raw",
    "python.ops.variables": "Variable",
}

# The rule for paths that no row names: a folder of TensorFlow's, and the packages of ours whose modules are looked
# through, best first.
FOLDERS = {
    "python.autograph": "ops.autograph",
    "python.client": "runtime",
    "python.compiler": "xla",
    "python.data": "data data.experimental",
    "python.data.experimental": "data.experimental data",
    "python.debug": "debug",
    "python.distribute": "distribute",
    "python.distribute.cluster_resolver": "distribute",
    "python.eager": "eager ops.functions.defun ops.gradients.reverse framework",
    "python.estimator": "estimator estimator.canned estimator.export estimator.inputs",
    "python.feature_column": "feature_column",
    "python.framework": "framework ops.functions.defun runtime",
    "python.grappler": "runtime.plan",
    "python.keras": "keras keras.engine keras.utils keras.layers keras.backend",
    "python.keras.engine": "keras.engine keras",
    "python.keras.layers": "keras.layers keras",
    "python.keras.saving": "keras.saving keras",
    "python.layers": "layers keras.layers",
    "python.lib": "platform io",
    "python.module": "ops.variables.variable",
    "python.ops": "ops ops.array ops.math ops.nn.activations ops.io ops.variables.variable ops.functions.defun ops.queues ops.gradients.reverse ops.sparse.functions ops.random.distributions",
    "python.ops.distributions": "distributions",
    "python.ops.linalg": "ops.linalg.decompositions ops.linalg.operators",
    "python.ops.losses": "losses keras",
    "python.ops.parallel_for": "ops.parallel_for",
    "python.ops.ragged": "ops.ragged ops.strings.text ops.array",
    "python.ops.signal": "signal ops.math",
    "python.platform": "platform test",
    "python.profiler": "profiler",
    "python.saved_model": "saved_model train",
    "python.summary": "summary",
    "python.tools": "tools",
    "python.tpu": "tpu contrib.tpu estimator.tpu",
    "python.training": "train ops.variables.variable",
    "python.training.saving": "train ops.variables.variable",
    "python.training.tracking": "train keras.engine saved_model",
    "python.util": "platform framework",
    "lite": "lite",
}
