"""slim.dataset.Dataset: where examples are, how to read and decode them, and how many there are."""

from __future__ import annotations


class Dataset:
    """Facts about a dataset, as attributes; further ones may be given by keyword."""

    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        self.__dict__.update(kwargs)
