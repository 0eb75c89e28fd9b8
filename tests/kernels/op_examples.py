"""Small graphs, a family of ops each, for op types whose inputs must fit each other: `family(x)` takes the sources of
its inputs and
returns tensors to fetch."""

from __future__ import annotations

import numpy as np

import everflow as tf
from everflow import kernels
from everflow.framework import raw_ops as raw
from everflow.protos.xla_data_pb2 import ConvolutionDimensionNumbers, DotDimensionNumbers

_ONES = [1, 1, 1, 1]
_SAME = {"strides": _ONES, "padding": "SAME"}
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_POOL3 = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}


def text(*values):
    return np.array([*values, None], object)[:-1]


def scalar(value):
    made = np.empty((), object)
    made[()] = value
    return made


def colors(x):
    image, factor = x.f(2, 4, 4, 3), x.f()
    return [
        raw.AdjustContrast(image, factor, 0.0, 1.0), raw.AdjustContrastv2(image, factor), raw.AdjustHue(image, factor),
        raw.AdjustSaturation(image, factor), raw.RGBToHSV(image), raw.HSVToRGB(image),
        raw.DrawBoundingBoxes(image, x.f(2, 1, 4)), raw.DrawBoundingBoxesV2(image, x.f(2, 1, 4), x.f(2, 3)),
        raw.ImageSummary(scalar(b"a"), image), raw.ExtractGlimpse(image, [2, 2], x.f(2, 2)),
    ]  # fmt: skip


def crops(x):
    image, boxes, which = x.f(2, 4, 4, 3), x([[0.1, 0.1, 0.8, 0.9]], np.float32), [1]
    overlaps = raw.NonMaxSuppressionWithOverlaps(x.f(3, 3), x.f(3), 2, 0.5, 0.0)
    many, scores = x.f(5, 4), x.f(5)
    return [
        raw.CropAndResize(image, boxes, which, [3, 3]), raw.CropAndResizeGradBoxes(x.f(1, 3, 3, 3), image, boxes, which),
        raw.CropAndResizeGradImage(x.f(1, 3, 3, 3), boxes, which, [2, 4, 4, 3], T=tf.float32), overlaps,
        raw.NonMaxSuppression(many, scores, 3), raw.NonMaxSuppressionV2(many, scores, 3, 0.5),
        raw.NonMaxSuppressionV3(many, scores, 3, 0.5, 0.1), *raw.NonMaxSuppressionV4(many, scores, 3, 0.5, 0.1),
        *raw.NonMaxSuppressionV5(many, scores, 3, 0.5, 0.1, 0.0),
        *raw.CombinedNonMaxSuppression(x.f(1, 4, 1, 4), x.f(1, 4, 2), 2, 3, 0.5, 0.1),
        *raw.SampleDistortedBoundingBox([8, 8, 3], boxes[None]), *raw.SampleDistortedBoundingBoxV2([8, 8, 3], boxes[None], 0.1),
        raw.RandomCrop(x.f(4, 4, 3), np.array([2, 2])),
    ]  # fmt: skip


def resizing(x):
    image, size, scale, shift = x.f(2, 4, 4, 3), [3, 5], np.float32([1, 1]), np.float32([0, 0])
    return [
        raw.ResizeArea(image, size), raw.ResizeBicubic(image, size), raw.ResizeBilinear(image, size),
        raw.ResizeNearestNeighbor(image, size),
        raw.ResizeBilinear(image, [4, 4]), raw.ResizeNearestNeighbor(image, [4, 4]), raw.ResizeBicubicGrad(x.f(2, 3, 5, 3), image),
        raw.ResizeBilinearGrad(x.f(2, 3, 5, 3), image), raw.ResizeNearestNeighborGrad(image, size),
        raw.ScaleAndTranslate(image, size, scale, shift), raw.ScaleAndTranslateGrad(x.f(2, 3, 5, 3), image, scale, shift),
        *raw.QuantizedResizeBilinear(image, size, x.f(), x.f()),
        raw.ImageProjectiveTransform(image, np.float32([[1, 0, 0, 0, 1, 0, 0, 0]]), interpolation="NEAREST"),
        raw.ImageProjectiveTransformV2(image, np.float32([[1, 0, 0, 0, 1, 0, 0, 0]]), size, interpolation="BILINEAR"),
        raw.ImageConnectedComponents(x(np.eye(3, dtype=np.int32)[None])), raw.Resampler(image, x.f(2, 5, 2)),
        *raw.ResamplerGrad(image, x.f(2, 5, 2), x.f(2, 5, 3)), *raw.BipartiteMatch(x.f(2, 3), np.float32([2])),
    ]  # fmt: skip


def codecs(x):
    pixels = x((np.arange(48) * 5).reshape(4, 4, 3).astype(np.uint8))
    jpeg, png = raw.EncodeJpeg(pixels), raw.EncodePng(pixels)
    wav = raw.EncodeWav(x.f(8, 2), 8000)
    gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
    bmp = (
        b"BM:\x00\x00\x00\x00\x00\x00\x006\x00\x00\x00(\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x18\x00"
        + bytes(24)
        + b"abc\x00"
    )
    spectrogram = raw.AudioSpectrogram(x.f(32, 1), window_size=8, stride=4)
    return [
        jpeg, png, raw.DecodeJpeg(jpeg), raw.DecodePng(png), raw.DecodeAndCropJpeg(jpeg, [0, 0, 2, 2]), raw.ExtractJpegShape(jpeg),
        raw.EncodeJpegVariableQuality(pixels, 50), raw.DecodeGif(scalar(gif)), raw.DecodeBmp(scalar(bmp)), wav, *raw.DecodeWav(wav),
        spectrogram, raw.Mfcc(spectrogram, 8000), raw.AudioSummary(scalar(b"a"), x.f(8, 2), sample_rate=8000.0),
        raw.AudioSummaryV2(scalar(b"a"), x.f(8, 2), 8000.0), raw.TensorSummaryV2(scalar(b"a"), x.f(2), scalar(b"")),
    ]  # fmt: skip


