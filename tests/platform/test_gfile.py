"""tf.gfile and tf.io.gfile, against what TensorFlow 1.15.5 does with the same calls."""

import os
import pathlib

import pytest

import everflow as tf
from everflow.platform import file_io

gfile = tf.gfile
errors = tf.errors


@pytest.fixture(autouse=True)
def in_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    with gfile.GFile(name, "w") as f:
        f.write(content)


def test_file_is_made_by_the_first_write():
    f = gfile.GFile("a.txt", "w")
    f.flush()
    assert not os.path.exists("a.txt")
    f.write("héllo\n")
    f.flush()
    assert os.path.getsize("a.txt") == 7 == f.tell()
    f.close()


def test_reading_text_and_bytes():
    write("a.txt", "héllo\nworld\n")
    f = gfile.GFile("a.txt")
    assert f.read() == "héllo\nworld\n"
    assert f.read() == ""
    f.seek(0)
    assert f.readline() == "héllo\n"
    assert f.read(3) == "wor"
    assert f.tell() == 10
    assert f.size() == 13
    assert (f.name, f.mode, f.seekable()) == ("a.txt", "r", True)
    f.close()
    assert f.read().startswith("h")  # a closed file opens again
    assert gfile.Open("a.txt", "rb").readlines() == [b"h\xc3\xa9llo\n", b"world\n"]
    assert list(gfile.FastGFile("a.txt")) == ["héllo\n", "world\n"]


def test_seek():
    write("a", "0123456789")
    f = gfile.GFile("a", "rb")
    f.seek(-3, 2)
    f.seek(1, whence=1)
    assert f.read() == b"89"
    f.seek(position=2)
    assert f.read(2) == b"23"
    with pytest.raises(errors.InvalidArgumentError):
        f.seek(-1)
    with pytest.raises(errors.InvalidArgumentError):
        f.seek(0, 5)
    with pytest.raises(errors.OutOfRangeError):
        f.seek(300)
    with pytest.raises(TypeError):
        f.seek()
    with pytest.raises(OverflowError):
        f.read(-5)


def test_modes():
    write("a", "one")
    with gfile.GFile("a", "a") as f:
        f.write(b"two")
    assert gfile.GFile("a", "r+").read() == "onetwo"
    with gfile.GFile("a", "r+") as f:
        f.write("Z")
    assert gfile.GFile("a").read() == "Z"
    for mode in ("z", "x", "rt"):
        with pytest.raises(errors.InvalidArgumentError):
            gfile.GFile("a", mode)
    with pytest.raises(errors.PermissionDeniedError):
        gfile.GFile("a").write("x")
    with pytest.raises(errors.PermissionDeniedError):
        gfile.GFile("a", "w").read()
    with pytest.raises(TypeError):
        gfile.GFile("a", "w").write(5)


def test_lines_drop_carriage_returns():
    pathlib.Path("a").write_bytes(b"a\r\nb\r\n")
    assert gfile.GFile("a").readlines() == ["a\n", "b\n"]
    assert gfile.GFile("a").read() == "a\r\nb\r\n"


def test_errors_of_opening():
    gfile.MkDir("d")
    with pytest.raises(errors.NotFoundError):
        gfile.GFile("nope").read()
    with pytest.raises(errors.FailedPreconditionError):
        gfile.GFile("d").read()
    with pytest.raises(errors.FailedPreconditionError):
        gfile.GFile("d", "w").write("x")
    with pytest.raises(errors.NotFoundError):
        gfile.GFile("no/such", "w").write("x")


def test_directories():
    gfile.MkDir("d")
    gfile.MkDir("d")
    with pytest.raises(errors.NotFoundError):
        gfile.MkDir("e/f/g")
    gfile.MakeDirs("e/f/g")
    gfile.MakeDirs("e/f/g")
    write("e/f/one.txt", "1")
    write("e/two.txt", "2")
    assert gfile.IsDirectory("e") and not gfile.IsDirectory("e/two.txt") and not gfile.IsDirectory("no")
    assert sorted(gfile.ListDirectory("e/")) == ["f", "two.txt"]
    with pytest.raises(errors.NotFoundError):
        gfile.ListDirectory("e/two.txt")
    assert list(gfile.Walk("e")) == [("e", ["f"], ["two.txt"]), ("e/f", ["g"], ["one.txt"]), ("e/f/g", [], [])]
    assert [top for top, _, _ in gfile.Walk("e", in_order=False)] == ["e/f/g", "e/f", "e"]
    assert list(gfile.Walk("no")) == []
    with pytest.raises(errors.FailedPreconditionError):
        gfile.Remove("d")
    with pytest.raises(errors.FailedPreconditionError):
        gfile.DeleteRecursively("e/two.txt")
    gfile.DeleteRecursively("e")
    with pytest.raises(errors.NotFoundError):
        gfile.DeleteRecursively("e")


