"""Files, local and remote: `FileIO` and functions on paths, of which tf.gfile and tf.io.gfile are made."""

from __future__ import annotations

import binascii
import fnmatch
import functools
import inspect
import os
import re
import uuid

from everflow.framework import errors
from everflow.platform.compat import as_bytes, as_str_any, as_text
from everflow.platform.filesystems import filesystem_of, translated

_MODES = ("r", "w", "a", "r+", "w+", "a+")
_CHUNK = 1 << 20


def _path(name) -> str:
    """A path as text, from text, bytes or a path object."""
    return as_text(os.fspath(name) if hasattr(name, "__fspath__") else name)


class FileIO:
    """An open file. It is opened when first read or written: a file that nobody writes to is not made.

    Reading and writing have their own positions; text is UTF-8.
    """

    def __init__(self, name, mode):
        self.__name = name
        self.__mode = mode
        self._binary = "b" in mode
        self._mode = mode.replace("b", "")
        if self._mode not in _MODES:
            raise errors.InvalidArgumentError(None, None, "mode is not " + " or ".join(map(repr, _MODES)))
        self._reader = None
        self._writer = None

    @property
    def name(self):
        return self.__name

    @property
    def mode(self):
        return self.__mode

    def _for_reading(self):
        if self._reader is None:
            if self._mode in ("w", "a"):
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            path = _path(self.__name)
            fs = filesystem_of(path)
            if fs.is_directory(path):
                raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory")
            self._reader = fs.open(path, "rb")
        return self._reader

    def _for_writing(self):
        if self._writer is None:
            if self._mode == "r":
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            path = _path(self.__name)
            self._writer = filesystem_of(path).open(path, "ab" if self._mode.startswith("a") else "wb")
        return self._writer

    def _out(self, data):
        return data if self._binary else as_text(data)

    def size(self):
        """Bytes in the file."""
        return stat(self.__name).length

    def write(self, file_content):
        """Append text or bytes."""
        data = as_bytes(file_content)
        with translated(_path(self.__name)):
            self._for_writing().write(data)

    def read(self, n=-1):
        """The next `n` bytes, or all that is left."""
        if n < -1:
            raise OverflowError(f"can't read {n} bytes")
        with translated(_path(self.__name)):
            return self._out(self._for_reading().read(n))

    def seek(self, offset=None, whence=0, position=None):
        """Go to a place in the file being read: from the start, from here (`whence=1`) or from the end (`whence=2`)."""
        reader = self._for_reading()
        if (offset is None) == (position is None):
            raise TypeError("seek() takes an offset; position is its name in older programs")
        offset = position if offset is None else offset
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        size = self.size()
        offset += (0, reader.tell(), size)[whence]
        if offset < 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {offset}")
        if offset > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")
        reader.seek(offset)

    def readline(self):
        """The next line with its newline; empty at the end. Carriage returns are left out."""
        with translated(_path(self.__name)):
            return self._out(self._for_reading().readline().replace(b"\r", b""))

    def readlines(self):
        """All the lines that are left."""
        return list(self)

    def tell(self):
        """The position: of reading where the file is read, else of writing."""
        return self._for_writing().tell() if self._mode in ("w", "a") else self._for_reading().tell()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self):
        return self.__next__()

    def flush(self):
        """Hand what was written to the system."""
        if self._writer is not None:
            with translated(_path(self.__name)):
                self._writer.flush()

    def close(self):
        reader, writer, self._reader, self._writer = self._reader, self._writer, None, None
        if reader is not None:
            reader.close()
        if writer is not None:
            with translated(_path(self.__name)):
                writer.close()

    def seekable(self):
        return True


def file_exists(filename):
    """Whether there is a file or directory of that name.

    Args:
        filename: The path of a file, local or `gs://`, `s3://` and the like.

    Returns:
        A bool.

    Example:
        >>> tf.gfile.Exists("missing.txt")
        False
    """
    path = _path(filename)
    return filesystem_of(path).exists(path)


def is_directory(dirname):
    """Whether there is a directory of that name.

    Args:
        dirname: The path of a directory.

    Returns:
        A bool.

    Example:
        >>> tf.gfile.IsDirectory(".")
        True
    """
    path = _path(dirname)
    return filesystem_of(path).is_directory(path)


def stat(filename):
    """A FileStatistics; NotFoundError where there is no such file.

    Args:
        filename: The path of a file, local or `gs://`, `s3://` and the like.

    Returns:
        An object with `length`, `mtime_nsec` and `is_directory`.

    Raises:
        NotFoundError: If there is no such file.

    Example:
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("text")
        >>> tf.gfile.Stat("a.txt").length
        4
    """
    path = _path(filename)
    return filesystem_of(path).stat(path)


def read_file_to_string(filename, binary_mode=False):
    """All of a file, as text or bytes."""
    with FileIO(filename, mode="rb" if binary_mode else "r") as f:
        return f.read()


