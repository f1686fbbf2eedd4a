"""Settings of an open book: changed from here, confirmed in the same step, and followed when others change the file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.protocol.book import SetGoals
from flowcabal_tui.protocol.settings import (
    ChangeSettings,
    SetModel,
    SettingsChanged,
)
from flowcabal_tui.settings.key_hosts import key_hosts
from flowcabal_tui.settings.project_file import OFFLINE, load_project
from tests.project.case import Case, both, make, opened

HOSTED = Endpoint(
    model="writer", base_url="https://api.example.net/v1", secret="example", price_in=Decimal("1.5"), currency="CNY"
)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    return await make(tmp_path / "book", both(OFFLINE))


def edit(folder: Path, old: str, new: str) -> None:
    """As a writer does with an editor; the program is not told."""
    path = folder / "flowcabal.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def add(folder: Path, lines: str) -> None:
    with (folder / "flowcabal.toml").open("a", encoding="utf-8") as file:
        file.write(lines)


async def seen(case: Case) -> list[SettingsChanged]:
    case.events.clear()
    case.project.take()
    await case.project.settings.look()
    return case.told(SettingsChanged)


async def test_a_model_that_is_set_here_is_confirmed_with_its_host_and_no_other_is(folder: Path) -> None:
    add(folder, '\n[models.embedding]\nmodel = "e"\nbase_url = "https://elsewhere.example.org"\n')
    async with opened(folder) as case:
        await case.project.carry_out(SetModel("user", HOSTED))
        assert dict(case.project.info.models)["user"] == HOSTED
        assert key_hosts().allows("example", "api.example.net")
        assert [item.name for item in (await case.project.models.trust()).asked.items] == ["embedding"]
    assert load_project(folder).models.user == HOSTED


async def test_further_models_come_and_go(folder: Path) -> None:
    async with opened(folder) as case:
        await case.project.carry_out(SetModel("more.草稿", HOSTED))
        assert "草稿" in case.project.info.model_names
        await case.project.carry_out(SetModel("more.草稿"))
        assert "草稿" not in case.project.info.model_names
        for table in ("more", "more.", "users", "user.x"):
            with pytest.raises(SettingsError):
                await case.project.carry_out(SetModel(table, HOSTED))
    assert "草稿" not in (folder / "flowcabal.toml").read_text("utf-8")


async def test_only_harmless_tables_are_set_by_a_command(folder: Path) -> None:
    before = (folder / "flowcabal.toml").read_bytes()
    async with opened(folder) as case:
        for table, values in (
            ("actions", {"role": "x"}),
            ("agents", {"plugins": "x"}),
            ("project", {"id": "x"}),
            ("models", {"user": None}),
        ):
            with pytest.raises(SettingsError):
                await case.project.carry_out(ChangeSettings(table, values))
        with pytest.raises(SettingsError, match="profiles"):
            await case.project.carry_out(ChangeSettings("agents", {"profiles": 99}))
    assert (folder / "flowcabal.toml").read_bytes() == before


@pytest.mark.parametrize("table", ["nothing", "models", "__class__", ""])
async def test_a_table_that_is_unknown_is_refused_even_without_values(folder: Path, table: str) -> None:
    async with opened(folder) as case:
        with pytest.raises(SettingsError, match="There is no table"):
            await case.project.carry_out(ChangeSettings(table, {}))


async def test_a_knowledge_server_that_is_set_here_is_confirmed_and_counts_later(folder: Path) -> None:
    async with opened(folder) as case:
        values = {"enabled": True, "url": "https://knows.example.net", "api_key_env": "KNOWS"}
        await case.project.carry_out(ChangeSettings("knowledge", values))
        assert (await case.project.settings.view()).later == ("knowledge",)
        assert key_hosts().allows("KNOWS", "knows.example.net")
    async with opened(folder) as case:
        view = await case.project.settings.view()
        assert view.settings.knowledge.url and not view.later
        assert not (await case.project.models.trust()).asked.items


async def test_what_another_program_writes_counts_at_once_and_is_said(folder: Path) -> None:
    async with opened(folder) as case:
        assert await seen(case) == []
        add(folder, "\n[goals]\nday = 900\n\n[run]\nconcurrency = 2\n")
        assert await seen(case) == [SettingsChanged(("run", "goals"), ("run",))]
        assert (await case.project.book.overview()).goals.day == 900
        assert await seen(case) == []


async def test_a_host_from_outside_is_held_back_until_it_is_confirmed(folder: Path) -> None:
    async with opened(folder) as case:
        await case.project.carry_out(SetModel("user", HOSTED))
        edit(folder, "api.example.net", "api.example.org")
        await seen(case)
        assert [item.target for item in (await case.project.models.trust()).asked.items if item.kind == "key"] == [
            "api.example.org"
        ]


async def test_a_command_from_outside_is_not_run_under_the_word_for_another(folder: Path) -> None:
    add(folder, '\n[actions.commands]\nsync = ["rm", "-r", "x"]\n')
    async with opened(folder) as case:
        before = case.project._parts.base.settings.actions
        edit(folder, '["rm", "-r", "x"]', '["true"]')
        await seen(case)
        assert case.project._parts.base.settings.actions == before
        assert (await case.project.settings.view()).later == ("actions",)


async def test_a_broken_file_keeps_the_last_good_settings_and_says_where(folder: Path) -> None:
    async with opened(folder) as case:
        await case.project.carry_out(SetGoals(Goals(day=700)))
        edit(folder, "day = 700", "day = 8oo")
        (event,) = await seen(case)
        assert "line" in event.problem and not event.tables
        assert (await case.project.book.overview()).goals.day == 700
        with pytest.raises(SettingsError, match="line"):
            await case.project.carry_out(SetGoals(Goals(day=1)))
        assert "8oo" in (folder / "flowcabal.toml").read_text("utf-8")
        edit(folder, "day = 8oo", "day = 800")
        assert [event.problem for event in await seen(case)] == [""]
        assert (await case.project.book.overview()).goals.day == 800


async def test_a_change_from_here_takes_no_change_from_outside_back(folder: Path) -> None:
    async with opened(folder) as case:
        add(folder, "\n# mine\n[budget]\ncontext_tokens = 9000 # few\n")
        await case.project.carry_out(SetGoals(Goals(day=1)))
        assert case.project._parts.base.settings.budget.context_tokens == 9_000
    assert "# mine\n[budget]\ncontext_tokens = 9000 # few\n" in (folder / "flowcabal.toml").read_text("utf-8")
