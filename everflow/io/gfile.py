"""tf.io.gfile: the functions of tf.gfile under their later names."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.platform.file_io import copy_v2 as copy
from everflow.platform.file_io import create_dir_v2 as mkdir
from everflow.platform.file_io import delete_file_v2 as remove
from everflow.platform.file_io import delete_recursively_v2 as rmtree
from everflow.platform.file_io import file_exists_v2 as exists
from everflow.platform.file_io import get_matching_files_v2 as glob
from everflow.platform.file_io import is_directory_v2 as isdir
from everflow.platform.file_io import list_directory_v2 as listdir
from everflow.platform.file_io import recursive_create_dir_v2 as makedirs
from everflow.platform.file_io import rename_v2 as rename
from everflow.platform.file_io import stat_v2 as stat
from everflow.platform.file_io import walk_v2 as walk
from everflow.platform.gfile import GFile