def write_string_to_file(filename, file_content):
    """Make a file with the given content, or replace what is in it."""
    with FileIO(filename, mode="w") as f:
        f.write(file_content)


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Write a file so that nobody sees half of it."""
    temporary = _path(filename) + ".tmp" + uuid.uuid4().hex
    write_string_to_file(temporary, contents)
    try:
        rename(temporary, filename, overwrite)
    except errors.OpError:
        delete_file(temporary)
        raise


def delete_file(filename):
    """Delete a file; FailedPreconditionError for a directory, NotFoundError where there is nothing.

    Args:
        filename: The path of a file, local or `gs://`, `s3://` and the like.

    Returns:
        None.

    Raises:
        NotFoundError: If there is nothing.
        FailedPreconditionError: If it is a directory.

    Example:
        >>> open("a.txt", "w").close()
        >>> tf.gfile.Remove("a.txt")
        >>> tf.gfile.Exists("a.txt")
        False
    """
    path = _path(filename)
    fs = filesystem_of(path)
    if fs.is_directory(path):
        raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory")
    fs.remove(path)


def delete_recursively(dirname):
    """Delete a directory with all that is in it.

    Args:
        dirname: The path of a directory.

    Returns:
        None.

    Raises:
        FailedPreconditionError: If it is no directory.
        NotFoundError: If there is no such directory.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> tf.gfile.DeleteRecursively("a")
        >>> tf.gfile.Exists("a")
        False
    """
    path = _path(dirname)
    fs = filesystem_of(path)
    if not fs.exists(path):
        raise errors.NotFoundError(None, None, f"{path} not found")
    if not fs.is_directory(path):
        raise errors.FailedPreconditionError(None, None, f"{path}; Not a directory")
    fs.remove_tree(path)


def create_dir(dirname):
    """Make a directory in one that exists. One that is there already is fine.

    Args:
        dirname: The path of a directory.

    Returns:
        None.

    Raises:
        NotFoundError: If the directory above isn't there.

    Example:
        >>> tf.gfile.MkDir("a")
        >>> tf.gfile.IsDirectory("a")
        True
    """
    path = _path(dirname)
    filesystem_of(path).make_directory(path)


def recursive_create_dir(dirname):
    """Make a directory and those above it.

    Args:
        dirname: The path of a directory.

    Returns:
        None.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> tf.gfile.IsDirectory("a/b")
        True
    """
    path = _path(dirname)
    filesystem_of(path).make_directories(path)


def list_directory(dirname):
    """The names in a directory.

    Args:
        dirname: The path of a directory.

    Returns:
        A list of names, those of directories with a `/` at the end where the file system is remote.

    Raises:
        NotFoundError: If there is no such directory.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> tf.gfile.ListDirectory("a")
        ['b']
    """
    path = _path(dirname)
    if not is_directory(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    return filesystem_of(path).list(path)


def copy(oldpath, newpath, overwrite=False):
    """Copy a file. AlreadyExistsError where `newpath` is there, unless `overwrite`.

    Args:
        oldpath: The file.
        newpath: The copy.
        overwrite: Whether what is there is replaced.

    Returns:
        None.

    Raises:
        AlreadyExistsError: If there is a file of the new name, and it isn't to be replaced.
        InvalidArgumentError: If it is a directory.
        NotFoundError: If there is no such file.

    Example:
        >>> with tf.gfile.GFile("a.txt", "w") as file:
        ...     file.write("text")
        >>> tf.gfile.Copy("a.txt", "b.txt")
        >>> tf.gfile.Exists("b.txt")
        True
    """
    old, new = _path(oldpath), _path(newpath)
    _check_target(new, overwrite)
    source = filesystem_of(old)
    if source.is_directory(old):
        raise errors.InvalidArgumentError(None, None, f"{old}; Is a directory")
    with source.open(old, "rb") as reader, filesystem_of(new).open(new, "wb") as writer:
        while chunk := reader.read(_CHUNK):
            writer.write(chunk)


def rename(oldname, newname, overwrite=False):
    """Rename or move a file or directory. AlreadyExistsError where `newname` is there, unless `overwrite`.

    Args:
        oldname: The file or directory.
        newname: Its new path.
        overwrite: Whether what is there is replaced.

    Returns:
        None.

    Raises:
        AlreadyExistsError: If there is a file of the new name, and it isn't to be replaced.

    Example:
        >>> open("a.txt", "w").close()
        >>> tf.gfile.Rename("a.txt", "b.txt")
        >>> tf.gfile.Exists("b.txt")
        True
    """
    old, new = _path(oldname), _path(newname)
    _check_target(new, overwrite)
    source = filesystem_of(old)
    if type(source) is not type(filesystem_of(new)):
        copy(old, new, overwrite=True)
        source.remove(old)
    else:
        source.rename(old, new)


def _check_target(path, overwrite):
    if not overwrite and file_exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def walk(top, in_order=True):
    """Yield (directory, directories in it, files in it), parents first or, with `in_order=False`, last.

    Args:
        top: The directory to begin with.
        in_order: Whether parents come first.

    Yields:
        Triples of a path, names of directories, and names of files.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> list(tf.gfile.Walk("a"))
        [('a', ['b'], []), ('a/b', [], [])]
    """
    return walk_v2(top, topdown=in_order)


def walk_v2(top, topdown=True, onerror=None):
    """As `walk`; `onerror` is called with the exception where a directory can't be listed.

    Args:
        top: The directory to begin with.
        topdown: Whether parents come first.
        onerror: A function of the exception; None to go on.

    Yields:
        Triples of a path, names of directories, and names of files.

    Example:
        >>> tf.gfile.MakeDirs("a/b")
        >>> list(tf.io.gfile.walk("a"))
        [('a', ['b'], []), ('a/b', [], [])]
    """
    top = as_str_any(_path(top))
    try:
        listing = list_directory(top)
    except errors.NotFoundError as e:
        if onerror:
            onerror(e)
        return
    directories = [name for name in listing if is_directory(os.path.join(top, name))]
    here = (top, directories, [name for name in listing if name not in directories])
    if topdown:
        yield here
    for name in directories:
        yield from walk_v2(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield here


def get_matching_files(filename):
    """The paths that match a pattern, or any of a list of them, sorted. `*`, `?` and `[...]` don't cross a `/`.

    Args:
        filename: A pattern, or a list of them.

    Returns:
        A list of paths.

    Example:
        >>> for name in ("b.txt", "a.txt"):
        ...     open(name, "w").close()
        >>> tf.gfile.Glob("*.txt")
        ['./a.txt', './b.txt']
    """
    patterns = [filename] if isinstance(filename, str | bytes) or hasattr(filename, "__fspath__") else filename
    return [path for pattern in patterns for path in _matching(_path(pattern))]


def _matching(pattern):
    fixed = re.split(r"[*?\[\\]", pattern, maxsplit=1)[0]
    folder, slash, _ = fixed.rpartition("/")
    if not slash:
        folder, pattern = ".", "./" + pattern  # TensorFlow 1 shows matches in the current directory this way
    elif not folder:
        folder = "/"
    if not file_exists(folder):
        raise errors.NotFoundError(None, None, f"{folder}; No such file or directory")
    found = [folder]
    for part in pattern[len(folder) :].strip("/").split("/"):
        matches = re.compile(fnmatch.translate(part)).match
        found = [
            os.path.join(path, name)
            for path in found
            if is_directory(path)
            for name in list_directory(path)
            if matches(name)
        ]
    return found


def filecmp(filename_a, filename_b):
    """Whether two files hold the same bytes."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    return read_file_to_string(filename_a, binary_mode=True) == read_file_to_string(filename_b, binary_mode=True)


