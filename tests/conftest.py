"""What every test gets: folders of its own, English words, and nothing of the developer's environment."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from flowcabal_tui.domain.garbage import YOUNG
from flowcabal_tui.locale import use_language
from flowcabal_tui.project import base
from tests.thread_workshop import ThreadWorkshop

KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
    "DASHSCOPE_API_KEY",
    "MOONSHOT_API_KEY",
    "ZHIPUAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
)
LONGEST = (
    "project/test_knowledge.py",
    "project/test_vector_spending.py",
    "tui/test_jobs.py",
    "project/test_kills.py",
    "viking/test_server.py",
    "tui/test_settings_page.py",
    "cli/test_importing.py",
    "project/test_knowledge_contents.py",
    "cli/test_session.py",
    "project/test_main_job.py",
    "project/test_profiles.py",
    "project/test_quote_bounds.py",
    "tui/test_workspace_use.py",
    "project/test_conversation_kills.py",
    "cli/test_kill.py",
    "viking/test_sync.py",
    "viking/test_installer.py",
    "viking/test_manifest.py",
    "snapshots/test_whole.py",
)
"""Files of tests that take longest, under `tests/`, longest first: the workers end at the same time if these begin."""

_MEMORY = Path("/dev/shm")
"""A file system in memory, as Linux has one: what a test writes there waits for no disk."""
_ROOM = 2 << 30
"""Bytes that must be free in it: a whole run takes a tenth of that at most."""

_LONGEST_NAME = 300
"""Characters of a parameter that may be its name."""

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # on a busy one, examples may take long: no test looks at a clock


def pytest_configure(config: pytest.Config) -> None:
    """xdist begins with the files that have most tests, which are not those that take longest.

    Garbage is collected as the product does: with Python's own thresholds it takes a third of the processor time.
    """
    gc.set_threshold(YOUNG, 20, 50)
    if _holds_tests(_MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def _holds_tests(folder: Path) -> bool:
    """Whether there is room for the files of a run, and programs can be started from there."""
    try:
        return shutil.disk_usage(folder).free >= _ROOM and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except (OSError, AttributeError):  # no such folder; no such question on this system
        return False


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is named by its beginning and its length: each worker sends the names of all tests."""
    return f"{val[:60]!r}... {len(val)}" if isinstance(val, str | bytes) and len(val) > _LONGEST_NAME else None


def pytest_xdist_auto_num_workers() -> int:
    """Up to twice the processors: for half of its time a test waits, for the disk, servers and other processes."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + min(processors, 4)


@pytest.hookimpl(trylast=True)  # pytest itself puts those with the same session fixture together
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with the longest files, then those with `slow` tests: `--dist loadfile` hands them out in this order."""
    here = Path(__file__).parent
    slow = {item.path: len(LONGEST) for item in items if item.get_closest_marker("slow")}
    places = slow | {here / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST) + 1))


def pytest_collection_finish() -> None:
    """Exempts all modules and tests from collection."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """pytest collects garbage five times at its end, for seconds: there is nothing left that a warning could help."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def folders_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same for fixtures that live as long as the session: nothing of theirs reaches the developer's folders."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "STATE", "CACHE", "DATA"):
            patch.setenv(f"FLOWCABAL_{name}_DIR", str(home / name.lower()))
        temporary = str(tmp_path_factory.mktemp("tmp"))
        patch.setenv("TMPDIR", temporary)
        patch.setattr(tempfile, "tempdir", temporary)
        yield


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Settings, state, cache and data of the test, and English words, also after a test that switched them.

    Keys of the developer are out of sight.
    """
    home = tmp_path / "home"
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"FLOWCABAL_{name}_DIR", str(home / name.lower()))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FLOWCABAL_LANG", "en")
    use_language("en")
    yield home
    use_language("en")


@pytest.fixture(autouse=True)
def work_in_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects that a test opens start no helper process, unless it has the mark `helper_process`."""
    if request.node.get_closest_marker("helper_process") is None:
        monkeypatch.setattr(base, "Workshop", ThreadWorkshop)
