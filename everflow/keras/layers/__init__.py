"""tf.keras.layers: all layers of Keras; each kind has a file, what they share is in `keras/engine`."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

import sys as _sys

from everflow.framework.lazy_names import lazy_names as _lazy_names
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_layer import Input, InputLayer
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.engine.known_classes import deserialize, serialize
from everflow.keras.engine.known_classes import register_classes as _register_classes
from everflow.keras.engine.known_classes import register_namespace as _register_namespace
from everflow.keras.engine.network import Network as _Network
from everflow.keras.engine.op_layers import TensorFlowOpLayer as _TensorFlowOpLayer
from everflow.keras.engine.sequential import Sequential as _Sequential
from everflow.keras.engine.training import Model as _Model
from everflow.keras.layers.advanced_activations import ELU, LeakyReLU, PReLU, ReLU, Softmax, ThresholdedReLU
from everflow.keras.layers.attention import AdditiveAttention, Attention
from everflow.keras.layers.attention import BaseDenseAttention as _BaseDenseAttention
from everflow.keras.layers.conv_recurrent import ConvLSTM2D
from everflow.keras.layers.convolutional import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Convolution1D,
    Convolution2D,
    Convolution2DTranspose,
    Convolution3D,
    Convolution3DTranspose,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
    SeparableConvolution1D,
    SeparableConvolution2D,
)
from everflow.keras.layers.core import (
    Activation,
    ActivityRegularization,
    Dense,
    Dropout,
    Flatten,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from everflow.keras.layers.cudnn_recurrent import CuDNNGRU, CuDNNLSTM
from everflow.keras.layers.embeddings import Embedding
from everflow.keras.layers.lambda_layer import Lambda
from everflow.keras.layers.local import LocallyConnected1D, LocallyConnected2D
from everflow.keras.layers.merge import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from everflow.keras.layers.noise import AlphaDropout, GaussianDropout, GaussianNoise
from everflow.keras.layers.normalization import BatchNormalization, LayerNormalization
from everflow.keras.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from everflow.keras.layers.recurrent import GRU, LSTM, RNN, SimpleRNN
from everflow.keras.layers.recurrent_cells import AbstractRNNCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from everflow.keras.layers.spatial import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from everflow.keras.layers.wrappers import Bidirectional, TimeDistributed, Wrapper

_register_classes(
    **{_name: _value for _name, _value in vars().items() if isinstance(_value, type) and not _name.startswith("_")}
)
_register_classes(Model=_Model, Network=_Network, Sequential=_Sequential, TensorFlowOpLayer=_TensorFlowOpLayer)
_register_classes(BaseDenseAttention=_BaseDenseAttention)
# Names of layers that other versions of Keras write.
_register_classes(BatchNormalizationV1=BatchNormalization, BatchNormalizationV2=BatchNormalization)

# DenseFeatures is one of them, too: see everflow/__init__.py.
__getattr__, __dir__ = _lazy_names(__name__, __file__)
_register_namespace(_sys.modules[__name__])
