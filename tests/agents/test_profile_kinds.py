"""Kinds of profile are folders of plain files: ours, and the writer's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.errors import SettingsError

CUSTOMS = 'subject = "book"\nscenes = ["daily"]\n[title]\nen = "Customs"\n'


def add(root: Path, name: str, settings: str = CUSTOMS, **prompts: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "kind.toml").write_text(settings, encoding="utf-8")
    for file, text in ({"prompt": "What people do every day."} | prompts).items():
        (folder / f"{file.replace('_', '.')}.md").write_text(text, encoding="utf-8")
    return folder


def test_the_five_kinds_and_emotional_arcs_are_there() -> None:
    kinds = {kind.name: kind for kind in ProfileKinds().all()}
    assert set(kinds) == {"characters", "plot-threads", "emotional-arcs", "world-state", "themes", "style"}
    assert {name for name, kind in kinds.items() if kind.of_book} == {"world-state", "themes", "style"}
    assert kinds["world-state"].is_read_in("battle")
    assert kinds["emotional-arcs"].is_read_in("turn")
    assert not kinds["emotional-arcs"].is_read_in("battle")
    assert all(kind.prompt("zh").strip() for kind in kinds.values())


def test_a_folder_of_the_project_is_a_new_kind(tmp_path: Path) -> None:
    add(tmp_path, "customs")
    kind = ProfileKinds(tmp_path).get("customs")
    assert (kind.title, kind.uri(None), kind.is_read_in("daily")) == ("Customs", "profiles/customs/book", True)


def test_a_folder_of_our_name_takes_the_place_of_ours(tmp_path: Path) -> None:
    add(tmp_path, "style", prompt="Only the rhythm.")
    assert ProfileKinds(tmp_path).get("style").prompt("en") == "Only the rhythm."
    assert len(ProfileKinds(tmp_path).all()) == len(ProfileKinds().all())


def test_a_prompt_in_the_books_language_is_read_where_there_is_one(tmp_path: Path) -> None:
    add(tmp_path, "customs", prompt_zh="风俗。")
    kind = ProfileKinds(tmp_path).get("customs")
    assert (kind.prompt("zh"), kind.prompt("en")) == ("风俗。", "What people do every day.")
    assert kind.digest("zh") != kind.digest("en")


@pytest.mark.parametrize(
    ("name", "settings", "prompt", "said"),
    [
        ("customs", 'subject = "planet"\n[title]\nen = "X"\n', "x", "subject"),
        ("customs", CUSTOMS + "colour = 3\n", "x", "colour"),
        ("customs", "subject = ", "x", "Invalid value"),
        ("customs", "x=" + "[" * 5_000, "x", "too deeply"),
        ("customs", CUSTOMS, "  \n", "empty"),
        ("customs", CUSTOMS, "x" * 20_001, "longer"),
        ("my customs", CUSTOMS, "x", "letters"),
    ],
    ids=("subject", "unknown", "syntax", "deep", "empty", "long", "name"),
)
def test_a_folder_that_is_wrong_is_told_and_harms_no_other(
    tmp_path: Path, name: str, settings: str, prompt: str, said: str
) -> None:
    add(tmp_path, name, settings, prompt=prompt)
    kinds = ProfileKinds(tmp_path)
    (problem,) = kinds.problems()
    assert name in problem.title
    assert said in problem.detail
    assert len(kinds.all()) == len(ProfileKinds().all())
    with pytest.raises(SettingsError):
        kinds.get(name)


def test_a_missing_prompt_and_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (add(tmp_path, "one") / "prompt.md").unlink()
    (add(tmp_path, "two") / "kind.toml").write_bytes(b"\xff\xfe\x00")
    assert len(ProfileKinds(tmp_path).problems()) == 2


def test_control_sequences_in_a_folder_of_others_are_taken_out(tmp_path: Path) -> None:
    settings = 'subject = "book"\n[title]\nen = "A\\u001b[31m\\nB"\n[words]\nen = ["\\u202eword"]\n'
    add(tmp_path, "customs", settings, prompt="Say \x1b[31mred\x1b[0m.")
    kind = ProfileKinds(tmp_path).get("customs")
    assert (kind.title, kind.words("en"), kind.prompt("en")) == ("A B", ("word",), "Say red.")


def test_the_example_of_the_documentation_is_a_kind(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "profiles.md").read_text(encoding="utf-8")
    add(tmp_path, "weapons", page.partition("```toml\n")[2].partition("```")[0])
    kind = ProfileKinds(tmp_path).get("weapons")
    assert (kind.title, kind.settings.every, kind.words("zh")) == ("Weapons", 10, ("剑", "弓", "盾"))