def convolutions(x):
    image, w, wide, w3 = x.f(2, 5, 5, 3), x.f(3, 3, 3, 4), x.f(1, 4, 4, 4, 2), x.f(2, 2, 2, 2, 3)
    grad, grad3, five = x.f(2, 5, 5, 4), x.f(1, 4, 4, 4, 3), {"strides": [1] * 5, "padding": "SAME"}
    deep = x.f(3, 3, 3, 2)
    morph = {"strides": _ONES, "rates": _ONES, "padding": "SAME"}
    pads = [[0, 0], [1, 1], [1, 1], [0, 0]]
    return [
        raw.Conv2D(image, w, **_SAME), raw.Conv2D(image, x.f(1, 1, 3, 4), **_SAME), raw.Conv2DBackpropInput([2, 5, 5, 3], w, grad, **_SAME),
        raw.Conv2DBackpropFilter(image, [3, 3, 3, 4], grad, **_SAME), raw.Conv3D(wide, w3, **five),
        raw.Conv3DBackpropInput(wide, w3, grad3, **five), raw.Conv3DBackpropInputV2([1, 4, 4, 4, 2], w3, grad3, **five),
        raw.Conv3DBackpropFilter(wide, w3, grad3, **five), raw.Conv3DBackpropFilterV2(wide, [2, 2, 2, 2, 3], grad3, **five),
        raw.DepthwiseConv2dNative(image, deep, **_SAME),
        raw.DepthwiseConv2dNativeBackpropInput([2, 5, 5, 3], deep, x.f(2, 5, 5, 6), **_SAME),
        raw.DepthwiseConv2dNativeBackpropFilter(image, [3, 3, 3, 2], x.f(2, 5, 5, 6), **_SAME),
        raw.Dilation2D(image, x.f(2, 2, 3), **morph), raw.Dilation2DBackpropInput(image, x.f(2, 2, 3), image, **morph),
        raw.Dilation2DBackpropFilter(image, x.f(2, 2, 3), image, **morph), raw.FusedPadConv2D(image, pads, w, mode="REFLECT", **_SAME),
        raw.FusedResizeAndPadConv2D(image, [4, 4], pads, w, mode="REFLECT", **_SAME), raw.BiasAdd(image, x.f(3)),
        raw.BiasAddV1(image, x.f(3)),
        raw.ExtractVolumePatches(wide, ksizes=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID"),
        raw.ExtractImagePatches(image, ksizes=[1, 2, 2, 1], strides=_ONES, rates=_ONES, padding="VALID"),
    ]  # fmt: skip


def pools(x):
    image, small, wide, tiny = x.f(1, 4, 4, 2), x.f(1, 2, 2, 2), x.f(1, 4, 4, 4, 2), x.f(1, 2, 2, 2, 2)
    size, steps = [1, 2, 2, 1], [1, 2, 2, 1]
    largest = raw.FractionalMaxPool(image, pooling_ratio=[1.0, 1.4, 1.4, 1.0], deterministic=True, seed=1)
    mean = raw.FractionalAvgPool(image, pooling_ratio=[1.0, 1.4, 1.4, 1.0], deterministic=True, seed=1)
    with_places = raw.MaxPoolWithArgmax(image, **_POOL)
    return [
        raw.MaxPool(image, **_POOL), raw.MaxPool(image, ksize=_ONES, **_SAME), raw.MaxPoolGrad(image, small, small, **_POOL),
        raw.MaxPoolGradGrad(image, small, image, **_POOL), raw.MaxPoolV2(image, size, steps, padding="VALID"),
        raw.MaxPoolGradV2(image, small, small, size, steps, padding="VALID"),
        raw.MaxPoolGradGradV2(image, small, image, size, steps, padding="VALID"), raw.MaxPool3D(wide, **_POOL3),
        raw.MaxPool3DGrad(wide, tiny, tiny, **_POOL3), raw.MaxPool3DGradGrad(wide, tiny, wide, **_POOL3), raw.AvgPool(image, **_POOL),
        raw.AvgPoolGrad([1, 4, 4, 2], small, **_POOL), raw.AvgPool3D(wide, **_POOL3), raw.AvgPool3DGrad([1, 4, 4, 4, 2], tiny, **_POOL3),
        *with_places, raw.MaxPoolGradWithArgmax(image, small, with_places[1], **_POOL),
        raw.MaxPoolGradGradWithArgmax(image, image, with_places[1], **_POOL), *largest, *mean,
        raw.FractionalMaxPoolGrad(image, largest[0], tf.ones_like(largest[0]), *largest[1:]),
        raw.FractionalAvgPoolGrad(np.array([1, 4, 4, 2]), tf.ones_like(mean[0]), *mean[1:]),
    ]  # fmt: skip


def normalization(x):
    image, vector = x.f(2, 3, 3, 4), x.f(4)
    norm = {"variance_epsilon": 0.1, "scale_after_normalization": True}
    none = np.zeros(0, np.float32)
    outputs = []
    for batch_norm, gradient in (
        (raw.FusedBatchNorm, raw.FusedBatchNormGrad), (raw.FusedBatchNormV2, raw.FusedBatchNormGradV2),
        (raw.FusedBatchNormV3, raw.FusedBatchNormGradV3),
    ):  # fmt: skip
        trained = batch_norm(image, vector, x.f(4), none, none)
        outputs += [*trained, *batch_norm(image, vector, x.f(4), x.f(4), x.f(4), is_training=False)]
        outputs += gradient(image, image, vector, *trained[3:])
    return [
        *outputs, raw.BatchNormWithGlobalNormalization(image, vector, x.f(4), x.f(4), x.f(4), **norm),
        *raw.BatchNormWithGlobalNormalizationGrad(image, vector, x.f(4), x.f(4), image, **norm), raw.LRN(image),
        raw.LRNGrad(image, image, image),
        *raw.SparseSoftmaxCrossEntropyWithLogits(x.f(2, 3), [0, 2]), raw.InTopK(x.f(2, 3), [0, 2], k=1), raw.InTopKV2(x.f(2, 3), [0, 2], 1),
        raw.DataFormatVecPermute([1, 2, 3, 4]), raw.DataFormatDimMap([0, 3]),
    ]  # fmt: skip


def recurrence(x):
    steps = np.int64(2)
    block = [x.f(2, 3, 2), x.f(3, 4), x.f(3, 4), x.f(6, 16), x.f(4), x.f(4), x.f(4), x.f(16)]
    made, nothing = raw.BlockLSTM(steps, *block), raw.BlockLSTM(np.int64(0), *block)
    cell = raw.LSTMBlockCell(x.f(3, 2), *block[1:])
    gru = [x.f(3, 2), x.f(3, 4), x.f(6, 8), x.f(6, 4), x.f(8), x.f(4)]
    gates = raw.GRUBlockCell(*gru)
    return [
        *made, *nothing, *raw.BlockLSTMV2(steps, *block),
        *raw.BlockLSTMGrad(steps, *block, *made, x.f(2, 3, 4), x.f(2, 3, 4), use_peephole=True),
        *raw.BlockLSTMGradV2(steps, *block, *made, x.f(2, 3, 4), x.f(2, 3, 4), use_peephole=False),
        *cell, *raw.LSTMBlockCellGrad(x.f(3, 2), *block[1:], *cell[:6], x.f(3, 4), x.f(3, 4), use_peephole=False),
        *gates, *raw.GRUBlockCellGrad(*gru, *gates[:3], x.f(3, 4)),
        raw.GatherTree(np.int32([[[1, 2]], [[3, 4]]]), np.int32([[[0, 0]], [[1, 0]]]), [2], np.int32(9)),
        *raw.CTCGreedyDecoder(x.f(4, 1, 3), [4]), *raw.CTCLoss(x.f(4, 1, 3), np.array([[0, 0]]), [1], [4]),
        *tf.contrib.framework.nest.flatten(raw.CTCBeamSearchDecoder(x.f(4, 1, 3), [4], beam_width=2, top_paths=1)),
    ]  # fmt: skip


def cudnn(x):
    outputs = []
    for mode, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1)):
        count = gates * (3 * 2 + 3 * 3) + 2 * gates * 3
        inputs = [x.f(2, 2, 2), x.f(1, 2, 3), x.f(1, 2, 3), x.f(count)]
        lengths, how = [2, 1], {"rnn_mode": mode}
        for version, (forward, backward) in enumerate(
            (
                (raw.CudnnRNN, raw.CudnnRNNBackprop),
                (raw.CudnnRNNV2, raw.CudnnRNNBackpropV2),
                (raw.CudnnRNNV3, raw.CudnnRNNBackpropV3),
            )
        ):
            more = [lengths] if version == 2 else []
            made = forward(*inputs, *more, **how)
            outputs += [*made, *backward(*inputs, *more, *made[:3], *made[:3], *made[3:], **how)]
        sizes = {"num_params": 2 * gates}
        matrices, biases = raw.CudnnRNNParamsToCanonical(1, 3, 2, inputs[3], **sizes, **how)
        outputs += [*matrices, *biases, raw.CudnnRNNCanonicalToParams(1, 3, 2, matrices, biases, **how)]
        sizes = {"num_params_weights": 2 * gates, "num_params_biases": 2 * gates}
        matrices, biases = raw.CudnnRNNParamsToCanonicalV2(1, 3, 2, inputs[3], **sizes, **how)
        outputs += [*matrices, *biases, raw.CudnnRNNCanonicalToParamsV2(1, 3, 2, matrices, biases, **how)]
        outputs.append(raw.CudnnRNNParamsSize(1, 3, 2, T=tf.float32, S=tf.int32, **how))
    return outputs


