"""tensorflow.python.debug.lib.debug_data: what files and folders of dumps are called."""

from __future__ import annotations

import glob
import json
import os
from typing import Any

from everflow.debug import dumps
from everflow.debug.dumps import CoreMetadata as _CoreMetadata
from everflow.debug.dumps import (  # noqa: F401  names of debug_data
    InconvertibleTensorProto,
    WatchKeyDoesNotExistInDebugDumpDirError,
)

METADATA_FILE_PREFIX = dumps.METADATA_PREFIX
_TAGS = (dumps.CORE_PREFIX, dumps.DEVICE_PREFIX, dumps.FEEDS_FILE, dumps.FETCHES_FILE, dumps.GRAPH_PREFIX)
CORE_METADATA_TAG, DEVICE_TAG, FEED_KEYS_INFO_FILE_TAG, FETCHES_INFO_FILE_TAG, GRAPH_FILE_TAG = (
    prefix.removeprefix(METADATA_FILE_PREFIX) for prefix in _TAGS
)
HASH_TAG = "hash"


def device_name_to_device_path(device_name: str) -> str:
    """The folder of a device: its parts with commas between them."""
    parts = [part.replace(":", "_") for part in device_name.split("/")]
    return dumps.DEVICE_PREFIX + ",".join(parts)


def device_path_to_device_name(device_dir: str) -> str:
    """The device that a folder belongs to."""
    base = os.path.basename(device_dir)
    return dumps.folder_to_device(base) if base.startswith(dumps.DEVICE_PREFIX) else ""


def extract_core_metadata_from_event_proto(event: Any) -> _CoreMetadata:
    """What an Event says of a run."""
    found = json.loads(event.log_message.message)
    return _CoreMetadata(*(found[field] for field in _CoreMetadata._fields))


def _get_tensor_name(node_name: str, output_slot: int) -> str:
    return f"{node_name}:{output_slot}"


def _get_tensor_watch_key(node_name: str, output_slot: int, debug_op: str) -> str:
    return f"{_get_tensor_name(node_name, output_slot)}:{debug_op}"


def _is_graph_file(file_name: str) -> bool:
    return file_name.startswith(dumps.GRAPH_PREFIX)


def _is_run_fetches_info_file(file_name: str) -> bool:
    return file_name == dumps.FETCHES_FILE


def _is_run_feed_keys_info_file(file_name: str) -> bool:
    return file_name == dumps.FEEDS_FILE


def _glob(glob_pattern: str) -> list[str]:
    return glob.glob(glob_pattern)
