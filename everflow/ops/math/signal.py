"""Signals in frames: framing and its inverse, windows, short-time Fourier transforms, mel spectrograms."""

from __future__ import annotations

import math as python_math

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, control_flow, math
from everflow.ops.array.constants import constant
from everflow.ops.math.fft import dct, irfft, rfft

# Frames


def gcd(a, b, name=None):
    """The greatest common divisor of two int scalars."""
    with name_scope(name, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        for value, which in ((a, "a"), (b, "b")):
            value.shape.assert_has_rank(0)
            if not value.dtype.is_integer:
                raise ValueError(f"{which} must be an integer type. Got: {value.dtype}")
        known_a, known_b = constant_value(a), constant_value(b)
        if known_a is not None and known_b is not None:
            return constant(python_math.gcd(int(known_a), int(known_b)), dtype=a.dtype)
        return control_flow.while_loop(
            lambda _, b: math.greater(b, array.zeros_like(b)),
            lambda a, b: [b, math.floormod(a, b)],
            [a, b],
            back_prop=False,
        )[0]


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Overlapping pieces of `frame_length` of one axis, each `frame_step` after the one before.

    Args:
        signal: The signals; the last axis is time.
        frame_length: How many samples a frame has.
        frame_step: How many samples further the next frame begins.
        pad_end: Whether the end is filled up so that no sample is left out.
        pad_value: What it is filled up with.
        axis: The axis to work along; negative ones count from the last.
        name: The name of the operation in the graph.

    Returns:
        A tensor with frames and samples in place of the axis.

    Example:
        >>> sess.run(tf.signal.frame(tf.range(6), 3, 2))
        array([[0, 1, 2],
               [2, 3, 4]], dtype=int32)
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        frame_length = convert_to_tensor(frame_length, name="frame_length")
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        axis = convert_to_tensor(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for value in (frame_length, frame_step, axis):
            value.shape.assert_has_rank(0)
        static = _static_frame_shape(signal, frame_length, frame_step, pad_end, axis)
        rank = array.rank(signal)
        # A negative axis counts from the end.
        axis = math.range(rank)[axis]
        shape = array.shape(signal)
        outer, length, inner = array.split(shape, [axis, 1, rank - 1 - axis])
        length = array.reshape(length, shape=[])
        outer_count, inner_count = array.size(outer), array.size(inner)
        if pad_end:
            pad_value = convert_to_tensor(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            count = -(-length // frame_step)
            samples = math.maximum(0, frame_length + frame_step * (count - 1) - length)
            before, after = (array.zeros([sides, 2], dtype=samples.dtype) for sides in (outer_count, inner_count))
            signal = array.pad(signal, array.concat([before, [[0, samples]], after], 0), constant_values=pad_value)
            shape = array.shape(signal)
            length = shape[axis]
        else:
            count = math.maximum(0, 1 + (length - frame_length) // frame_step)
        # Both lengths in units of what divides them: fewer pieces to gather.
        unit = gcd(frame_length, frame_step)
        units_per_frame = frame_length // unit
        units_per_step = frame_step // unit
        units = length // unit
        sliced_shape = array.concat([outer, [units * unit], inner], 0)
        unit_shape = array.concat([outer, [units, unit], inner], 0)
        begin = array.zeros_like(shape)
        steps = array.ones_like(begin)
        pieces = array.reshape(array.strided_slice(signal, begin, sliced_shape, steps), unit_shape)
        starts = array.reshape(math.range(count) * units_per_step, [count, 1])
        offsets = array.reshape(math.range(units_per_frame), [1, units_per_frame])
        frames = array.reshape(
            array.gather(pieces, starts + offsets, axis=axis),
            array.concat([outer, [count, frame_length], inner], 0),
        )
        if static is not None:
            frames.set_shape(static)
        return frames


def _static_frame_shape(signal, frame_length, frame_step, pad_end, axis):
    """What is known of the frames' shape before running, or None."""
    length, step = constant_value(frame_length), constant_value(frame_step)
    axis = constant_value(axis)
    if signal.shape.rank is None or axis is None:
        return None
    axis = int(axis) % signal.shape.rank
    sizes = signal.shape.as_list()
    count = None
    if step == 0:
        count = 0  # it fails when run
    elif sizes[axis] is not None and step is not None:
        if pad_end:
            count = -(-sizes[axis] // int(step))
        elif length is not None:
            count = max(0, 1 + (sizes[axis] - int(length)) // int(step))
    return [*sizes[:axis], count, None if length is None else int(length), *sizes[axis + 1 :]]


def overlap_and_add(signal, frame_step, name=None):
    """Put frames `frame_step` apart and add them up: the inverse of `frame`, where frames don't overlap.

    The last two dimensions are frames and samples in a frame.

    Args:
        signal: Frames [..., frames, samples].
        frame_step: How many samples further the next frame begins.
        name: The name of the operation in the graph.

    Returns:
        Signals [..., samples].

    Raises:
        ValueError: If the rank is less than 2, or the step is not a scalar.

    Example:
        >>> sess.run(tf.signal.overlap_and_add([[1, 1, 1], [1, 1, 1]], 2))
        array([1, 1, 2, 1, 1], dtype=int32)
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        frame_step.shape.assert_has_rank(0)
        if not frame_step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {frame_step.dtype}")
        shape = array.shape(signal)
        outer = shape[:-2]
        outer_rank = array.size(outer)

        def with_outer(sizes):
            return array.concat([outer, sizes], 0)

        length = shape[-1]
        frames = shape[-2]
        # The size of the result.
        output_length = length + frame_step * (frames - 1)
        static_length, static_step = signal.shape.size(-1), constant_value(frame_step)
        if static_step is not None and static_length == static_step:
            return array.reshape(signal, with_outer([output_length]), name="fast_path")
        # Frames are padded to whole segments of one step, so that adding is a sum over shifted segments.
        segments = -(-length // frame_step)
        paddings = [[0, segments], [0, segments * frame_step - length]]
        outer_paddings = array.zeros([outer_rank, 2], dtypes.int32)
        paddings = array.concat([outer_paddings, paddings], 0)
        signal = array.pad(signal, paddings)
        signal = array.reshape(signal, with_outer([frames + segments, segments, frame_step]))
        # Segments first: reading on row by row then shifts each segment by one frame.
        order = array.concat([math.range(outer_rank), outer_rank + [1, 0, 2]], 0)
        signal = array.transpose(signal, order)
        signal = array.reshape(signal, with_outer([(frames + segments) * segments, frame_step]))
        signal = signal[..., : (frames + segments - 1) * segments, :]
        signal = array.reshape(signal, with_outer([segments, (frames + segments - 1), frame_step]))
        signal = math.reduce_sum(signal, -3)
        signal = array.reshape(signal, with_outer([(frames + segments - 1) * frame_step]))
        signal = signal[..., :output_length]
        return signal


# Windows


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """A raised cosine that starts at zero.

    Args:
        window_length: How many samples.
        periodic: Whether it is a window for spectra; else it is symmetric.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.signal.hann_window(4))
        array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine_window(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """A raised cosine that starts at 0.08.

    Args:
        window_length: How many samples.
        periodic: Whether it is a window for spectra; else it is symmetric.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.signal.hamming_window(4))
        array([0.08000001, 0.54      , 1.        , 0.54      ], dtype=float32)
    """
    return _raised_cosine_window(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _check_floating(dtype):
    if not dtype.is_floating:
        raise ValueError(f"Signals are of a floating point dtype, not {dtype.name}")


def _raised_cosine_window(name, scope, window_length, periodic, dtype, a, b):
    dtype = dtypes.as_dtype(dtype)
    _check_floating(dtype)
    with name_scope(name, scope, [window_length, periodic]):
        window_length = convert_to_tensor(window_length, dtype=dtypes.int32, name="window_length")
        window_length.shape.assert_has_rank(0)
        known = constant_value(window_length)
        if known == 1:
            return array.ones([1], dtype=dtype)
        periodic = math.cast(convert_to_tensor(periodic, dtype=dtypes.bool, name="periodic"), dtypes.int32)
        periodic.shape.assert_has_rank(0)
        even = 1 - math.mod(window_length, 2)
        n = math.cast(window_length + periodic * even - 1, dtype=dtype)
        count = math.cast(math.range(window_length), dtype=dtype)
        argument = constant(2 * np.pi, dtype=dtype) * count / n
        return math.cast(a - b * math.cos(argument), dtype=dtype)


# Short-time Fourier transforms


def _frame_sizes(frame_length, frame_step, fft_length):
    """The three as tensors; transforms are as long as the next power of two unless a length is given."""
    frame_length = convert_to_tensor(frame_length, name="frame_length")
    frame_length.shape.assert_has_rank(0)
    frame_step = convert_to_tensor(frame_step, name="frame_step")
    frame_step.shape.assert_has_rank(0)
    if fft_length is None:
        return frame_length, frame_step, _enclosing_power_of_two(frame_length)
    return frame_length, frame_step, convert_to_tensor(fft_length, name="fft_length")


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """The Fourier transforms of the windowed frames of signals.

    Args:
        signals: The signals [..., samples].
        frame_length: How many samples a frame has.
        frame_step: How many samples further the next frame begins.
        fft_length: The length of the transform; the next power of 2 if None.
        window_fn: A function of length and dtype that gives the window; None for none.
        pad_end: Whether the end is filled up so that no sample is left out.
        name: The name of the operation in the graph.

    Returns:
        Complex numbers [..., frames, bins].

    Example:
        >>> tf.signal.stft(tf.zeros([2, 16000]), 256, 128).shape.as_list()
        [2, 124, 129]
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length, frame_step, fft_length = _frame_sizes(frame_length, frame_step, fft_length)
        frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=frames.dtype)
        # The transform pads frames to its length.
        return rfft(frames, [fft_length])


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """A window function that makes `inverse_stft` undo an `stft` with `forward_window_fn`.

    Args:
        frame_step: How many samples further the next frame begins.
        forward_window_fn: The window that `stft` used.
        name: The name of the operation in the graph.

    Returns:
        A function of length and dtype.

    Example:
        >>> window = tf.signal.inverse_stft_window_fn(2)
        >>> sess.run(window(4, dtype=tf.float32))
        array([0., 1., 1., 1.], dtype=float32)
    """
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        frame_step.shape.assert_has_rank(0)

    def inverse_window(frame_length, dtype):
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            frame_length = convert_to_tensor(frame_length, name="frame_length")
            frame_length.shape.assert_has_rank(0)
            forward = forward_window_fn(frame_length, dtype=dtype)
            # What overlapping windows add up to, at each place of one step.
            total = math.square(forward)
            overlaps = -(-frame_length // frame_step)
            total = array.pad(total, [(0, overlaps * frame_step - frame_length)])
            total = array.reshape(total, [overlaps, frame_step])
            total = math.reduce_sum(total, 0, keepdims=True)
            total = array.tile(total, [overlaps, 1])
            total = array.reshape(total, [overlaps * frame_step])
            return forward / total[:frame_length]

    return inverse_window


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """The signals whose frames have these Fourier transforms, with each frame windowed again and overlaps added.

    Args:
        stfts: The transforms [..., frames, bins].
        frame_length: How many samples a frame has.
        frame_step: How many samples further the next frame begins.
        fft_length: The length of the transform; the next power of 2 if None.
        window_fn: A function of length and dtype that gives the window; None for none.
        name: The name of the operation in the graph.

    Returns:
        Signals [..., samples].

    Example:
        >>> transforms = tf.signal.stft(tf.ones([16]), 4, 2)
        >>> tf.signal.inverse_stft(transforms, 4, 2).shape.as_list()
        [16]
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length, frame_step, fft_length = _frame_sizes(frame_length, frame_step, fft_length)
        fft_length.shape.assert_has_rank(0)
        frames = irfft(stfts, [fft_length])
        known_length, known_fft = constant_value(frame_length), constant_value(fft_length)
        if known_length is None or known_fft is None or known_length != known_fft:
            frames = _fitted(frames, frame_length, known_length, known_fft)
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)


def _fitted(frames, frame_length, known_length, known_fft):
    """Frames cut or padded from the transform's length to the frame's."""
    if known_length is not None and known_fft is not None:
        if known_fft > known_length:
            return frames[..., : int(known_length)]
        paddings = [[0, 0]] * (frames.shape.rank - 1) + [[0, int(known_length - known_fft)]]
        return array.pad(frames, paddings)
    frames = frames[..., :frame_length]
    rank, shape = array.rank(frames), array.shape(frames)
    extra = math.maximum(0, frame_length - shape[-1])
    paddings = array.concat([array.zeros([rank - 1, 2], dtype=frame_length.dtype), [[0, extra]]], 0)
    frames = array.pad(frames, paddings)
    return frames


def _enclosing_power_of_two(value):
    """The smallest power of two that is not less."""
    known = constant_value(value)
    if known is not None:
        return constant(int(2 ** np.ceil(np.log(known) / np.log(2.0))), value.dtype)
    return math.cast(math.pow(2.0, math.ceil(math.log(math.cast(value, dtypes.float32)) / math.log(2.0))), value.dtype)


# Mel scale

_MEL_BREAK_HERTZ = 700.0
_MEL_HIGH_Q = 1127.0


def _hertz_to_mel(frequencies_hertz, name=None):
    with name_scope(name, "hertz_to_mel", [frequencies_hertz]):
        frequencies = convert_to_tensor(frequencies_hertz)
        return _MEL_HIGH_Q * math.log(1.0 + (frequencies / _MEL_BREAK_HERTZ))


def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
):
    """The [num_spectrogram_bins, num_mel_bins] matrix of triangular bands that turns a linear spectrogram into one on
    the mel scale.

    Args:
        num_mel_bins: How many bands.
        num_spectrogram_bins: How many bins the linear spectrogram has.
        sample_rate: How many samples make a second.
        lower_edge_hertz: The lowest frequency.
        upper_edge_hertz: The highest frequency.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A matrix.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> tf.signal.linear_to_mel_weight_matrix(20, 129).shape.as_list()
        [129, 20]
    """
    with name_scope(name, "linear_to_mel_weight_matrix") as name:
        dtype = dtypes.as_dtype(dtype)
        if isinstance(sample_rate, Tensor):
            known = constant_value(sample_rate)
            if known is None:
                raise ValueError(f"sample_rate must be known when the graph is drawn; {sample_rate} is not")
            sample_rate = known
        _check_mel(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        sample_rate = convert_to_tensor(sample_rate, dtype, name="sample_rate")
        lower_edge_hertz = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper_edge_hertz = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        # The first bin, of frequency zero, is left out and added back as a row of zeros.
        nyquist = sample_rate / 2.0
        frequencies = math.linspace(zero, nyquist, num_spectrogram_bins)[1:]
        bins = array.expand_dims(_hertz_to_mel(frequencies), 1)
        edges = math.linspace(_hertz_to_mel(lower_edge_hertz), _hertz_to_mel(upper_edge_hertz), num_mel_bins + 2)
        bands = frame(edges, frame_length=3, frame_step=1)
        lower, center, upper = (array.reshape(t, [1, num_mel_bins]) for t in array.split(bands, 3, axis=1))
        rising = (bins - lower) / (center - lower)
        falling = (upper - bins) / (upper - center)
        weights = math.maximum(zero, math.minimum(rising, falling))
        return array.pad(weights, [[1, 0], [0, 0]], name=name)


def _check_mel(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype):
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must not be below zero, but is {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    if not isinstance(sample_rate, Tensor):
        if sample_rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
        if upper_edge_hertz > sample_rate / 2:
            raise ValueError(
                f"upper_edge_hertz is {upper_edge_hertz}, above half the sample_rate of {sample_rate}, the Nyquist frequency"
            )
    _check_floating(dtype)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Mel-frequency cepstral coefficients: the cosine transform of log mel spectrograms, scaled as HTK does.

    Args:
        log_mel_spectrograms: Log mel spectrograms [..., bins].
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If there are no bins.

    Example:
        >>> sess.run(tf.signal.mfccs_from_log_mel_spectrograms(tf.ones([1, 4]))).shape
        (1, 4)
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        log_mel_spectrograms = convert_to_tensor(log_mel_spectrograms, dtypes.float32)
        if log_mel_spectrograms.shape.rank and log_mel_spectrograms.shape.size(-1) is not None:
            bins = log_mel_spectrograms.shape.size(-1)
            if bins == 0:
                raise ValueError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms}")
        else:
            bins = array.shape(log_mel_spectrograms)[-1]
        transformed = dct(log_mel_spectrograms, type=2)
        return transformed * math.rsqrt(math.cast(bins, dtypes.float32) * 2.0)
