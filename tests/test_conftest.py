"""How the tests are handed out."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import LONGEST, pytest_configure


def test_every_file_that_is_to_begin_exists():
    assert [name for name in LONGEST if not (Path(__file__).parent / name).is_file()] == []


def test_the_order_of_the_files_is_kept_by_the_workers(pytestconfig):
    pytest_configure(pytestconfig)
    assert not getattr(pytestconfig.option, "loadscopereorder", False)
