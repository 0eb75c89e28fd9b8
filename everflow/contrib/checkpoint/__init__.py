"""tf.contrib.checkpoint: containers and states for object-based checkpoints, and looking into them."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.checkpoint.inspection import dot_graph_from_checkpoint, list_objects, object_metadata
from everflow.contrib.checkpoint.numpy_state import NumpyState
from everflow.contrib.checkpoint.split_dependency import split_dependency
from everflow.ops.variables.auto_trackable import AutoTrackable as Checkpointable
from everflow.ops.variables.auto_trackable import AutoTrackable as CheckpointableBase
from everflow.ops.variables.containers import List, Mapping, UniqueNameTracker
from everflow.ops.variables.template import capture_dependencies
from everflow.ops.variables.trackable import NoDependency
from everflow.protos.trackable_object_graph_pb2 import TrackableObjectGraph as CheckpointableObjectGraph
from everflow.train.checkpoint_manager import CheckpointManager
from everflow.train.tracking import PythonState as PythonStateWrapper
