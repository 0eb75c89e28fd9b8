"""tf.gfile: files under the names that TensorFlow 1 gives them."""

from __future__ import annotations

from everflow.platform import file_io


class GFile(file_io.FileIO):
    """An open file, local or remote.

    Args:
        name: The path of a file, local or `gs://`, `s3://` and the like.
        mode: `r`, `w`, `a`, `r+` and so on, with `b` for bytes.

    Example:
        >>> with tf.gfile.GFile("a.txt", "w") as file:
        ...     file.write("text")
        >>> with tf.gfile.GFile("a.txt") as file:
        ...     print(file.read())
        text
    """

    def __init__(self, name, mode="r"):
        super().__init__(name=name, mode=mode)


class FastGFile(GFile):
    """An open file, local or remote.

    Args:
        name: The path of a file, local or `gs://`, `s3://` and the like.
        mode: `r`, `w`, `a`, `r+` and so on, with `b` for bytes.

    Example:
        >>> with tf.gfile.FastGFile("a.txt", "w") as file:
        ...     file.write("text")
        >>> with tf.gfile.FastGFile("a.txt") as file:
        ...     print(file.read())
        text
    """


Open = GFile
Copy = file_io.copy
DeleteRecursively = file_io.delete_recursively
Exists = file_io.file_exists
Glob = file_io.get_matching_files
IsDirectory = file_io.is_directory
ListDirectory = file_io.list_directory
MakeDirs = file_io.recursive_create_dir
MkDir = file_io.create_dir
Remove = file_io.delete_file
Rename = file_io.rename
Stat = file_io.stat
Walk = file_io.walk
