# Made by `make stubs`.
from everflow._typing import Any

class Dataset:
    data_sources: Any
    decoder: Any
    items_to_descriptions: Any
    num_samples: Any
    reader: Any
    def __init__(self, data_sources: Any, reader: Any, decoder: Any, num_samples: Any, items_to_descriptions: Any, **kwargs: Any) -> None: ...
