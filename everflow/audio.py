"""tf.audio: WAV files as tensors and back."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.ops.audio import decode_wav, encode_wav
