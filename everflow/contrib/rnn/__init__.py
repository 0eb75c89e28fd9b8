"""tf.contrib.rnn: the cells of `tf.nn.rnn_cell`, many more of them, wrappers, and cells fused over time."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.rnn.blocks import (
    GRUBlockCell,
    GRUBlockCellV2,
    LSTMBlockCell,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
)
from everflow.contrib.rnn.compiled import CompiledWrapper
from everflow.contrib.rnn.frequency import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from everflow.contrib.rnn.fused import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from everflow.contrib.rnn.gated import (
    CoupledInputForgetGateLSTMCell,
    IntersectionRNNCell,
    LayerNormBasicLSTMCell,
    NASCell,
    UGRNNCell,
)
from everflow.contrib.rnn.independent import IndRNNCell, IndyGRUCell, IndyLSTMCell, SRUCell
from everflow.contrib.rnn.lstm_variants import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
    GLSTMCell,
    PhasedLSTMCell,
)
from everflow.contrib.rnn.stacking import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from everflow.contrib.rnn.wrappers import (
    AttentionCellWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from everflow.framework.lazy_names import imported_names as _imported_names
from everflow.rnn.cells import (
    BasicLSTMCell,
    BasicRNNCell,
    GRUCell,
    LayerRNNCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    RNNCell,
)
from everflow.rnn.dynamic import batch_size_of as best_effort_input_batch_size
from everflow.rnn.dynamic import transpose_batch_time
from everflow.rnn.static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from everflow.rnn.wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper

__all__ = [name for name in _imported_names(__file__) if not name.startswith("_")]
