"""Tables of measurements, and the page they stand in."""

import pytest

from benchmarks import tables
from benchmarks.turns import Job, Outcome


def outcome(*medians, **others):
    return Outcome([{"median": m, **others} for m in medians])


def test_numbers_have_three_digits_that_say_something():
    assert [tables.number(x) for x in (0.01234, 1.5, 12.345, 1234.5)] == ["0.0123", "1.5", "12.3", "1,234"]


def test_programs_with_and_without_others_beside_them():
    found = {
        Job("everflow", "mine"): outcome(2.0, 1.0, 3.0),
        Job("tensorflow", "mine"): outcome(4.0),
        Job("everflow", "own"): outcome(1.0),
    }
    lines = tables.programs_table(found).splitlines()
    assert lines[2] == "| `mine` | 2 (1 to 3) | 4 (4 to 4) | – | 2.00 | – |"
    assert lines[3] == "| `own` | 1 (1 to 1) | – | – | – | – |"
    assert lines[4] == "| geometric mean |  |  |  | 2.00 | – |"


def test_first_steps_and_memory():
    found = {Job("everflow", "mine"): outcome(1.0, first=0.5, until_first=2.5, peak=312.0)}
    assert tables.beginnings_table(found).splitlines()[-1] == "| `mine` | 2.5 | – | – | 0.5 | – | – | 312 | – | – |"


def test_scaling_has_a_row_for_each_size():
    small, large = (("batch", 1),), (("batch", 1000),)
    found = {
        Job("everflow", "mine", small): outcome(1.0, nodes=5),
        Job("everflow", "mine", large): outcome(7.0, nodes=5),
        Job("tensorflow", "mine", large): outcome(8.0, nodes=5),
    }
    assert tables.scaling_table(found).splitlines()[2:] == [
        "| `mine` | batch 1 | 5 | 1 (1 to 1) | – |",
        "| `mine` | batch 1,000 | 5 | 7 (7 to 7) | 8 (8 to 8) |",
    ]


def test_bandwidth_is_that_of_the_bytes_that_must_move():
    found = {Job("torch", "plain_copy"): outcome(10.0), Job("everflow", "reduction"): outcome(10.0)}
    lines = tables.bandwidth_table(found).splitlines()
    assert lines[2] == "| a plain copy | 2 | 13.4 |  |  |  |"
    assert "| `reduction` | 1 | 6.7 | 50% | – | – |" in lines
    assert all(line.count("|") == 7 for line in lines)


def test_what_stands_around_measurements_in_the_page_stays(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
    for text in ("first", "second"):
        tables.write_page(page, text)
    assert page.read_text() == f"before\n{tables.BEGIN}\nsecond\n{tables.END}\nafter\n"


def test_a_page_without_marks_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here")
    with pytest.raises(ValueError, match="one line"):
        tables.write_page(page, "text")
    assert page.read_text() == "nothing here"
