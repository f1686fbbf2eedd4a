"""What the start page reads of a book, and what it makes of a file that is not what it wrote."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from flowcabal_tui.settings.book_summary import (
    BookSummary,
    book_name,
    book_state,
    forget_summary,
    keep_summary,
    read_summary,
    summary_file,
)
from flowcabal_tui.settings.recent import (
    forget_project,
    recent_projects,
    remember_project,
)

SUMMARY = BookSummary("长河旧事", "zh", 12_000, 7, "c3", 3, "渡口", 181, is_editing=True, day="2026-11-23", today=320)

HOLD = """
import fcntl, os, sys
fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX)
print("held", flush=True)
input()
"""


@pytest.fixture
def book(tmp_path):
    """A folder with a project file."""
    folder = tmp_path / "river"
    folder.mkdir()
    (folder / "flowcabal.toml").write_text('[project]\nname = "长河旧事"\n', encoding="utf-8")
    return folder


def test_a_summary_comes_back_as_it_was_kept_and_only_for_its_own_folder(book, tmp_path):
    keep_summary(book, SUMMARY)
    assert read_summary(book) == SUMMARY
    assert read_summary(tmp_path) is None
    assert summary_file(book).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "change",
    [
        {"form": "flowcabal-book/0"},
        {"path": "/elsewhere"},
        {"summary": {"name": "x", "length": "many"}},
        {"summary": []},
    ],
)
def test_a_file_of_another_form_folder_or_type_reads_as_none(book, change):
    keep_summary(book, SUMMARY)
    kept = json.loads(summary_file(book).read_text(encoding="utf-8"))
    summary_file(book).write_text(json.dumps(kept | change), encoding="utf-8")
    assert read_summary(book) is None


@pytest.mark.parametrize("content", [b"", b"[", b"\xff\xfe", b"[" * 30_000])
def test_a_damaged_file_reads_as_none(book, content):
    keep_summary(book, SUMMARY)
    summary_file(book).write_bytes(content)
    assert read_summary(book) is None


def test_a_book_is_there_missing_or_damaged(book, tmp_path):
    assert book_state(book) == "there"
    assert book_name(book) == "长河旧事"
    assert book_state(tmp_path / "gone") == "missing"
    (book / "flowcabal.toml").write_bytes(b"[project")
    assert book_state(book) == "damaged"


def test_a_project_file_that_is_a_link_is_not_followed(book, tmp_path):
    other = tmp_path / "other.toml"
    (book / "flowcabal.toml").rename(other)
    (book / "flowcabal.toml").symlink_to(other)
    assert book_state(book) == "damaged"


def test_a_book_that_another_process_has_locked_is_open(book):
    (book / ".flowcabal").mkdir()
    lock = book / ".flowcabal" / "lock"
    lock.write_bytes(b"{}")
    assert book_state(book) == "there"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert book_state(book) == "open"
        other.communicate(b"\n")
    assert book_state(book) == "there"


def test_a_forgotten_book_leaves_the_list_and_its_folder_stays(book, tmp_path):
    for folder in (tmp_path, book):
        remember_project(folder)
    keep_summary(book, SUMMARY)
    forget_project(book)
    assert recent_projects() == (tmp_path,)
    assert read_summary(book) is None
    assert (book / "flowcabal.toml").exists()
    forget_summary(book)  # twice is no error
