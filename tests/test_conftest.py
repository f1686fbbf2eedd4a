"""How the tests are handed out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import LONGEST, pytest_collection_modifyitems, pytest_configure


@dataclass(eq=False)
class _Item:
    """What the order of tests asks of one."""

    path: Path
    is_slow: bool = False

    def get_closest_marker(self, name: str) -> bool:
        return self.is_slow and name == "slow"


def test_every_file_that_is_to_begin_exists():
    assert [name for name in LONGEST if not (Path(__file__).parent / name).is_file()] == []


def test_the_order_of_the_files_is_kept_by_the_workers(pytestconfig):
    pytest_configure(pytestconfig)
    assert not getattr(pytestconfig.option, "loadscopereorder", False)


def test_slow_tests_begin_after_the_longest_files_and_before_all_others():
    here = Path(__file__).parent
    other, longest, slow = (_Item(here / name) for name in ("a/test_a.py", LONGEST[0], "b/test_b.py"))
    beside = _Item(slow.path)
    slow.is_slow = True
    items = [other, beside, slow, longest]
    pytest_collection_modifyitems(items)
    assert items == [longest, beside, slow, other]


def test_only_reviewed_modules_name_files_outside_the_repository():
    """The tests that use them skip where the files are not there; `-rs` prints the reason."""
    here = Path(__file__).parent
    outside = {
        path.relative_to(here).as_posix()
        for path in here.rglob("*.py")
        for up in re.findall(r"\.parents\[(\d+)\]", path.read_text(encoding="utf-8"))
        if int(up) > len(path.relative_to(here).parts)
    }
    reviewed = {
        "agents/conftest.py",
        "agents/builder_briefs.py",
        "project/test_builder_held.py",
        "store/test_memory.py",
    }
    assert outside == reviewed
    assert "-rs" in (here.parent / "pyproject.toml").read_text(encoding="utf-8")
