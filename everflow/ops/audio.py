"""Audio files and spectrogram ops: build functions and shape rules."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """(audio, sample_rate) of a 16-bit WAV file: floats in [-1, 1] of shape [samples, channels].

    Args:
        contents: The bytes of the file, a scalar string.
        desired_channels: How many channels the result has; -1 takes what the file has.
        desired_samples: How many samples the result has; -1 takes what the file has.
        name: The name of the operation in the graph.

    Returns:
        A named tuple of the sound and the rate.

    Example:
        >>> file = tf.audio.encode_wav([[0.0], [0.5]], 8000)
        >>> sess.run(tf.audio.decode_wav(file))
        DecodeWav(audio=array([[0. ],
               [0.5]], dtype=float32), sample_rate=np.int32(8000))
    """
    return raw.DecodeWav(
        contents=contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


def encode_wav(audio, sample_rate, name=None):
    """A 16-bit WAV file of audio [samples, channels].

    Args:
        audio: Floats from -1 to 1: [samples, channels].
        sample_rate: How many samples make a second.
        name: The name of the operation in the graph.

    Returns:
        The bytes of the file, a scalar string.

    Example:
        >>> sess.run(tf.audio.encode_wav([[0.0], [0.5]], 8000))[:4]
        b'RIFF'
    """
    return raw.EncodeWav(audio=audio, sample_rate=sample_rate, name=name)


def _of_rank(tensor, rank):
    if tensor.shape.rank not in (None, rank):
        raise ValueError(f"Shape must be rank {rank} but is rank {tensor.shape.rank}")
    return tensor.shape.with_rank(rank)


@shape_rule("DecodeWav")
def _decode_wav_shape(op):
    _of_rank(op.inputs[0], 0)
    channels, samples = op.attrs["desired_channels"], op.attrs["desired_samples"]
    for value, what in ((channels, "channels"), (samples, "samples")):
        if value != -1 and value < 0:
            raise ValueError(f"{what} must be non-negative, got {value}")
    return [TensorShape([None if samples == -1 else samples, None if channels == -1 else channels]), TensorShape([])]


@shape_rule("EncodeWav")
def _encode_wav_shape(op):
    _of_rank(op.inputs[0], 2)
    _of_rank(op.inputs[1], 0)
    return TensorShape([])


@shape_rule("AudioSpectrogram")
def _spectrogram_shape(op):
    audio = _of_rank(op.inputs[0], 2)
    window, stride = op.attrs["window_size"], op.attrs["stride"]
    count = audio.size(0)
    frames = None
    if count is not None:
        frames = 0 if count < window else 1 + (count - window) // stride
    return TensorShape([audio[1], frames, (1 << (window - 1).bit_length()) // 2 + 1])


@shape_rule("Mfcc")
def _mfcc_shape(op):
    spectrogram = _of_rank(op.inputs[0], 3)
    _of_rank(op.inputs[1], 0)
    return TensorShape([spectrogram[0], spectrogram[1], op.attrs["dct_coefficient_count"]])


@shape_rule("AudioMicrofrontend")
def _microfrontend_shape(op):
    samples = _of_rank(op.inputs[0], 1).size(0)
    attrs = op.attrs
    size, step = (attrs[name] * attrs["sample_rate"] // 1000 for name in ("window_size", "window_step"))
    if step < 1 or attrs["frame_stride"] < 1:
        raise ValueError("window_step and frame_stride must be positive: frames would begin at the same sample")
    # TensorFlow takes an unknown number of samples for none; the graph says the same.
    frames = max(0, (samples - size) // step + 1) if samples is not None else 0
    context = 1 + attrs["left_context"] + attrs["right_context"]
    return TensorShape([-(-frames // attrs["frame_stride"]), attrs["num_channels"] * context])
