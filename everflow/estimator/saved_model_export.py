"""Exporting an estimator: each mode's graph is drawn over a receiver, restored, and added to one SavedModel."""

from __future__ import annotations

import os
import time

from everflow.estimator.export.outputs import EvalOutput, TrainOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework.errors import NotFoundError
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.framework.seeds import set_random_seed
from everflow.platform import file_io, logging
from everflow.runtime.session import Session
from everflow.saved_model import signature_constants, tag_constants
from everflow.saved_model.builder import SavedModelBuilder
from everflow.saved_model.constants import TRAIN_OP_KEY
from everflow.saved_model.signature_def_utils import is_valid_signature
from everflow.train.saver import Saver
from everflow.train.scaffold import Scaffold

# The tag of the graph for each mode.
TAGS = {ModeKeys.PREDICT: tag_constants.SERVING, ModeKeys.TRAIN: tag_constants.TRAINING, ModeKeys.EVAL: "eval"}
_ASSETS_EXTRA = "assets.extra"
_DEFAULT = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def export(estimator, export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs):
    """Write a SavedModel with a graph for each mode in `receivers`; its folder as bytes."""
    modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receivers.get(mode)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {list(receivers)}.")
    export_dir = timestamped_dir(export_dir_base)
    # Servers watch the folder, so the model gets its name when it is whole.
    temporary = os.path.join(os.path.dirname(export_dir), f"temp-{os.path.basename(export_dir)}")
    builder = SavedModelBuilder(temporary)
    for i, mode in enumerate(modes):
        _add_graph(
            estimator, builder, mode, receivers[mode], checkpoint_path, strip_default_attrs, with_variables=i == 0
        )
    builder.save(as_text)
    for target, source in (assets_extra or {}).items():
        path = os.path.join(temporary, _ASSETS_EXTRA, target)
        file_io.recursive_create_dir(os.path.dirname(path))
        file_io.copy(source, path)
    file_io.rename(temporary, export_dir)
    return export_dir.encode()


def timestamped_dir(base):
    """A folder below `base`, named by the second, that isn't there yet."""
    base = base.decode() if isinstance(base, bytes) else os.fspath(base)
    for attempt in range(10):
        path = os.path.join(base, str(int(time.time())))
        if not file_io.file_exists(path):
            return path
        logging.warning("Directory %s already exists; retrying (attempt %d of 10)", path, attempt + 1)
        time.sleep(1)
    raise RuntimeError(
        f"{path} and nine names tried before are taken: other exports go to this directory at the same time."
    )


def _add_graph(estimator, builder, mode, receiver_fn, checkpoint_path, strip_default_attrs, with_variables):
    config = estimator._config
    with Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        set_random_seed(config.tf_random_seed)
        receiver = receiver_fn()
        spec = estimator._call_model_fn(receiver.features, getattr(receiver, "labels", None), mode, estimator.config)
        signatures = _signatures(mode, spec, receiver)
        if spec.train_op is not None:
            add_to_collection(TRAIN_OP_KEY, spec.train_op)
        with Session(config=estimator._session_config) as session:
            local_init_op = spec.scaffold.local_init_op
            if local_init_op is None:
                local_init_op = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            try:
                saver.restore(session, checkpoint_path)
            except NotFoundError as missing:
                raise ValueError(
                    f"Could not load all requested variables from checkpoint {checkpoint_path}. Please make sure your model_fn does not "
                    f"expect variables that were not saved in the checkpoint. {missing.message}"
                ) from missing
            assets = get_collection(GraphKeys.ASSET_FILEPATHS)
            options = {"tags": [TAGS[mode]], "signature_def_map": signatures, "assets_collection": assets}
            options |= {"main_op": local_init_op, "saver": saver, "strip_default_attrs": strip_default_attrs}
            if with_variables:
                builder.add_meta_graph_and_variables(session, **options)
            else:
                builder.add_meta_graph(**options)


def _signatures(mode, spec, receiver):
    """{key: SignatureDef} of a model's outputs over a receiver's inputs."""
    if mode == ModeKeys.TRAIN:
        outputs = {mode: TrainOutput(loss=spec.loss, predictions=spec.predictions, metrics=spec.eval_metric_ops)}
    elif mode == ModeKeys.EVAL:
        outputs = {mode: EvalOutput(loss=spec.loss, predictions=spec.predictions, metrics=spec.eval_metric_ops)}
    else:
        outputs = spec.export_outputs
        if outputs is None:
            raise ValueError("export_outputs must be defined in EstimatorSpec for exporting a model for prediction.")
    alternatives = getattr(receiver, "receiver_tensors_alternatives", None)
    return signatures_of(outputs, receiver.receiver_tensors, alternatives, serving_only=mode == ModeKeys.PREDICT)


def signatures_of(outputs, receiver_tensors, alternatives=None, serving_only=True):
    """{key: SignatureDef} of outputs over inputs; those that don't fit the inputs are left out, and with `serving_only`
    those that no server takes.
    """
    signatures, left_out = {}, {}
    for prefix, tensors in [(None, receiver_tensors), *(alternatives or {}).items()]:
        for key, output in outputs.items():
            full = f"{prefix}:{_shown(key)}" if prefix else _shown(key)
            try:
                signatures[full] = output.as_signature_def(tensors)
            except ValueError as wrong:
                left_out[full] = str(wrong)
    if serving_only:
        signatures = {key: signature for key, signature in signatures.items() if is_valid_signature(signature)}
    logging.info(
        "Signatures included in export: %s",
        {key: signature.method_name for key, signature in sorted(signatures.items())},
    )
    for key, reason in left_out.items():
        logging.info("Signature %r is not exported because its inputs don't fit: %s", key, reason)
    if serving_only and _DEFAULT not in signatures:
        logging.warning("Export includes no default signature!")
    return signatures


def _shown(key):
    return _DEFAULT if key is None else key
