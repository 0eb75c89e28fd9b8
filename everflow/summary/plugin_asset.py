"""tensorflow.python.summary.plugin_asset: what plugins of TensorBoard keep with a graph, one object for each."""

from __future__ import annotations

import abc
from typing import Any

from everflow.framework.graph import Graph
from everflow.framework.scopes import get_default_graph

__all__ = ["PluginAsset", "get_all_plugin_assets", "get_plugin_asset"]
# The collection of the plugins' names; with a name behind it, that of the plugin's object.
_PREFIX = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """Files of a plugin that are written beside a graph."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> dict[str, Any]:
        """The contents of the files by their names."""


def get_plugin_asset(plugin_asset_cls: type[PluginAsset], graph: Graph | None = None) -> PluginAsset:
    """The graph's object of a class, which is made when it is asked for first."""
    graph = graph or get_default_graph()
    name = plugin_asset_cls.plugin_name
    if not name:
        raise ValueError(f"{plugin_asset_cls.__name__} needs a plugin_name")
    known = graph.get_collection_ref(f"{_PREFIX}{name}")
    if not known:
        known.append(plugin_asset_cls())
        graph.get_collection_ref(_PREFIX).append(name)
    if type(known[0]) is not plugin_asset_cls:
        both = f"{type(known[0]).__name__} and {plugin_asset_cls.__name__}"
        raise ValueError(f"{both} both have the plugin_name {name!r}")
    return known[0]


def get_all_plugin_assets(graph: Graph | None = None) -> list[PluginAsset]:
    """The objects of all plugins of a graph."""
    graph = graph or get_default_graph()
    return [graph.get_collection(f"{_PREFIX}{name}")[0] for name in graph.get_collection(_PREFIX)]
