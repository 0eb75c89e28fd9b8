"""tf.gfile: files wherever they are, under the names of TensorFlow's first years."""

from everflow.platform.gfile import (  # noqa: F401
    Copy,
    DeleteRecursively,
    Exists,
    FastGFile,
    GFile,
    Glob,
    IsDirectory,
    ListDirectory,
    MakeDirs,
    MkDir,
    Open,
    Remove,
    Rename,
    Stat,
    Walk,
)
