"""Kernels that number strings by their hashes: StringToHashBucket, its fast and its strong form, Fingerprint."""

from __future__ import annotations

import numpy as np
import torch

from everflow.formats.murmur import murmur64
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.hashing import fingerprint64, siphashes
from everflow.kernels.strings.text import contiguous, measured, scalar_string
from everflow.kernels.tensors import AnyTensor, Strings, room
from everflow.native.loops.library import Library

_HASHES = Library("hashes", cost=10)


def _by_code(loop: str, input: Strings, num_buckets: int, *key: int) -> torch.Tensor | None:
    """The bucket of each string by a compiled loop, where there is one; the hashes themselves for no buckets."""
    code = _HASHES.ready(input.size)
    if code is None:
        return None
    given, out = contiguous(input), room(input.shape, torch.int64)
    status = getattr(code, loop)(id(given), given.size, out.data_ptr(), num_buckets, *key)
    return out if status == 0 else None


@fresh("StringToHashBucket")
def to_hash_bucket(string_tensor: Strings, *, num_buckets: int) -> torch.Tensor:
    found = _by_code("murmurs", string_tensor, num_buckets)
    return measured(lambda s: murmur64(s) % num_buckets, string_tensor, torch.int64) if found is None else found


@fresh("StringToHashBucketFast")
def to_hash_bucket_fast(input: Strings, *, num_buckets: int) -> torch.Tensor:
    found = _by_code("fingerprints", input, num_buckets)
    return measured(lambda s: fingerprint64(s) % num_buckets, input, torch.int64) if found is None else found


@fresh("StringToHashBucketStrong")
def to_hash_bucket_strong(input: Strings, *, num_buckets: int, key: list[int]) -> torch.Tensor:
    if len(key) != 2:
        raise InvalidArgumentError(None, None, "Key must have 2 elements")
    found = _by_code("siphashes", input, num_buckets, *key)
    if found is not None:
        return found
    buckets = siphashes(list(input.flat), key) % np.uint64(num_buckets)
    return torch.from_numpy(buckets.astype(np.int64)).reshape(input.shape)


@fresh("Fingerprint")
def fingerprint(data: AnyTensor, method: Strings) -> torch.Tensor:
    if scalar_string(method, "method") != b"farmhash64":
        raise InvalidArgumentError(None, None, f"Unsupported fingerprint method: {method.item().decode()}")
    if data.ndim < 1:
        raise InvalidArgumentError(None, None, "`data` should have at least one dimension.")
    if isinstance(data, np.ndarray):
        if data.ndim == 1:
            found = _by_code("fingerprints", data, 0)
            if found is not None:
                return found.view(torch.uint8).reshape(-1, 8)
            rows = list(data)
        else:
            # Several strings in a row: the fingerprint of their fingerprints.
            rows = [b"".join(fingerprint64(s).to_bytes(8, "little") for s in row.flat) for row in data]
    else:
        rows = [
            row.contiguous().view(torch.uint8).numpy().tobytes() if row.ndim else row.numpy().tobytes() for row in data
        ]
    digits = b"".join(fingerprint64(row).to_bytes(8, "little") for row in rows)
    return torch.tensor(list(digits), dtype=torch.uint8).reshape(len(rows), 8)
