"""tf.resource_loader: files that lie beside a program's source."""

from everflow.platform.resource_loader import (  # noqa: F401
    get_data_files_path,
    get_path_to_datafile,
    get_root_dir_with_all_resources,
    load_resource,
    readahead_file_path,
)
