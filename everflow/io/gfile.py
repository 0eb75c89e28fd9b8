"""tf.io.gfile: the functions of tf.gfile under their later names."""

from everflow.platform.file_io import (  # noqa: F401
    copy_v2 as copy,
    create_dir_v2 as mkdir,
    delete_file_v2 as remove,
    delete_recursively_v2 as rmtree,
    file_exists_v2 as exists,
    get_matching_files_v2 as glob,
    is_directory_v2 as isdir,
    list_directory_v2 as listdir,
    recursive_create_dir_v2 as makedirs,
    rename_v2 as rename,
    stat_v2 as stat,
    walk_v2 as walk,
)
from everflow.platform.gfile import GFile  # noqa: F401
