"""What runs are called by debuggers: the names of what is fed and fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

GRPC_URL_PREFIX = "grpc://"


class RunKey(NamedTuple):
    """What is fed and fetched in a run."""

    feed_names: Any
    fetch_names: Any


def get_graph_element_name(elem: Any) -> str:
    """The name of a tensor, operation or variable; of other things what they are as text."""
    return str(getattr(elem, "name", elem))


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names in a nest: of a dictionary those of its values."""
    if isinstance(feeds_or_fetches, Mapping):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for part in feeds_or_fetches for name in get_flattened_names(part)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """What tells runs apart, as JSON."""
    return json.dumps(RunKey(get_flattened_names(feed_dict), get_flattened_names(fetches)))