def matrices(x):
    positive, square, right = np.float32([[2, 1], [1, 3]]), x.f(2, 3, 3), x.f(2, 3, 2)
    diagonals = [x.f(1, 3), x.f(1, 3), x.f(1, 3)]
    outputs = [op(x(positive)) for op in (raw.Cholesky, raw.BatchCholesky)]
    return [
        *outputs, raw.MatrixBandPart(square, 1, 0), raw.MatrixBandPart(square, -1, -1), raw.BatchMatrixBandPart(square, 1, 0),
        raw.MatrixSetDiag(square, x.f(2, 3)), raw.BatchMatrixSetDiag(square, x.f(2, 3)), raw.MatrixSetDiagV2(square, x.f(2, 3), 0),
        raw.MatrixDiagV2(x.f(2, 3), 0, -1, -1, 0.0), raw.MatrixDiagPartV2(square, 1, 0.0), raw.MatrixDiagPartV2(square, [0, 1], 0.0),
        raw.MatrixSolveLs(square, right, np.float64(0.1)), raw.BatchMatrixSolveLs(x.f(2, 3, 3), right, np.float64(0.1)),
        raw.MatrixSolveLs(square, right, np.float64(0.0), fast=False),
        raw.TridiagonalMatMul(*diagonals, x.f(3, 2)), raw.TridiagonalSolve(x.f(3, 3), x.f(3, 2)),
        raw.TridiagonalSolve(x.f(3, 3), x.f(3, 2), partial_pivoting=False),
        raw.Einsum([square], equation="bij->bji"), raw.Einsum([square, right], equation="bij,bjk->bik"),
        raw.Einsum([x.f(2)], equation="i->i"),
        raw.RFFT2D(x.f(2, 4, 4), [4, 4]), raw.RFFT3D(x.f(4, 4, 4), [4, 4, 4]), raw.IRFFT2D(x(np.ones((4, 3), np.complex64)), [4, 4]),
        raw.IRFFT3D(x(np.ones((4, 4, 3), np.complex64)), [4, 4, 4]), raw.InvertPermutation(x(np.int32([1, 0]))),
        raw.CompareAndBitpack(x.f(2, 8), 0.5),
        raw.Complex(x.f(2), x.f(2)), raw.Bucketize(x.f(3), boundaries=[0.5]), raw.HistogramFixedWidth(x.f(4), x(np.float32([0, 1])), 3),
        raw.TileGrad(x(np.int32([1, 2])), [2]), raw.Concat(0, [x.f(2), x.f(3)]), raw.ConcatV2([x.f(2), x.f(3)], 0),
        raw.ParallelConcat([x.f(1, 3)], shape=[1, 3]),
    ]  # fmt: skip


