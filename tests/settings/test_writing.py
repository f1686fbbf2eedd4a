"""Settings are written line by line: comments, order and what others wrote stay; a failure changes nothing."""

from __future__ import annotations

import errno
import multiprocessing
import os
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import ProjectSettings, change_project, load_project
from flowcabal_tui.settings.toml_edit import edited
from flowcabal_tui.settings.user_file import UserSettings, change_user, load_user

BOOK = """\
# 我的书 — by hand
[project]
name = "雾城"   # 书名
language = "zh"

# ---- models: do not touch ----
[models.user]
model = "m"   # the good one
base_url = "https://api.example.net/v1"
price_in = 1.25

# ---- money ----
[budget]
context_tokens = 20000  # enough
# the end
"""


def book(folder: Path, text: str = BOOK) -> Path:
    (folder / "flowcabal.toml").write_bytes(text.encode())
    return folder


def text_of(folder: Path) -> str:
    return (folder / "flowcabal.toml").read_bytes().decode()


def with_goal(day: int, settings: ProjectSettings) -> ProjectSettings:
    return settings.model_copy(update={"goals": settings.goals.model_copy(update={"day": day})})


def with_user(settings: ProjectSettings, **values: object) -> ProjectSettings:
    model = settings.models.user
    assert model is not None
    changed = settings.models.model_copy(update={"user": model.model_copy(update=values)})
    return settings.model_copy(update={"models": changed})


def changed_lines(before: str, after: str) -> tuple[set[str], set[str]]:
    old, new = before.split("\n"), after.split("\n")
    return set(old) - set(new), set(new) - set(old)


def test_a_changed_value_keeps_its_comment_and_every_other_line(tmp_path):
    change_project(book(tmp_path), lambda old: with_user(old, model="通义", price_out=Decimal("2.5")))
    assert changed_lines(BOOK, text_of(tmp_path)) == (
        {'model = "m"   # the good one'},
        {'model = "通义"   # the good one', "price_out = 2.5"},
    )


def test_a_new_line_lies_in_its_table_above_the_comment_of_the_next(tmp_path):
    change_project(book(tmp_path), lambda old: with_user(old, secret="mine"))
    lines = text_of(tmp_path).splitlines()
    assert lines[lines.index('secret = "mine"') - 1] == "price_in = 1.25"
    assert lines[lines.index("[budget]") - 1] == "# ---- money ----"


def test_a_new_table_goes_behind_its_family(tmp_path):
    agent = Endpoint(model="small")

    def add(old: ProjectSettings) -> ProjectSettings:
        return old.model_copy(update={"models": old.models.model_copy(update={"agent": agent})})

    change_project(book(tmp_path), add)
    assert load_project(tmp_path).models.agent == agent
    assert '[models.agent]\nmodel = "small"\n\n# ---- money ----' in text_of(tmp_path)


def test_a_table_that_goes_leaves_the_comment_of_the_next(tmp_path):
    change_project(
        book(tmp_path),
        lambda old: old.model_copy(update={"models": old.models.model_copy(update={"user": None})}),
    )
    assert load_project(tmp_path).models.user is None
    assert "# ---- money ----\n[budget]" in text_of(tmp_path)


def test_a_value_that_is_the_default_again_keeps_its_line_and_comment(tmp_path):
    def widen(old: ProjectSettings) -> ProjectSettings:
        return old.model_copy(update={"budget": old.budget.model_copy(update={"context_tokens": 25_000})})

    change_project(book(tmp_path), widen)
    assert "context_tokens = 25000  # enough" in text_of(tmp_path)


def test_nothing_changed_writes_nothing(tmp_path):
    before = (book(tmp_path) / "flowcabal.toml").stat().st_ino
    change_project(tmp_path, lambda old: old)
    assert (tmp_path / "flowcabal.toml").stat().st_ino == before


def test_what_another_program_wrote_meanwhile_stays(tmp_path):
    book(tmp_path, BOOK.replace("20000", "21000"))
    change_project(tmp_path, lambda old: with_goal(2_000, old))
    settings = load_project(tmp_path)
    assert (settings.budget.context_tokens, settings.goals.day) == (21_000, 2_000)


def test_line_ends_of_another_system_stay(tmp_path):
    change_project(book(tmp_path, BOOK.replace("\n", "\r\n")), lambda old: with_goal(5, old))
    text = text_of(tmp_path)
    assert text.count("\n") == text.count("\r\n") == BOOK.count("\n") + 3


