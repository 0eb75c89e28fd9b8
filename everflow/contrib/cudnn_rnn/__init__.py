"""tf.contrib.cudnn_rnn: networks with cuDNN's formulas, and cells that use their checkpoints, on any device."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.cudnn_rnn.compatible import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell
from everflow.contrib.cudnn_rnn.layers import CudnnGRU, CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh
from everflow.contrib.cudnn_rnn.params_format import (
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)
from everflow.contrib.cudnn_rnn.saveables import (
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)
