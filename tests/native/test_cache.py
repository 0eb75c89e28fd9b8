"""Files that are kept: used again only if whole and private."""

import os

from everflow.native import cache
from everflow.native.cache import Cache


def test_what_is_kept_is_made_once(tmp_path):
    made = []

    def make():
        made.append(1)
        return b"code"

    kept = Cache(tmp_path / "c")
    assert [kept.get("key", make) for _ in range(3)] == [b"code"] * 3
    assert len(made) == 1
    assert Cache(tmp_path / "c").get("key", make) == b"code" and len(made) == 1
    assert kept.get("other", make) == b"code" and len(made) == 2


def test_a_damaged_file_is_made_anew(tmp_path):
    kept = Cache(tmp_path / "c")
    kept.get("key", lambda: b"old")
    [file] = (tmp_path / "c").iterdir()
    for content in (b"", file.read_bytes()[:-1], b"x" + file.read_bytes()[1:]):
        file.write_bytes(content)
        assert kept.get("key", lambda: b"new") == b"new"
        assert kept.get("key", lambda: b"newer") == b"new"


def test_what_others_could_have_written_is_not_used(tmp_path):
    kept = Cache(tmp_path / "c")
    kept.get("key", lambda: b"old")
    [file] = (tmp_path / "c").iterdir()
    os.chmod(file, 0o666)
    assert kept.get("key", lambda: b"new") == b"new"
    os.chmod(tmp_path / "c", 0o777)
    assert kept.get("key", lambda: b"newer") == b"newer"


def test_a_directory_that_cannot_be_written_costs_time_only(tmp_path):
    (tmp_path / "file").write_text("")
    assert Cache(tmp_path / "file" / "c").get("key", lambda: b"code") == b"code"


def test_the_files_not_used_for_longest_go_first(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MOST", 400)
    monkeypatch.setattr(cache, "BETWEEN_COUNTS", 0)
    kept = Cache(tmp_path / "c")
    for number in range(5):
        kept.get(f"key{number}", lambda: bytes(100))
        for file in (tmp_path / "c").iterdir():
            os.utime(file, (file.stat().st_mtime - 10,) * 2)
    assert len(list((tmp_path / "c").iterdir())) == 2
    made = []
    kept.get("key4", lambda: made.append(1) or b"")
    assert not made