def shapes(x):
    matrix, words = x.f(2, 3), x(np.array([[b"a", b"b"], [b"c", b"d"]], object), tf.string)
    bounds = [[0, 0], [2, 2], [1, 1]]
    outputs = []
    for value in (matrix, words):
        outputs += [
            raw.Reshape(value, [-1]), raw.Reshape(value, [1, -1]), raw.ReverseV2(value, [0]), raw.ReverseV2(value, np.zeros(0, np.int32)),
            raw.Roll(value, [1], [0]),
            raw.Roll(value, [0], [0]), raw.StridedSlice(value, [0, 0], [2, 1], [1, 1]),
            raw.StridedSlice(value, [0], [1], [1], shrink_axis_mask=1),
            raw.StridedSlice(value, [1, 0], [-3, 1], [-1, 1]), raw.Slice(value, [0, 0], [1, -1]), raw.GatherNd(value, [1]),
            raw.GatherNd(value, [[1], [0]]),
            raw.GatherNd(value, [1, 1]), raw.GatherNd(value, np.zeros(0, np.int32)), raw.Gather(value, 1), raw.GatherV2(value, 1, 1),
            raw.GatherV2(value, [0, 1], 1),
            *raw.SplitV(value, [1, 1], 0, num_split=2), *raw.Split(0, value, num_split=2), *raw.Split(0, value, num_split=1),
            *raw.Unpack(value, num=2),
            raw.Select(True, value, value), raw.Select([True, False], value, value), raw.Transpose(value, [1, 0]),
            raw.Pad(value, [[0, 0], [0, 0]]),
            raw.MirrorPad(value, [[0, 0], [1, 1]], mode="SYMMETRIC"), raw.Tile(value, [1, 1]),
            raw.BroadcastTo(value, [2, *value.shape.as_list()]),
            raw.ReverseSequence(value, [1, 2], seq_dim=1), raw.ScatterNd([[1]], value[:1], [3, value.shape[1].value]),
            raw.TensorScatterUpdate(value, [[1]], value[:1]), raw.TensorStridedSliceUpdate(value, [0], [1], [1], value[:1]),
            raw.Pack([value]),
            raw.DynamicStitch([[0, 1], [2, 3]], [value, value]), *raw.DynamicPartition(value, [0, 1], num_partitions=2),
            raw.Fill([1], value[0, 0]),
        ]  # fmt: skip
    blocks = [[0, 0], [0, 0]]
    return [
        *outputs, raw.StridedSliceGrad([2, 3], *bounds, x.f(2, 2)), raw.TensorScatterAdd(matrix, [[1]], x.f(1, 3)),
        raw.TensorScatterSub(matrix, [[1]], x.f(1, 3)),
        raw.ScatterNdNonAliasingAdd(matrix, [[1]], x.f(1, 3)), raw.UnravelIndex([1, 2], [2, 3]), raw.Fill([2], x.f()), raw.Fill([], x.f()),
        raw.LinSpace(x.f(), 2.0, 3),
        raw.LinSpace(x.f(), 2.0, 1), raw.Range(0, 5, 2), raw.Range(0.0, x.f(), 0.25),
        raw.SpaceToBatch(x.f(1, 2, 2, 1), blocks, block_size=2),
        raw.SpaceToBatchND(x.f(1, 2, 2, 1), [1, 1], blocks), raw.BatchToSpace(x.f(4, 1, 1, 1), blocks, block_size=2),
        raw.BatchToSpaceND(x.f(4, 1, 1, 1), [2, 2], blocks),
        raw.DepthToSpace(x.f(1, 2, 2, 4), block_size=2), raw.SpaceToDepth(x.f(1, 2, 2, 1), block_size=2),
        raw.SparseSegmentMeanGrad(x.f(2, 3), [0, 1], [0, 1], 3),
        raw.SparseSegmentSqrtNGrad(x.f(2, 3), [0, 1], [0, 1], 3), raw.Round(x(np.int32([1, 2]))), raw.Relu(x(np.uint8([1, 2]))),
    ]  # fmt: skip


