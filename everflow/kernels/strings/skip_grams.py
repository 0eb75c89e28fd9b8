"""Pairs of tokens near each other: `tf.contrib.text`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import FRESH, Effect
from everflow.kernels.random.distributions import stream_of
from everflow.kernels.registry import kernel

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.random.philox import Philox
    from everflow.kernels.tensors import Strings


@kernel("SkipGramGenerateCandidates", result=FRESH, effect=Effect.RANDOM)
def skip_gram_generate_candidates(
    input_tensor: torch.Tensor | Strings,
    min_skips: torch.Tensor,
    max_skips: torch.Tensor,
    start: torch.Tensor,
    limit: torch.Tensor,
    emit_self_as_target: torch.Tensor,
    *,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor | Strings, torch.Tensor | Strings]:
    """Each token with those up to a random number of places before and after it."""
    least, most, first, count = (int(n) for n in (min_skips, max_skips, start, limit))
    if least < 0 or most < least:
        raise InvalidArgumentError(
            None, None, f"min_skips and max_skips are two distances, 0 <= min <= max, got {least} and {most}"
        )
    if input_tensor.ndim != 1:
        raise InvalidArgumentError(None, None, f"input_tensor must be a vector, got shape {list(input_tensor.shape)}")
    size = len(input_tensor)
    first = max(first, 0)
    end = size if count < 0 else min(first + count, size)
    numbers = _uniform(stream_of(node, session).reserve((size + 1 + 3) // 4), most - least + 1)
    tokens, labels = [], []
    for token in range(first, end):
        skips = least + next(numbers)
        for label in range(max(first, token - skips), min(end, token + skips + 1)):
            if label != token or emit_self_as_target:
                tokens.append(token)
                labels.append(label)
    if isinstance(input_tensor, np.ndarray):
        return input_tensor[np.array(tokens, int)], input_tensor[np.array(labels, int)]
    return input_tensor[torch.tensor(tokens, dtype=torch.int64)], input_tensor[torch.tensor(labels, dtype=torch.int64)]


def _uniform(place: Philox, count: int) -> Iterator[int]:
    """Integers below `count`, each as likely: words that would make the lowest ones likelier are passed over."""
    too_low = (1 << 32) % count
    while True:
        for word in place.words(16).reshape(-1).tolist():
            if word >= too_low:
                yield word % count
        place = place.skipped(16)
