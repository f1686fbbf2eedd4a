"""Old names of flags work for one release."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.cli.commands import COMMANDS
from flowcabal_tui.cli.dispatch import OLD_FLAGS, with_new_names
from flowcabal_tui.cli.parser import parser
from tests.cli.conftest import Call, Make
from tests.project.case import write_chapters


def test_an_old_flag_does_what_the_new_one_does_and_says_its_new_name(
    project: Make, call: Call, tmp_path: Path
) -> None:
    folder, texts = project(), write_chapters(tmp_path / "texts")
    new = call("import", folder, texts, "--dry-run", "--json", "--first", 2)
    old = call("import", folder, texts, "--dry-run", "--json", "--last", 2)
    assert (old.code, old.out) == (0, new.out)
    assert "--last is now called --first" in old.err and "is now called" not in new.err
    assert call("import", folder, texts, "--dry-run", "--json", "--last=2").out == new.out


@pytest.mark.parametrize(
    "words",
    [["import", "book", "--", "--last"], ["bootstrap", "book", "--last"], ["import", "book", "--first", "2"]],
    ids=["a value", "a flag of another command", "the new name"],
)
def test_other_words_stay_as_they_are(words: list[str]) -> None:
    assert with_new_names(words, COMMANDS) == (words, {})


@pytest.mark.parametrize(("command", "old"), OLD_FLAGS)
def test_only_the_new_name_is_in_the_help(command: str, old: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([command, "--help"])
    shown = capsys.readouterr().out
    assert OLD_FLAGS[command, old] in shown and old not in shown