def random_numbers(x):
    seed, true = np.int64([1, 2]), np.array([[0, 1]])
    sampler = {"num_true": 2, "num_sampled": 2, "unique": True}
    outputs = []
    for op in (
        raw.UniformCandidateSampler,
        raw.LogUniformCandidateSampler,
        raw.LearnedUnigramCandidateSampler,
        raw.ThreadUnsafeUnigramCandidateSampler,
    ):
        outputs += op(true, range_max=5, **sampler)
    return [
        *outputs, *raw.AllCandidateSampler(true, **sampler),
        *raw.FixedUnigramCandidateSampler(true, range_max=3, unigrams=[1.0, 1.0, 1.0], **sampler),
        *raw.ComputeAccidentalHits(true, np.array([1, 4]), num_true=2), raw.Multinomial(x.f(2, 3), 2),
        raw.StatelessMultinomial(x.f(2, 3), 2, seed),
        raw.StatelessRandomNormal([2, 3], seed), raw.StatelessRandomUniform([2, 3], seed), raw.StatelessTruncatedNormal([2, 3], seed),
        raw.StatelessRandomUniformInt([2, 3], seed, 0, 5), raw.RandomUniformInt([2, 3], 0, 5), raw.RandomShuffle(x.f(4, 2)),
        raw.RandomShuffle(x.f(1, 2)),
        raw.ParameterizedTruncatedNormal([2, 3], x.f(), x.f(), -1.0, 2.0),
        raw.KmeansPlusPlusInitialization(x.f(4, 2), np.int64(2), np.int64(1), np.int64(0)),
    ]  # fmt: skip


def sparse(x):
    at, shape, dense = np.array([[0, 1], [1, 2]]), np.array([2, 3]), x.f(2, 3)
    values = x.f(2)
    parts = raw.SparseSlice(at, values, shape, np.array([0, 0]), np.array([1, 3]))
    total = raw.SparseAdd(at, values, shape, at[:1], x.f(1), shape, 0.0)
    words = x(text(b"a", b"b"), tf.string)
    cross = {"hashed_output": True, "num_buckets": 5, "out_type": tf.int64, "internal_type": tf.string}
    crossed = [[at], [words], [shape], []]
    packed, many = raw.SerializeSparse(at, values, shape), raw.SerializeManySparse(at, values, shape)
    variants = raw.SerializeManySparse(at, values, shape, out_type=tf.variant)
    one, store = (
        raw.AddSparseToTensorsMap(at, values, shape, shared_name="m"),
        raw.AddManySparseToTensorsMap(at, values, shape, shared_name="m"),
    )
    splits = raw.SparseSplit(np.int64(0), at, values, shape, num_split=2)
    sets = {"set_operation": "union"}
    return [
        *raw.SparseReorder(at[::-1].copy(), values, shape), *raw.SparseReshape(at, shape, np.array([3, 2])),
        *raw.SparseReshape(at, shape, shape), *parts, *total,
        raw.EditDistance(at, values, shape, at, x.f(2), shape), raw.EditDistance(at, values, shape, at[:1], x.f(1), shape, normalize=False),
        *raw.SparseConcat([at, at], [values, x.f(2)], [shape, shape], concat_dim=0), raw.SparseDenseCwiseAdd(at, values, shape, dense),
        raw.SparseDenseCwiseMul(at, values, shape, dense), raw.SparseDenseCwiseDiv(at, values, shape, dense),
        *raw.SparseFillEmptyRows(at[:1], x.f(1), shape, 0.5),
        raw.SparseReduceSum(at, values, shape, 0), *raw.SparseReduceSumSparse(at, values, shape, 0),
        raw.SparseReduceMax(at, values, shape, 0),
        *raw.SparseReduceMaxSparse(at, values, shape, 0), *raw.SparseAddGrad(total[1], at, at[:1], total[0]),
        raw.SparseSliceGrad(parts[1], at, np.array([0, 0]), parts[0]),
        raw.SparseSoftmax(at, values, shape), *raw.SparseSparseMaximum(at, values, shape, at, x.f(2), shape),
        *raw.SparseSparseMinimum(at, values, shape, at, x.f(2), shape),
        raw.SparseTensorDenseAdd(at, values, shape, dense), raw.SparseTensorDenseMatMul(at, values, shape, x.f(3, 2)),
        raw.SparseToDense(at, shape, values, 0.0),
        *raw.SparseCross(*crossed, hash_key=7, **cross), *raw.SparseFeatureCross(*crossed, **cross),
        *raw.SparseFeatureCrossV2(*crossed, hash_key=7, **cross),
        packed, many, *raw.DeserializeSparse(packed, dtype=tf.float32), *raw.DeserializeManySparse(many, dtype=tf.float32),
        *raw.DeserializeSparse(variants, dtype=tf.float32),
        one, store, *(part for triple in splits for part in triple),
        *raw.TakeManySparseFromTensorsMap(store, dtype=tf.float32, shared_name="m"),
        *raw.DenseToDenseSetOperation([[1, 2]], [[2, 3]], **sets),
        *raw.DenseToSparseSetOperation([[1, 2], [3, 4]], at, [1, 2], shape, **sets),
        *raw.SparseToSparseSetOperation(at, [1, 2], shape, at, [2, 3], shape, **sets), raw.SetSize(at, [1, 2], shape),
    ]  # fmt: skip