@pytest.mark.parametrize(
    "text",
    [
        'models = {user = {model = "m"}}\n[project]\nname = "a"\n',
        'project.name = "a"\nmodels.user.model = "m"\n',
        '[project]\nname = "a"\nauthor = """\n[budget]\nx\n"""\n[models.user]\nmodel = "m"\n',
        '["project"]\nname = "a"\n[ models . user ]\nmodel = \'m\'\n',
    ],
)
def test_every_way_to_write_a_table_is_understood(tmp_path, text):
    known = load_project(book(tmp_path, text))
    change_project(tmp_path, lambda old: with_user(with_goal(7, old), secret="s", price_in=Decimal("0.14")))
    now = load_project(tmp_path)
    assert (now.goals.day, now.models.user.secret, now.models.user.price_in) == (7, "s", Decimal("0.14"))
    assert now.project == known.project


@pytest.mark.parametrize("broken", ["[project\n", '[project]\nname = "a"\nnmae = 3\n'])
def test_a_broken_file_is_named_with_its_line_and_stays(tmp_path, broken):
    with pytest.raises(SettingsError, match="line"):
        change_project(book(tmp_path, broken), lambda old: with_goal(1, old))
    assert text_of(tmp_path) == broken


def test_settings_that_could_not_be_read_again_are_not_written(tmp_path):
    with pytest.raises(SettingsError):
        change_project(book(tmp_path), lambda old: with_goal(-1, old))
    assert text_of(tmp_path) == BOOK


def test_a_file_that_is_locked_against_writing_stays(tmp_path):
    (book(tmp_path) / "flowcabal.toml").chmod(0o444)
    with pytest.raises(PermissionError):
        change_project(tmp_path, lambda old: with_goal(1, old))
    assert text_of(tmp_path) == BOOK


def test_a_full_disk_leaves_the_file_and_no_half_one(tmp_path, monkeypatch):
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    book(tmp_path)
    monkeypatch.setattr("flowcabal_tui.system.files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        change_project(tmp_path, lambda old: with_goal(1, old))
    assert text_of(tmp_path) == BOOK
    assert [path.name for path in tmp_path.glob("*.t*")] == ["flowcabal.toml"] and not list(tmp_path.glob(".*.tmp"))


def _add_many(folder: str, kind: str) -> None:
    for number in range(20):
        name = f"{kind}{number}"

        def add(old: ProjectSettings, name: str = name) -> ProjectSettings:
            more = old.models.more | {name: Endpoint(model=name)}
            return old.model_copy(update={"models": old.models.model_copy(update={"more": more})})

        change_project(Path(folder), add)
        change_user(lambda user, name=name: _with_key(user, name))


def _with_key(user: UserSettings, name: str) -> UserSettings:
    import dataclasses

    return dataclasses.replace(user, keys={**user.keys, name: "f5"})


def test_two_processes_lose_nothing_of_each_other(tmp_path):
    book(tmp_path)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.starmap(_add_many, [(str(tmp_path), "a"), (str(tmp_path), "b")])
    names = {f"{kind}{number}" for kind in "ab" for number in range(20)}
    assert set(load_project(tmp_path).models.more) == set(load_user().keys) == names
    assert text_of(tmp_path).startswith("# 我的书 — by hand\n[project]")


def test_the_lines_of_the_users_file_stay():
    text = '# mine\n\ntheme = "paper"  # light\n\n[keys]\n"run.start" = "f5"  # 运行\n'
    paths.user_file().parent.mkdir(parents=True)
    paths.user_file().write_text(text, "utf-8")
    change_user(lambda user: _with_key(user, "book.search"))
    change_user(lambda user: type(user)(**{**vars_of(user), "language": "zh"}))
    assert (
        paths.user_file().read_text("utf-8")
        == text.replace("# light\n", '# light\nlanguage = "zh"\n') + '"book.search" = "f5"\n'
    )


def vars_of(user: UserSettings) -> dict[str, object]:
    return {name: getattr(user, name) for name in UserSettings.__dataclass_fields__}


def test_a_file_that_is_a_link_stays_one(tmp_path):
    target = tmp_path / "dotfiles.toml"
    target.write_text('theme = "paper"\n')
    paths.user_file().parent.mkdir(parents=True)
    paths.user_file().symlink_to(target)
    change_user(lambda user: _with_key(user, "x"))
    assert paths.user_file().is_symlink() and '"f5"' in target.read_text()


def test_an_array_over_lines_and_a_head_in_a_text_mislead_nobody():
    text = 'a = [\n["x"],\n]\nb = """\n[c]\n"""\n\n[c]\nd = 1\n'
    assert edited(text, [(("c", "e"), 2), (("a",), None), (("z",), "书")]) == (
        'b = """\n[c]\n"""\nz = "书"\n\n[c]\nd = 1\ne = 2\n'
    )
