"""Matrices of a checkpoint whose rows or columns stand for words, put into the order of another vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh
from everflow.platform.gfile import GFile

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings


def _words(path: Strings) -> list[str]:
    with GFile(path.item().decode()) as file:
        return file.read().splitlines()


@fresh("GenerateVocabRemapping")
def generate_vocab_remapping(
    new_vocab_file: Strings, old_vocab_file: Strings, *, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    old = _words(old_vocab_file)
    if old_vocab_size >= 0:
        old = old[:old_vocab_size]
    places = {word: i for i, word in enumerate(old)}
    new = _words(new_vocab_file)[new_vocab_offset : new_vocab_offset + num_new_vocab]
    if len(new) < num_new_vocab:
        raise InvalidArgumentError(
            None, None, f"Incorrect input: file has {len(new)} words after {new_vocab_offset}, {num_new_vocab} wanted"
        )
    remapping = torch.tensor([places.get(word, -1) for word in new], dtype=torch.int64)
    return remapping, (remapping >= 0).sum().to(torch.int32)


@fresh("LoadAndRemapMatrix", effect=Effect.READS)
def load_and_remap_matrix(
    ckpt_path: Strings,
    old_tensor_name: Strings,
    row_remapping: torch.Tensor,
    col_remapping: torch.Tensor,
    initializing_values: torch.Tensor,
    *,
    num_rows: int,
    num_cols: int,
) -> torch.Tensor:
    old = torch.from_numpy(
        np.array(open_checkpoint(ckpt_path.item().decode()).read(old_tensor_name.item().decode()), np.float32)
    )
    if old.ndim != 2:
        raise InvalidArgumentError(
            None, None, f"Tensor {old_tensor_name.item().decode()} has shape {tuple(old.shape)}, a matrix is wanted"
        )
    columns = col_remapping if col_remapping.numel() else torch.arange(num_cols)
    if len(row_remapping) != num_rows or len(columns) != num_cols:
        sizes = f"{len(row_remapping)} rows and {len(columns)} columns"
        raise InvalidArgumentError(None, None, f"Remapping is of {sizes}, {num_rows} and {num_cols} wanted")
    if bool((row_remapping >= old.shape[0]).any()) or bool((columns >= old.shape[1]).any()):
        raise InvalidArgumentError(None, None, f"Remapping goes beyond the old matrix of shape {tuple(old.shape)}")
    present = (row_remapping >= 0)[:, None] & (columns >= 0)[None, :]
    result = old[row_remapping.clamp(min=0)][:, columns.clamp(min=0)]
    missing = int((~present).sum())
    if initializing_values.numel() != missing:
        raise InvalidArgumentError(
            None, None, f"{initializing_values.numel()} initializing values are given, {missing} wanted"
        )
    result[~present] = initializing_values.reshape(-1)
    return result