def ragged(x):
    splits, values = np.array([0, 2, 3]), x.f(3)
    gathered = raw.RaggedGather([splits], values, [1, 0], OUTPUT_RAGGED_RANK=1)
    boxed, rows = (
        raw.RaggedTensorToVariant([splits], values, batched_input=False),
        raw.RaggedTensorToVariant([splits], values, batched_input=True),
    )
    opened = raw.RaggedTensorFromVariant(
        boxed, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64
    )
    joined = raw.RaggedTensorFromVariant(
        rows, input_ragged_rank=0, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64
    )
    ranges = raw.RaggedRange([0, 1], [2, 3], [1, 1])
    return [
        *gathered[0], gathered[1], *opened[0], opened[1], *joined[0], joined[1], *ranges, *raw.RaggedTensorToSparse([splits], values),
        raw.RaggedTensorToTensor(np.array([2, 2]), values, 0.5, [splits], row_partition_types=["ROW_SPLITS"]),
    ]  # fmt: skip


def strings(x):
    words, lone = x(text(b"a b", b"c"), tf.string), x(scalar(b"abc"), tf.string)
    floats = x.f(2, 3)
    example = tf.train.Example()
    example.features.feature["a"].float_list.value.extend([1.0, 2.0])
    sequence = tf.train.SequenceExample()
    sequence.context.feature["a"].float_list.value.extend([1.0, 2.0])
    sequence.feature_lists.feature_list["b"].feature.add().float_list.value.append(3.0)
    written, listed = x(text(example.SerializeToString()), tf.string), x(text(sequence.SerializeToString()), tf.string)
    missing = x(text(tf.train.Example().SerializeToString()), tf.string)
    context, lists = {"a": tf.FixedLenFeature([2], tf.float32)}, {"b": tf.FixedLenSequenceFeature([], tf.float32)}
    serialized, message = (
        raw.SerializeTensor(floats),
        {"message_type": "tensorflow.Example", "field_names": ["features"], "output_types": [tf.string]},
    )
    decoded = raw.DecodeProtoV2(written, **message)
    features = {"a": tf.FixedLenFeature([2], tf.float32, default_value=[5.0, 6.0]), "s": tf.VarLenFeature(tf.float32)}
    grams = {
        "separator": " ",
        "ngram_widths": [1, 2],
        "left_pad": "",
        "right_pad": "",
        "pad_width": 0,
        "preserve_short_sequences": False,
    }
    parsed = [
        tf.parse_example(written, features),
        tf.parse_example(missing, features),
        tf.parse_single_example(missing[0], features),
    ]
    parsed += [
        tf.io.parse_sequence_example(listed, context, lists),
        tf.parse_single_sequence_example(listed[0], context, lists),
    ]
    return [
        *raw.StringSplit(words, " "), *raw.StringSplitV2(words, " "), raw.StringFormat([floats], template="%s"),
        raw.StringToHashBucketStrong(words, num_buckets=5, key=[1, 2]),
        *raw.UnicodeDecode(words, input_encoding="UTF-8"), *raw.UnicodeDecodeWithOffsets(words, input_encoding="UTF-8"),
        raw.Fingerprint(floats, "farmhash64"),
        raw.UnicodeTranscode(words, input_encoding="UTF-8", output_encoding="UTF-8"), raw.Fingerprint(words, "farmhash64"),
        raw.DecodePaddedRaw(words, 4, out_type=tf.uint8),
        *raw.DecodeCSV(x(text(b"1,2", b",3"), tf.string), [x(np.float32([7.0])), x(np.int32([8]))]), serialized,
        raw.ParseTensor(serialized, out_type=tf.float32),
        raw.DecodeCompressed(lone), raw.DecodeCompressed(words), *decoded[1],
        raw.EncodeProto(decoded[0], [words[:1][:, None]], field_names=["name"], message_type="tensorflow.NodeDef"),
        raw.DecodeRaw(words[:1], out_type=tf.uint8), raw.Substr(words, 0, 1),
        *tf.contrib.framework.nest.flatten(parsed, expand_composites=True), raw.AsString(floats),
        *raw.StringNGrams(words, np.array([0, 2]), **grams),
    ]  # fmt: skip


