"""tf.contrib.cudnn_rnn: the cells that run models trained with cuDNN's kernels on any device."""

from everflow.contrib.cudnn_rnn.compatible import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell

__all__ = ["CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell"]
