"""The settings of a project that is opened: a text is checked before anything is opened, and once is enough."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from flowcabal_tui.domain.errors import ProjectNotFound, SettingsError
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.opening import open_settings
from flowcabal_tui.settings.project_file import load_project

GOOD: Final = '[project]\nname = "雾城"\nlanguage = "zh"\n\n[budget]\ncontext_tokens = 20000\n'
BROKEN: Final = {
    "a setting below its least": GOOD.replace("20000", "-5"),
    "an unknown setting": GOOD.replace("context_tokens", "context_token"),
    "no name": GOOD.replace("name", "nam"),
    "another language": GOOD.replace("zh", "fr"),
    "no TOML": GOOD.replace('"zh"', "zh"),
    "a key": GOOD + '\n[models.user]\nmodel = "m"\napi_key = "sk-secret"\n',
}
IMPORTED: Final = """
import sys
from pathlib import Path
from flowcabal_tui.settings.opening import open_settings
opened = open_settings(Path(sys.argv[1]))
print(opened.language, "pydantic" in sys.modules, opened.checked().budget.context_tokens)
"""


def write(folder: Path, text: str) -> Path:
    (folder / "flowcabal.toml").write_text(text, encoding="utf-8")
    return folder


def asked(folder: Path) -> str:
    """What another process sees that opens the settings."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, str(folder)], capture_output=True, text=True, check=True, env=os.environ
    )
    return done.stdout.strip()


def test_a_text_is_checked_once_and_again_after_every_change(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    assert asked(tmp_path) == "zh True 20000"
    assert asked(tmp_path) == "zh False 20000", "its settings are checked when the first is used"
    write(tmp_path, GOOD.replace("20000", "30000"))
    assert asked(tmp_path) == "zh True 30000"


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_the_same_words_however_often_it_was_good(tmp_path: Path, text: str) -> None:
    open_settings(write(tmp_path, GOOD))
    write(tmp_path, text)
    with pytest.raises(SettingsError) as expected:
        load_project(tmp_path)
    for _time in range(2):
        with pytest.raises(SettingsError) as refused:
            open_settings(tmp_path)
        assert str(refused.value) == str(expected.value)
        assert refused.value.title == expected.value.title
        assert "sk-secret" not in str(refused.value)


def test_a_folder_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProjectNotFound):
        open_settings(tmp_path)


@pytest.mark.parametrize("kept", ["", "[]", '{"a": 1}', "[" * 100_000])
def test_a_damaged_list_of_checked_texts_means_that_all_are_checked(tmp_path: Path, kept: str) -> None:
    paths.state_folder().mkdir(parents=True)
    (paths.state_folder() / "checked_settings.json").write_text(kept, encoding="utf-8")
    assert open_settings(write(tmp_path, GOOD)).language == "zh"
    assert asked(tmp_path) == "zh False 20000"


def test_a_list_that_cannot_be_written_keeps_no_book_closed(tmp_path: Path) -> None:
    paths.state_folder().parent.mkdir(parents=True, exist_ok=True)
    paths.state_folder().write_text("in the way", encoding="utf-8")
    assert open_settings(write(tmp_path, GOOD)).checked().project.name == "雾城"