def quantized(x):
    low, high = x(np.float32(0)), x(np.float32(1))
    small = x(np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1), tf.quint8)
    row, big = x(np.uint8([[1, 2], [3, 4]]), tf.quint8), x(np.int32([[1, 20], [300, 4000]]), tf.qint32)
    filters, range_, vector = (
        x(np.uint8([1, 2, 3, 4]).reshape(2, 2, 1, 1), tf.quint8),
        (low, high, low, high),
        x(np.uint8([1]), tf.quint8),
    )
    norm = {"variance_epsilon": 0.1, "scale_after_normalization": True}
    batch = [part for _ in range(4) for part in (vector, low, high)]
    return [
        *raw.QuantizedAvgPool(small, low, high, **_POOL), *raw.QuantizedMaxPool(small, low, high, **_POOL),
        *raw.QuantizedConv2D(small, filters, *range_, **_SAME),
        *raw.QuantizedBiasAdd(row, x(np.uint8([1, 2]), tf.quint8), *range_, out_type=tf.qint32), *raw.QuantizedMatMul(row, row, *range_),
        *raw.QuantizedMul(row, row, *range_), *raw.QuantizedAdd(row, row, *range_), *raw.QuantizedReshape(row, [4], low, high),
        *raw.QuantizedRelu(row, low, high),
        *raw.QuantizedRelu6(row, low, high), *raw.QuantizedReluX(row, high, low, high), *raw.QuantizedInstanceNorm(small, low, high),
        *raw.QuantizedBatchNormWithGlobalNormalization(small, low, high, *batch, out_type=tf.qint32, **norm),
        *raw.QuantizedConcat(0, [row, row], [low, low], [high, high]), *raw.QuantizeDownAndShrinkRange(big, low, high, out_type=tf.quint8),
        *raw.Requantize(big, low, high, low, high, out_type=tf.quint8), *raw.RequantizationRange(big, low, high),
        raw.QuantizeAndDequantizeV3(x.f(2), 0.0, 1.0, 8), *raw.QuantizeV2(x.f(2), 0.0, 1.0, T=tf.quint8), raw.Dequantize(row, low, high),
    ]  # fmt: skip


def trees(x):
    stats = raw.BoostedTreesMakeStatsSummary([0, 0], x.f(2, 1), x.f(2, 1), [[0, 1]], max_splits=2, num_buckets=3)
    gains = raw.BoostedTreesCalculateBestGainsPerFeature([0, 1], [stats[0]], 0.0, 0.0, 0.0, 0.0, max_splits=2)
    summaries = raw.BoostedTreesMakeQuantileSummaries([x.f(4)], x.f(4), 0.1)
    buckets = raw.BoostedTreesBucketize([x.f(4)], [x(np.float32([0.3, 0.6]))])
    cells = raw.BoostedTreesAggregateStats([0, 0], x.f(2, 1), x.f(2, 1), [[0], [1]], max_splits=2, num_buckets=3)
    of_sparse = raw.BoostedTreesSparseAggregateStats(
        [0, 0], x.f(2, 1), x.f(2, 1), [[0, 0]], [1], [2, 1], max_splits=2, num_buckets=3
    )
    settings = [0.0, 0.1, 0.0, 0.0]
    splits = [
        *raw.BoostedTreesCalculateBestFeatureSplit([0, 1], cells, *settings, logits_dimension=1),
        *raw.BoostedTreesSparseCalculateBestFeatureSplit([0, 1], *of_sparse, *settings, logits_dimension=1),
    ]
    return [cells, *of_sparse, *splits, stats, *tf.contrib.framework.nest.flatten(gains), *summaries, *buckets]


def of_xla(x):
    a, b, tile = x.f(3, 4), x.f(4, 5), x(np.int32([1, 1]))
    dot = DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0]).SerializeToString()
    conv = ConvolutionDimensionNumbers(
        input_feature_dimension=1,
        input_spatial_dimensions=[2],
        kernel_input_feature_dimension=1,
        kernel_spatial_dimensions=[2],
        output_feature_dimension=1,
        output_spatial_dimensions=[2],
    ).SerializeToString()
    one = np.int32([1])
    return [
        raw.XlaSort(a), *raw.XlaKeyValueSort(a, a), raw.XlaReplicaId(), raw.XlaEinsum(a, b, equation="ab,bc->ca"),
        raw.XlaDynamicSlice(a, tile, [2, 2]), raw.XlaDynamicUpdateSlice(a, x.f(2, 2), tile),
        raw.XlaPad(a, 7.0, [1, 0], [0, 2], [1, 0]), raw.XlaDot(a, b, dimension_numbers=dot, precision_config=""),
        *raw.XlaBroadcastHelper(a, x.f(4), [1]), *raw.XlaBroadcastHelper(a, a, np.zeros(0, np.int32)),
        raw.XlaConv(x.f(1, 2, 5), x.f(3, 2, 2), one, [[0, 0]], one, one, np.int32(1), dimension_numbers=conv, precision_config=""),
        *raw.XlaSelfAdjointEig(x.f(3, 3), lower=True, max_iter=9, epsilon=1e-5), *raw.XlaSvd(a, max_iter=9, epsilon=1e-5, precision_config=""),
    ]  # fmt: skip


