"""The pages are true: generated ones are current, commands parse, settings load, links lead somewhere, files exist."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from flowcabal_tui.cli.parser import parser
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.messages import from_message
from flowcabal_tui.settings.paths import PROJECT_FILE, user_file
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.settings.user_file import load_user
from flowcabal_tui.tui.app.keymap import key_problems
from flowcabal_tui.tui.app.keys_page import keys_page
from flowcabal_tui.tui.widgets.cells import cell_width
from tests.pages.settings import settings_page

ROOT = Path(__file__).parent.parent
GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = sorted((ROOT / "docs" / "images").glob("*.svg"))
OF_A_USER = frozenset(
    {
        *("flowcabal.toml", "config.toml", "secrets.toml"),  # settings of a project and of its user
        *("prompt.zh.md", "prompt.en.md"),  # of a profile kind of the user's own
        "REPORT.md",  # written by `rescue`
    }
)
"""Files that the pages name and that are not in the repository. Paths with NAME stand for files to be written."""
GUIDE = pytest.mark.parametrize("guide", GUIDES, ids=lambda page: page.stem)
PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of that language, without the indent of a list."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", code, flags=re.MULTILINE) for indent, code in found]


def commands(page: Path) -> list[list[str]]:
    """What stands behind `flowcabal-tui` on every line of shell, and wherever it is named in a sentence."""
    lines = [line for code in blocks(page, "sh") for line in code.splitlines()]
    spoken = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", page.read_text(encoding="utf-8"))
    typed = [shlex.split(line, comments=True) for line in lines + spoken if "flowcabal-tui " in line]
    return [words[1:] for words in typed if words[0].endswith("flowcabal-tui")]


def test_the_page_of_keys_is_current() -> None:
    assert (ROOT / "docs" / "keys.md").read_text(encoding="utf-8") == keys_page()


def test_the_page_of_settings_is_current() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_page()


def test_every_setting_says_what_it_does() -> None:
    assert "None |" not in settings_page()


@PAGE
def test_every_command_parses(page: Path) -> None:
    for words in commands(page):
        assert parser().parse_args(words).command, words


@GUIDE
def test_the_guide_shows_every_command(guide: Path) -> None:
    shown = {parser().parse_args(words).command for words in commands(guide)}
    assert shown >= {"demo", "new", "open", "import", "run", "decide", "keep", "status", "export", "doctor", "models"}


def test_a_command_that_does_not_exist_would_be_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nflowcabal-tui run mybook --chapters 7  # wrong\n```\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        parser().parse_args(commands(page)[0])
    assert "--chapters" in capsys.readouterr().err


@GUIDE
def test_settings_of_the_guide_can_be_used(guide: Path, tmp_path: Path) -> None:
    project, user = blocks(guide, "toml")
    assert project.startswith("# flowcabal.toml") and user.startswith("# config.toml")
    (tmp_path / PROJECT_FILE).write_text(project, encoding="utf-8")
    assert load_project(tmp_path).models.user is not None
    user_file().parent.mkdir(parents=True)
    user_file().write_text(user, encoding="utf-8")
    keys = load_user().keys
    assert keys and key_problems(keys) == ()


@GUIDE
def test_json_of_the_guide_is_a_command(guide: Path) -> None:
    (line,) = blocks(guide, "json")
    assert isinstance(from_message(json.loads(line)), Command)


@PAGE
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    missing = [
        target for target in targets if "://" not in target and not (page.parent / target.partition("#")[0]).exists()
    ]
    assert not missing


def files_named(page: Path) -> set[str]:
    """The paths and names of source files, settings and pages in backticks."""
    quoted = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    path = r"(?<![\w./~<>$*{}-])[\w./-]*\w\.(?:py|toml|md)(?![\w.-])"
    return {found for words in quoted for found in re.findall(path, words) if "NAME" not in found}


def missing_files(page: Path) -> set[str]:
    """Files that a page names and that are nowhere in the repository, also not below a folder of it."""
    named = {name for name in files_named(page) if not (ROOT / name).exists()}
    return {name for name in named - OF_A_USER if not any(f"/{path}".endswith(f"/{name}") for path in _tracked())}


@cache
def _tracked() -> tuple[str, ...]:
    """Paths of the source, the tests and the pages, without what tools leave behind."""
    folders = [ROOT / name for name in ("flowcabal_tui", "tests", "docs", "themes")]
    return tuple(path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*.*"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_files_that_a_page_names_exist(page: Path) -> None:
    assert missing_files(page) == set()


def test_a_file_that_does_not_exist_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`flowcabal_tui/desk.py`, `runner/run.py`, `shown.py`, `flowcabal.toml`\n", encoding="utf-8")
    assert missing_files(page) == {"flowcabal_tui/desk.py", "shown.py"}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_fetches_nothing_and_names_no_place(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert "://" not in text and "@font-face" not in text
    assert not re.search(r"(?<![\w.])/(home|root|tmp|work|Users)/", text.replace("&#160;", " "))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_texts_of_a_picture_are_as_long_as_their_cells(picture: Path) -> None:
    """Rich counts characters, and a reader's browser squeezes the Chinese ones into half their width."""
    drawn = picture.read_text(encoding="utf-8")
    texts = re.findall(r'<text class="[^"]*-r\d[^>]*textLength="([\d.]+)"[^>]*>([^<]*)<', drawn)
    assert texts
    assert {words for length, words in texts if abs(float(length) / 12.2 - cell_width(unescape(words))) > 0.1} == set()


def test_the_guides_have_the_same_chapters_and_commands() -> None:
    shapes = [
        (len(re.findall(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)), len(blocks(page, "sh")))
        for page in GUIDES
    ]
    assert len(shapes) == 2 and shapes[0] == shapes[1]


def test_the_words_in_code_of_the_glossary_exist() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Z][A-Za-z]+)`", page))
    assert len(named) > 20
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "flowcabal_tui").rglob("*.py"))
    defined = set(re.findall(r"^(?:class )?([A-Z][A-Za-z]+)(?:\(|:| = )", source, flags=re.MULTILINE))
    assert named <= defined