def file_crc32(filename, block_size=1 << 24):
    """The CRC-32 of a file, in hexadecimal."""
    crc = 0
    with FileIO(filename, mode="rb") as f:
        while chunk := f.read(block_size):
            crc = binascii.crc32(chunk, crc)
    return hex(crc & 0xFFFFFFFF)


def _renamed(function, name, *arguments):
    """A function under the name and the argument names that tf.io.gfile's has."""
    given = inspect.signature(function).parameters.values()
    signature = inspect.Signature([p.replace(name=new) for p, new in zip(given, arguments, strict=True)])

    @functools.wraps(function)
    def renamed(*args, **kwargs):
        return function(*signature.bind(*args, **kwargs).args)

    renamed.__name__, renamed.__qualname__, renamed.__signature__ = name, name, signature  # type: ignore[attr-defined]
    document = function.__doc__
    for old, new in zip(inspect.signature(function).parameters, arguments):
        document = re.sub(rf"\b{old}\b(?=:|`)", new, document)
    renamed.__doc__ = document
    return renamed


copy_v2 = _renamed(copy, "copy_v2", "src", "dst", "overwrite")
rename_v2 = _renamed(rename, "rename_v2", "src", "dst", "overwrite")
file_exists_v2 = _renamed(file_exists, "file_exists_v2", "path")
get_matching_files_v2 = _renamed(get_matching_files, "get_matching_files_v2", "pattern")
is_directory_v2 = _renamed(is_directory, "is_directory_v2", "path")
list_directory_v2 = _renamed(list_directory, "list_directory_v2", "path")
recursive_create_dir_v2 = _renamed(recursive_create_dir, "recursive_create_dir_v2", "path")
create_dir_v2 = _renamed(create_dir, "create_dir_v2", "path")
delete_file_v2 = _renamed(delete_file, "delete_file_v2", "path")
delete_recursively_v2 = _renamed(delete_recursively, "delete_recursively_v2", "path")
stat_v2 = _renamed(stat, "stat_v2", "path")