def factorization(x):
    places, wide = np.array([[0, 1], [1, 0]], np.int64), {"shape": [4, 6, None]}
    sides = raw.WALSComputePartialLhsAndRhs(
        x.f(3, 2), x.f(3), 0.5, x.f(2), places, x.f(2), np.zeros(0, np.float32), np.int64(2), False
    )
    back = {"original_shape": [2, 3, 4], "desired_shape": [4, 6, None]}
    return [
        *sides, raw.MaskedMatmul(x.f(2, 3), x.f(3, 2), places, False, False), raw.AdjustHsvInYiq(x.f(2, 2, 3), 0.1, 1.2, 0.9),
        raw.PeriodicResample(x.f(2, 3, 4), **wide), raw.PeriodicResampleOpGrad(x.f(4, 6, 1), **back),
        *raw.HyperplaneLSHProbes(x.f(2, 4), num_tables=2, num_hyperplanes_per_table=2, num_probes=3),
        raw.ReinterpretStringToFloat(x(text(b"a", b""))),
    ]  # fmt: skip


def fused_quantized(x):
    image, filters = x(np.ones([1, 3, 3, 2]), tf.quint8), x(np.ones([2, 2, 2, 1]), tf.qint8)
    ranges = {"min_input": x.f(), "max_input": x(2.0, np.float32), "min_filter": -1.0, "max_filter": x(1.0, np.float32)}
    frozen = {"min_freezed_output": 0.0, "max_freezed_output": x(3.0, np.float32)}
    bias, per_channel = x(np.float32([1.0])), {"min_filter": np.float32([-1.0]), "max_filter": np.float32([1.0])}
    summand = {"summand": x(np.ones([1, 3, 3, 1]), tf.quint8), "min_summand": 0.0, "max_summand": 1.0}
    made = []
    for name in kernels.names():
        if not name.startswith(("QuantizedConv2D", "QuantizedDepthwiseConv2D")) or name == "QuantizedConv2D":
            continue
        given = {
            **ranges,
            **(per_channel if "PerChannel" in name else {}),
            **(frozen if "AndRequantize" in name else {}),
        }
        if "Bias" in name:
            given["bias"] = bias
        if "SumAndReluAndRequantize" in name:
            given |= {**summand, "summand": x(np.ones([1, 3, 3, 1]), tf.qint8)} if "Signed" in name else summand
        elif "Sum" in name:
            given["summand"] = x.f(1, 3, 3, 1)
        if "Depthwise" in name and "Bias" in name:
            given["bias"] = x(np.float32([1.0, 2.0]))
        made += getattr(raw, name)(image, filters, **given, **_SAME)
    matrices = x(np.ones([2, 3]), tf.quint8), x(np.ones([3, 2]), tf.qint8), x.f(2)
    of_matrices = 0.0, 1.0, -1.0, 1.0
    sums = x(np.ones([2, 1]), tf.qint32), np.float32([-1.0]), np.float32([1.0])
    return [
        *made, *raw.QuantizedMatMulWithBias(*matrices, *of_matrices), *raw.QuantizedMatMulWithBiasAndRelu(*matrices, *of_matrices),
        *raw.QuantizedMatMulWithBiasAndReluAndRequantize(*matrices, *of_matrices, 0.0, 3.0),
        *raw.RequantizationRangePerChannel(*sums, clip_value_max=3.0), *raw.RequantizePerChannel(*sums, -1.0, 1.0),
    ]  # fmt: skip


def dual_ascent(x):
    features = {
        "sparse_example_indices": [x(np.int64([0, 1]))],
        "sparse_feature_indices": [x(np.int64([3, 5]))],
        "sparse_feature_values": [x.f(2)],
        "dense_features": [x.f(2, 3)],
        "example_weights": x.f(2),
        "example_labels": x(np.float32([0, 1])),
        "sparse_indices": [x(np.int64([3, 5]))],
        "sparse_weights": [x.f(2)],
        "dense_weights": [x.f(3)],
        "example_state_data": x(np.zeros([2, 4], np.float32)),
    }
    options = {"loss_type": "logistic_loss", "l1": 0.1, "l2": 1.0, "num_loss_partitions": 1, "num_inner_iterations": 1}
    both = [*raw.SdcaOptimizer(**features, **options), *raw.SdcaOptimizerV2(**features, **options)]
    return [*tf.contrib.framework.nest.flatten(both), raw.SdcaFprint(x(text(b"a", b"b")))]


def fused(x):
    """Nodes that only plans have, from the graphs they come from."""
    a, b, c, wide = x.f(4, 8), x.f(8, 8), x.f(8), x.f(70, 70)
    rows = [a * k for k in (1.0, 2.0, 4.0)]
    image = tf.nn.bias_add(tf.nn.conv2d(x.f(1, 4, 4, 2), x.f(3, 3, 2, 2), 1, "SAME"), x.f(2))
    table = tf.exp(a)
    pieces = [table[:, 0], table[:, 1], table[:, ::2][:, 0], table[0]]
    return [
        tf.matmul(a, b) + c, raw.Slice(tf.matmul(a, b), [0, 1], [-1, 2]), image, wide - tf.exp(wide) * 2.0, wide + wide * 3.0,
        wide + wide * tf.exp(wide),
        tf.add_n([tf.matmul(r, r, transpose_a=True) for r in rows]), tf.add_n([raw.BiasAddGrad(r) for r in rows]),
        tf.gradients([tf.square(p) for p in pieces], table)[0],
    ]  # fmt: skip


FAMILIES = (
    colors, crops, resizing, codecs, convolutions, pools, normalization, recurrence, cudnn, matrices, shapes, random_numbers, sparse,
    ragged, strings, quantized, trees, of_xla, factorization, dual_ascent, fused_quantized,
    fused,
)  # fmt: skip
