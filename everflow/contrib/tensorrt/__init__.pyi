# Made by `make stubs`.
from everflow._typing import Any, Callable, NamedTuple, ScalarLike

class TrtConversionParams(NamedTuple):
    rewriter_config_template: Any
    max_workspace_size_bytes: Any
    precision_mode: Any
    minimum_segment_size: Any
    is_dynamic_op: Any
    maximum_cached_engines: Any
    use_calibration: Any
    max_batch_size: Any

class TrtGraphConverter:
    _converted_graph_def: Any
    _given: Any
    _key: Any
    _signature: Any
    _tags: Any
    def __init__(self, input_saved_model_dir: Any = None, input_saved_model_tags: Any = None, input_saved_model_signature_key: Any = None, input_graph_def: Any = None, nodes_blacklist: Any = None, session_config: Any = None, max_batch_size: Any = 1, max_workspace_size_bytes: ScalarLike | None = 1073741824, precision_mode: Any = 'FP32', minimum_segment_size: Any = 3, is_dynamic_op: bool = False, maximum_cached_engines: ScalarLike | None = 1, use_calibration: bool = True) -> None: ...
    def calibrate(self, fetch_names: Any, num_runs: Any, feed_dict_fn: Callable[..., Any] | None = None, input_map_fn: Callable[..., Any] | None = None) -> Any: ...
    def convert(self) -> Any: ...
    def save(self, output_saved_model_dir: Any) -> None: ...

class TrtGraphConverterV2:
    def __init__(self, input_saved_model_dir: Any = None, input_saved_model_tags: Any = None, input_saved_model_signature_key: Any = None, conversion_params: Any = ...) -> None: ...

class TrtPrecisionMode:
    FP16: str
    FP32: str
    INT8: str
    @staticmethod
    def supported_precision_modes() -> list[str]: ...

def create_inference_graph(input_graph_def: Any, outputs: Any, max_batch_size: Any = 1, max_workspace_size_bytes: ScalarLike | None = 1073741824, precision_mode: Any = 'FP32', minimum_segment_size: Any = 3, is_dynamic_op: bool = False, maximum_cached_engines: ScalarLike | None = 1, input_saved_model_dir: Any = None, input_saved_model_tags: Any = None, input_saved_model_signature_key: Any = None, output_saved_model_dir: Any = None, session_config: Any = None) -> Any: ...
