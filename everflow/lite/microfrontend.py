"""The audio front end that keyword models for small devices are trained with: features of speech in whole numbers."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.platform.signatures import takes


@takes(
    """audio, sample_rate=16000, window_size=25, window_step=10, num_channels=32, upper_band_limit=7500.0,
    lower_band_limit=125.0, smoothing_bits=10, even_smoothing=0.025, odd_smoothing=0.06, min_signal_remaining=0.05,
    enable_pcan=True, pcan_strength=0.95, pcan_offset=80.0, gain_bits=21, enable_log=True, scale_shift=6,
    left_context=0, right_context=0, frame_stride=1, zero_padding=False, out_scale=1, out_type=uint16""",
    uint16=dtypes.uint16,
)
def audio_microfrontend(audio, **settings):
    """Filter banks of speech, as a chip without floats computes them.

    Args:
        audio: int16 samples; of more than one axis they are taken one after another.
        sample_rate: How many samples make a second.
        window_size: How long a frame is, in milliseconds.
        window_step: How far apart frames begin, in milliseconds.
        num_channels: How many channels a frame has.
        upper_band_limit: The highest frequency, in Hz.
        lower_band_limit: The lowest.
        smoothing_bits: Bits behind the point of the estimate of the noise.
        even_smoothing: How fast that estimate follows in channels 0, 2, ...
        odd_smoothing: How fast in channels 1, 3, ...
        min_signal_remaining: The part of a signal that is kept however noisy it is.
        enable_pcan: Whether channels are brought to an even loudness.
        pcan_strength: How far: the exponent of the loudness.
        pcan_offset: What is added to the loudness first.
        gain_bits: Bits behind the point of the gain.
        enable_log: Whether the result is on a logarithmic scale.
        scale_shift: That scale is multiplied by 2 to this.
        left_context: How many frames before a frame stand beside it.
        right_context: How many frames after it.
        frame_stride: Every how many-th frame is given.
        zero_padding: Whether there are zeros before the first and after the last frame, or copies of them.
        out_scale: What the result is divided by.
        out_type: uint16 or float32.

    Returns:
        Frames: [count, channels * (1 + left_context + right_context)].

    Raises:
        TypeError: The samples are not int16.

    Example:
        >>> from everflow.lite.microfrontend import audio_microfrontend
        >>> sess.run(audio_microfrontend(np.zeros(480, np.int16), num_channels=4))
        array([[0, 0, 0, 0],
               [0, 0, 0, 0]], dtype=uint16)
    """
    sound = convert_to_tensor(audio, preferred_dtype=dtypes.int16)
    if sound.shape.ndims != 1:
        sound = raw.Reshape(tensor=sound, shape=[-1])
    return raw.AudioMicrofrontend(audio=sound, **settings)