def test_glob():
    gfile.MakeDirs("e/f")
    for name in ("w.txt", "e/a.txt", "e/two.txt", "e/.hidden"):
        write(name, "x")
    assert gfile.Glob("e/*") == ["e/.hidden", "e/a.txt", "e/f", "e/two.txt"]
    assert gfile.Glob(["e/?.txt", "*.txt"]) == ["e/a.txt", "./w.txt"]
    assert gfile.Glob("*/[at]*.txt") == ["./e/a.txt", "./e/two.txt"]
    assert gfile.Glob("w.txt") == ["./w.txt"]
    assert gfile.Glob("zz*") == []
    assert gfile.Glob(os.path.abspath("e") + "/t*") == [os.path.abspath("e/two.txt")]
    with pytest.raises(errors.NotFoundError):
        gfile.Glob("no/*")


def test_copy_rename_remove():
    write("a", "1")
    gfile.Copy("a", "b")
    with pytest.raises(errors.AlreadyExistsError):
        gfile.Copy("a", "b")
    gfile.Copy("a", "b", overwrite=True)
    with pytest.raises(errors.NotFoundError):
        gfile.Copy("no", "c")
    gfile.Rename("b", "c")
    with pytest.raises(errors.AlreadyExistsError):
        gfile.Rename("a", "c")
    gfile.Rename("a", "c", overwrite=True)
    with pytest.raises(errors.NotFoundError):
        gfile.Rename("no", "x")
    gfile.Remove("c")
    with pytest.raises(errors.NotFoundError):
        gfile.Remove("c")
    assert not gfile.Exists("c")


def test_stat():
    write("a", "123")
    found = gfile.Stat("a")
    assert (found.length, found.is_directory) == (3, False)
    assert isinstance(found.mtime_nsec, int)
    assert gfile.Stat(".").is_directory
    with pytest.raises(errors.NotFoundError):
        gfile.Stat("no")


def test_kinds_of_path():
    write("a", "1")
    here = os.path.abspath("a")
    assert gfile.Exists(b"a") and gfile.Exists(pathlib.Path("a")) and gfile.Exists("file://" + here)
    with pytest.raises(TypeError):
        gfile.Exists(5)
    with pytest.raises(errors.UnimplementedError):
        gfile.Exists("foo://a")


def test_remote_files():
    gfile.MakeDirs("memory://box/in")
    write("memory://box/in/a.txt", "one\ntwo\n")
    assert gfile.GFile("memory://box/in/a.txt").readlines() == ["one\n", "two\n"]
    assert gfile.Glob("memory://box/in/*.txt") == ["memory://box/in/a.txt"]
    gfile.Copy("memory://box/in/a.txt", "local.txt")
    assert pathlib.Path("local.txt").read_text() == "one\ntwo\n"
    gfile.Rename("memory://box/in/a.txt", "memory://box/in/b.txt")
    assert gfile.ListDirectory("memory://box/in") == ["b.txt"]
    assert gfile.Stat("memory://box/in/b.txt").length == 8
    gfile.DeleteRecursively("memory://box")
    assert not gfile.Exists("memory://box/in/b.txt")
    with pytest.raises(errors.NotFoundError):
        gfile.GFile("memory://box/none").read()


def test_functions_on_whole_files():
    file_io.write_string_to_file("a", "hi")
    file_io.atomic_write_string_to_file("b", "hi")
    assert file_io.read_file_to_string("b", binary_mode=True) == b"hi"
    assert file_io.filecmp("a", "b")
    assert file_io.file_crc32("a") == "0xd8932aac"
    with pytest.raises(errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file("b", "x", overwrite=False)
    assert sorted(os.listdir()) == ["a", "b"]


def test_later_names():
    tf.io.gfile.makedirs("e/f")
    assert tf.io.gfile.isdir("e") and tf.io.gfile.listdir("e") == ["f"]
    seen = []
    assert list(tf.io.gfile.walk("no", onerror=seen.append)) == []
    assert isinstance(seen[0], errors.NotFoundError)
    tf.io.gfile.rmtree("e")
    assert not tf.io.gfile.exists("e")
