"""tf.keras.callbacks: what happens between the steps of training."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.keras.callbacks.base import BaseLogger, Callback, CallbackList, History, LambdaCallback, TerminateOnNaN
from everflow.keras.callbacks.checkpoints import ModelCheckpoint
from everflow.keras.callbacks.configuring import (
    configure,
    configure_callbacks,
    make_logs,
    set_callback_parameters,
    tell_names,
)
from everflow.keras.callbacks.logs import CSVLogger, ProgbarLogger, RemoteMonitor
from everflow.keras.callbacks.monitors import EarlyStopping, LearningRateScheduler, ReduceLROnPlateau
from everflow.keras.callbacks.tensorboard import TensorBoard
