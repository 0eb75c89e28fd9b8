from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TPUEmbeddingOutputLayout(_message.Message):
    __slots__ = ("table", "output")
    class OutputLocation(_message.Message):
        __slots__ = ("tensor_index", "dim0_offset", "dim1_offset")
        TENSOR_INDEX_FIELD_NUMBER: _ClassVar[int]
        DIM0_OFFSET_FIELD_NUMBER: _ClassVar[int]
        DIM1_OFFSET_FIELD_NUMBER: _ClassVar[int]
        tensor_index: int
        dim0_offset: int
        dim1_offset: int
        def __init__(self, tensor_index: _Optional[int] = ..., dim0_offset: _Optional[int] = ..., dim1_offset: _Optional[int] = ...) -> None: ...
    class FeatureDescriptor(_message.Message):
        __slots__ = ("output_location",)
        OUTPUT_LOCATION_FIELD_NUMBER: _ClassVar[int]
        output_location: _containers.RepeatedCompositeFieldContainer[TPUEmbeddingOutputLayout.OutputLocation]
        def __init__(self, output_location: _Optional[_Iterable[_Union[TPUEmbeddingOutputLayout.OutputLocation, _Mapping]]] = ...) -> None: ...
    class TableDescriptor(_message.Message):
        __slots__ = ("feature",)
        FEATURE_FIELD_NUMBER: _ClassVar[int]
        feature: _containers.RepeatedCompositeFieldContainer[TPUEmbeddingOutputLayout.FeatureDescriptor]
        def __init__(self, feature: _Optional[_Iterable[_Union[TPUEmbeddingOutputLayout.FeatureDescriptor, _Mapping]]] = ...) -> None: ...
    class TwoDOutputTensor(_message.Message):
        __slots__ = ("dim0_size_per_sample", "dim1_size")
        DIM0_SIZE_PER_SAMPLE_FIELD_NUMBER: _ClassVar[int]
        DIM1_SIZE_FIELD_NUMBER: _ClassVar[int]
        dim0_size_per_sample: int
        dim1_size: int
        def __init__(self, dim0_size_per_sample: _Optional[int] = ..., dim1_size: _Optional[int] = ...) -> None: ...
    class EmbeddingOutputTensor(_message.Message):
        __slots__ = ("two_d",)
        TWO_D_FIELD_NUMBER: _ClassVar[int]
        two_d: TPUEmbeddingOutputLayout.TwoDOutputTensor
        def __init__(self, two_d: _Optional[_Union[TPUEmbeddingOutputLayout.TwoDOutputTensor, _Mapping]] = ...) -> None: ...
    TABLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    table: _containers.RepeatedCompositeFieldContainer[TPUEmbeddingOutputLayout.TableDescriptor]
    output: _containers.RepeatedCompositeFieldContainer[TPUEmbeddingOutputLayout.EmbeddingOutputTensor]
    def __init__(self, table: _Optional[_Iterable[_Union[TPUEmbeddingOutputLayout.TableDescriptor, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[TPUEmbeddingOutputLayout.EmbeddingOutputTensor, _Mapping]]] = ...) -> None: ...
