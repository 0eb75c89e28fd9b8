"""`get_file`: files from the net that are kept in a folder, with their checksums verified."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile

from everflow.keras.backend.config import keras_home
from everflow.keras.utils.progress import Progbar


def get_file(
    fname,
    origin,
    untar=False,
    md5_hash=None,
    file_hash=None,
    cache_subdir="datasets",
    hash_algorithm="auto",
    extract=False,
    archive_format="auto",
    cache_dir=None,
):
    """The path of a file, which is downloaded unless it is there already; archives are unpacked next to it if wanted.

    Args:
        fname: The file's name, or a path.
        origin: Its URL.
        untar: Whether it is unpacked, an older way to say it.
        md5_hash: Its MD5 hash, an older way to say it.
        file_hash: Its hash; the file is downloaded again where it is another one.
        cache_subdir: The folder in the cache.
        hash_algorithm: `md5`, `sha256` or `auto`.
        extract: Whether it is unpacked.
        archive_format: `tar`, `zip`, `auto` or None.
        cache_dir: The cache; `~/.keras` if None.

    Returns:
        The path.

    Raises:
        ValueError: If its checksum is another one.

    Example:
        >>> import os, pathlib
        >>> with open("a.txt", "w") as file:
        ...     _ = file.write("text")
        >>> path = tf.keras.utils.get_file("b.txt", pathlib.Path("a.txt").absolute().as_uri(), cache_dir=os.getcwd())
        Downloading data from ...
        >>> os.path.basename(path)
        'b.txt'
    """
    cache_dir = keras_home() if cache_dir is None else os.path.expanduser(cache_dir)
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    if os.path.isdir(cache_dir) and not os.access(cache_dir, os.W_OK):
        cache_dir = os.path.join("/tmp", ".keras")
    folder = os.path.join(cache_dir, cache_subdir)
    os.makedirs(folder, exist_ok=True)
    unpacked = os.path.join(folder, fname)
    path = unpacked + ".tar.gz" if untar else unpacked
    if os.path.exists(path):
        if file_hash is not None and not validate_file(path, file_hash, algorithm=hash_algorithm):
            print(
                f"{path} has another {hash_algorithm} checksum than {file_hash}: it is incomplete or outdated, and fetched again."
            )
            _download(path, origin)
    else:
        print("Downloading data from", origin)
        _download(path, origin)
        if file_hash is not None and not validate_file(path, file_hash, algorithm=hash_algorithm):
            os.remove(path)
            raise ValueError(f"{origin} was downloaded, but its checksum isn't {file_hash}")
    if untar:
        if not os.path.exists(unpacked):
            _extract_archive(path, folder, archive_format="tar")
        return unpacked
    if extract:
        _extract_archive(path, folder, archive_format)
    return path


def _download(path, origin):
    """Fetch a file; nothing is left where that fails."""
    partial = path + ".partial"
    try:
        with urllib.request.urlopen(origin) as response, open(partial, "wb") as file:
            size = int(response.headers.get("Content-Length", -1))
            bar, done = Progbar(size if size > 0 else None, verbose=int(_is_watched())), 0
            while block := response.read(1 << 16):
                file.write(block)
                done += len(block)
                bar.update(done)
        os.replace(partial, path)
    except urllib.error.HTTPError as error:
        raise Exception(f"URL fetch failure on {origin} : {error.code} -- {error.msg}") from error
    except urllib.error.URLError as error:
        raise Exception(
            f"URL fetch failure on {origin} : {error.errno} -- {error.reason}. Without a network, put the file at {path} yourself."
        ) from error
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def _is_watched():
    """Whether standard output is a terminal or a notebook: elsewhere a bar is thousands of lines in a log."""
    return "ipykernel" in sys.modules or (hasattr(sys.stdout, "isatty") and sys.stdout.isatty())


def validate_file(fpath, file_hash, algorithm="auto", chunk_size=65535):
    """Whether a file has this checksum, of SHA-256 or MD5."""
    use_sha256 = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    digest = hashlib.sha256() if use_sha256 else hashlib.md5()
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            digest.update(chunk)
    return digest.hexdigest() == str(file_hash)


def _extract_archive(file_path, path=".", archive_format="auto"):
    """Unpack a tar or zip archive; False where the file is neither."""
    if archive_format is None:
        return False
    formats = [archive_format] if isinstance(archive_format, str) else archive_format
    formats = ["tar", "zip"] if archive_format == "auto" else formats
    for kind in formats:
        if kind == "tar" and tarfile.is_tarfile(file_path):
            with tarfile.open(file_path) as archive:
                # Members that would land outside the folder are refused.
                archive.extractall(path, filter="data")
            return True
        if kind == "zip" and zipfile.is_zipfile(file_path):
            with zipfile.ZipFile(file_path) as archive:
                archive.extractall(path)
            return True
    return False
