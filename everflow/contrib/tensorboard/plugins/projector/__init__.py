"""tf.contrib.tensorboard.plugins.projector: which embeddings of a checkpoint are shown, and their labels."""

from __future__ import annotations

import os

from google.protobuf import text_format

from everflow.platform.gfile import GFile
from everflow.protos.projector_config_pb2 import EmbeddingInfo as EmbeddingInfo
from everflow.protos.projector_config_pb2 import ProjectorConfig
from everflow.protos.projector_config_pb2 import SpriteMetadata as SpriteMetadata

_CONFIG_FILE = "projector_config.pbtxt"


def visualize_embeddings(summary_writer, config: ProjectorConfig) -> None:
    """Leave `config` in the writer's folder, where the projector looks for it.

    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="words:0", metadata_path="words.tsv")
    projector.visualize_embeddings(writer, config)
    """
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    with GFile(os.path.join(logdir, _CONFIG_FILE), "w") as f:
        f.write(text_format.MessageToString(config))
