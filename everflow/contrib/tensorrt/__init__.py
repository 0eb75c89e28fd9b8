"""tf.contrib.tensorrt: graphs with TensorRT engines."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.tensorrt.trt_convert import (
    DEFAULT_TRT_CONVERSION_PARAMS,
    TrtConversionParams,
    TrtGraphConverter,
    TrtGraphConverterV2,
    TrtPrecisionMode,
    create_inference_graph,
)
