"""tf.train: optimizers, learning rates, moving averages, checkpoints, sessions that watch over training."""

# The re-exports are the purpose of this file, in the families' order rather than the alphabet's.
# ruff: noqa: F401, I001

from __future__ import annotations

# --- optimizers
from everflow.train.adam import AdamOptimizer
from everflow.train.adaptive import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    FtrlOptimizer,
    ProximalAdagradOptimizer,
    RMSPropOptimizer,
)
from everflow.train.gradient_descent import (
    GradientDescentOptimizer,
    MomentumOptimizer,
    ProximalGradientDescentOptimizer,
)
from everflow.train.optimizer import Optimizer
from everflow.ops.sdca import sdca_fprint, sdca_optimizer, sdca_shrink_l1

# --- learning rates and moving averages
from everflow.train.learning_rate import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from everflow.train.moving_averages import ExponentialMovingAverage
from everflow.ops.nn.quantize_training import do_quantize_training_on_graphdef

# --- loss scaling
from everflow.train import experimental

# --- global step
from everflow.ops.variables.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

# --- checkpoints: Saver, reading, writing and listing them
from everflow.train.checkpoint_initialization import init_from_checkpoint
from everflow.train.checkpoint_manager import CheckpointManager, checkpoints_iterator
from everflow.train.checkpoint_reader import NewCheckpointReader, list_variables, load_checkpoint, load_variable
from everflow.train.checkpoint_state import (
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from everflow.formats.graph_files import write_graph
from everflow.train.importing import import_meta_graph
from everflow.ops.io.meta_graph import export_meta_graph
from everflow.train.object_checkpoint import Checkpoint
from everflow.train.saver import Saver
from everflow.train.warm_starting import VocabInfo, warm_start

# --- sessions: MonitoredSession, hooks, Supervisor, Scaffold
from everflow.train.hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from everflow.train.monitored_session import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    SessionCreator,
    SingularMonitoredSession,
    WorkerSessionCreator,
)
from everflow.train.scaffold import Scaffold
from everflow.train.session_manager import SessionManager
from everflow.train.supervisor import Supervisor, basic_train_loop
from everflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

# --- queues: Coordinator, QueueRunner, batching
from everflow.train import queue_runner
from everflow.train.sync_replicas import SyncReplicasOptimizer
from everflow.train.coordinator import Coordinator, LooperThread
from everflow.train.input import (
    batch,
    batch_join,
    input_producer,
    limit_epochs,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    range_input_producer,
    shuffle_batch,
    shuffle_batch_join,
    slice_input_producer,
    string_input_producer,
)
from everflow.train.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from everflow.ops.io.files import match_filenames_once

# --- clusters
from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.server import Server
from everflow.train.device_setter import replica_device_setter

# --- events
from everflow.summary.reading import summary_iterator

# --- messages
from everflow.protos.cluster_pb2 import ClusterDef, JobDef
from everflow.protos.example_pb2 import Example, SequenceExample
from everflow.protos.feature_pb2 import BytesList, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List
from everflow.protos.queue_runner_pb2 import QueueRunnerDef
from everflow.protos.saver_pb2 import SaverDef
from everflow.protos.tensorflow_server_pb2 import ServerDef
