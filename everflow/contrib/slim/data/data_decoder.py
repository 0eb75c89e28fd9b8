"""slim.data_decoder.DataDecoder: from a record to named tensors."""

from __future__ import annotations

import abc


class DataDecoder(abc.ABC):
    """Base class of decoders."""

    @abc.abstractmethod
    def decode(self, data, items):
        """The tensors of `items` in a record."""

    @abc.abstractmethod
    def list_items(self):
        """The names of what can be decoded."""
