"""The settings page: rows, forms, keys by pressing them, and files that another program changes."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Select

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.locale import use_language
from flowcabal_tui.protocol.book import SetGoals
from flowcabal_tui.protocol.settings import (
    ChangeSettings,
    SetModel,
    SettingsChanged,
)
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.key_hosts import keep_model_key, key_hosts
from flowcabal_tui.settings.secrets import read_secrets
from flowcabal_tui.settings.user_file import UserSettings, change_user, load_user
from flowcabal_tui.tui.app.settings.keys import KeysScreen, PressKeyScreen
from flowcabal_tui.tui.app.settings.page import SettingsScreen
from flowcabal_tui.tui.models.model_form import KnownKeys, ModelChoice, ModelForm, call_question, use_question
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, shown
from tests.tui.test_app import app_at_home
from tests.tui.test_workspace import screen_of, told, workspace
from tests.tui.try_out import PROPOSALS
from tests.tui.waiting import settled, until

OWN = '# mine\n\ntheme = "ink"   # dark\nwizard_done = true\n'
KEY = "sk-a-secret-of-the-writer-0123456789"


@pytest.fixture(autouse=True)
def own_file():
    paths.user_file().parent.mkdir(parents=True)
    paths.user_file().write_text(OWN, "utf-8")


async def page(pilot: Pilot[int], row: str = "") -> SettingsScreen:
    """The settings page, with the cursor on a row, which is opened."""
    await pilot.press("dollar_sign")
    await until(pilot, lambda: isinstance(pilot.app.screen, SettingsScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    if row:
        screen.query_one(PickList).pick(row)
        await pilot.press("enter")
        await settled(pilot)
    return screen


def rows(pilot: Pilot[int]) -> str:
    return "\n".join(row.rstrip() for row in shown(pilot.app))


async def fill(pilot: Pilot[int], **values: str) -> None:
    for name, words in values.items():
        field = pilot.app.screen.query_one(f"#field-{name}")
        assert isinstance(field, Input | Select)
        field.value = words
        await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize(("language", "words"), [("en", "Knowledge server"), ("zh", "知识库服务")])
async def test_every_row_is_there_whole_at_either_size(tmp_path: Path, size, language, words):
    change_user(lambda before: replace(before, language=language))
    async with workspace(FakeProject(language), tmp_path, size=size) as pilot:
        use_language(language)
        screen = await page(pilot)
        options = screen.query_one(PickList).options
        assert words in rows(pilot)
        assert [each.id for each in options if not each.disabled] == [
            "book:user", "book:agent", "book:embedding", "project", "goals", "agents", "knowledge",
            "own:user", "own:agent", "own:embedding", "spending", "language", "theme", "keys", "editor",
        ]  # fmt: skip


async def test_the_page_is_there_without_a_book(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("ctrl+w")
        await until(pilot, lambda: pilot.app.departure.project is None)
        screen = await page(pilot)
        ids = {each.id for each in screen.query_one(PickList).options}
        assert "own:user" in ids and "goals" not in ids


async def test_a_model_is_set_with_its_key_in_the_secrets_file_only(tmp_path: Path):
    project = FakeProject(offline=False)
    async with workspace(project, tmp_path, size=(80, 24)) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, preset="DeepSeek")
        assert pilot.app.screen.query_one("#field-base_url", Input).value == "https://api.deepseek.com/v1"
        await fill(pilot, key=f" {KEY}\n", price_in="2", price_out="3.5", context_window="128k")
        assert KEY not in rows(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "api.deepseek.com" in rows(pilot) and "deepseek is sent to" in rows(pilot)
        await pilot.press("y")
        await settled(pilot)
        (command,) = [each for each in project.sent if isinstance(each, SetModel)]
        assert command == SetModel(
            "user",
            Endpoint(
                model="deepseek-chat", base_url="https://api.deepseek.com/v1", secret="deepseek", price_in=Decimal(2),
                price_out=Decimal("3.5"), currency="CNY", context_window=128_000,
            ),
        )  # fmt: skip
        assert "¥2.00 / ¥3.50" in rows(pilot)
        assert KEY not in repr(pilot.app.announcer.notices.listed)
    assert read_secrets() == {"deepseek": KEY}
    assert stat.S_IMODE(paths.secrets_file().stat().st_mode) == 0o600
    assert KEY not in paths.user_file().read_text("utf-8") and KEY not in repr(ModelChoice(command.endpoint, KEY))


async def test_no_means_that_nothing_is_kept(tmp_path: Path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, preset="OpenAI", key=KEY)
        await pilot.press("ctrl+s")
        await settled(pilot)
        await pilot.press("n")
        await settled(pilot)
    assert not [each for each in project.sent if isinstance(each, SetModel)]
    assert not paths.secrets_file().exists()


async def test_a_price_changed_in_a_strangers_book_does_not_bind_the_writers_key_unasked(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    project = FakeProject()
    evil = Endpoint(model=HOSTILE, base_url="https://evil.example.org/v1", api_key_env="DEEPSEEK_API_KEY")
    project.settings.apply(SetModel("user", evil))
    async with workspace(project, tmp_path) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, price_in="1")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "The key DEEPSEEK_API_KEY is sent to evil.example.org." in rows(pilot)


def test_a_key_that_belongs_to_another_host_is_not_overwritten():
    mine = keep_model_key(Endpoint(model="a", base_url="https://api.example.net", secret="mine"), "k1")
    change_user(lambda _before: UserSettings(key_hosts={mine.secret: ("api.example.net",)}))
    assert keep_model_key(mine, "k2").secret == "mine"
    other = keep_model_key(Endpoint(model="a", base_url="https://api.example.org", secret="mine"), "k3")
    assert other.secret == "api.example.org" and read_secrets() == {"mine": "k2", "api.example.org": "k3"}


@pytest.mark.parametrize(
    ("field", "typed"),
    [("model", ""), ("base_url", "example.net"), ("price_in", "dear"), ("price_in", "NaN"), ("context_window", "0"),
     ("key", "密钥"), ("base_url", "https://a b/v1")],
)  # fmt: skip
async def test_what_cannot_be_read_keeps_the_form_open(tmp_path: Path, field: str, typed: str):
    async with workspace(FakeProject(offline=False), tmp_path) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, **{field: typed})
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ModelForm) and "! " in rows(pilot)


def test_the_question_before_a_call_names_host_key_and_cost():
    priced = Endpoint(
        model="m", base_url="https://api.example.net/v1", secret="s", price_in=Decimal(1000), price_out=Decimal(1000),
        currency="CNY",
    )  # fmt: skip
    title, price, words = call_question(ModelChoice(priced, KEY))
    assert "api.example.net" in title and "The key s is sent to api.example.net." in words
    assert "At most: ¥0.04" in price and KEY not in " ".join((title, *price, *words))
    assert "At most: unknown (no price is set)" in call_question(ModelChoice(Endpoint(model="m")))[1]
    _title, price, words = call_question(ModelChoice(Endpoint(model="m", base_url="http://127.0.0.1:1/v1")))
    assert not price and "It costs nothing: the server is on this machine." in words


def test_a_question_says_of_a_key_that_nobody_entered_that_there_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    choice = ModelChoice(Endpoint(model="m", base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY"))
    missing = "There is no key OPENAI_API_KEY yet. As soon as there is one, it is sent to api.openai.com."
    assert missing in use_question(choice)[1] and "No key is sent." in call_question(choice)[2]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    sent = "The key OPENAI_API_KEY is sent to api.openai.com."
    assert sent in use_question(choice)[1] and sent in call_question(choice)[2]


@pytest.mark.parametrize(("answer", "calls"), [("n", 0), ("y", 1)])
async def test_one_call_is_made_after_yes_and_none_before(tmp_path: Path, monkeypatch, answer: str, calls: int):
    asked: list[tuple[Endpoint, str | None]] = []

    class Model:
        endpoint = Endpoint(model="m", context_window=5)

        def __init__(self, endpoint: Endpoint, key: str | None) -> None:
            asked.append((endpoint, key))

        async def answer(self, request: object) -> None:
            raise ModelError("auth", "The key was refused", "[/b] no")

        async def aclose(self) -> None:
            pass

    monkeypatch.setattr("flowcabal_tui.project.models.trying.make_model", Model)
    async with workspace(FakeProject(), tmp_path) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, preset="OpenAI", key=KEY)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press(answer)
        await settled(pilot)
        assert [(each.retries, key) for each, key in asked] == [(0, KEY)] * calls
        assert ("! The key was refused" in rows(pilot)) is bool(calls)
    assert not paths.secrets_file().exists(), "a try keeps nothing"


async def test_a_try_that_takes_long_is_shown_with_its_seconds_and_can_be_stopped(tmp_path: Path, monkeypatch):
    asked, ended = asyncio.Event(), asyncio.Event()

    async def slow(endpoint: Endpoint, key: str, *, embeds: bool) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr("flowcabal_tui.project.models.trying.try_model", slow)
    async with workspace(FakeProject(), tmp_path) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, preset="Ollama", model="qwen3:8b")
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await asked.wait()
        await until(pilot, lambda: "0 s   Esc: cancel" in rows(pilot))
        assert "qwen3:8b is being asked" in rows(pilot)
        await pilot.press("escape")
        await ended.wait()
        await until(pilot, lambda: "The call was stopped." in rows(pilot))
        assert isinstance(pilot.app.screen, ModelForm)


async def test_a_key_does_not_go_over_plain_http_even_for_a_try(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, preset="openai", model="m", base_url="http://models.example.net/v1", key=KEY)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await settled(pilot)
        assert "over plain http" in rows(pilot)


async def test_a_further_model_is_added_and_taken_away(tmp_path: Path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        screen = await page(pilot)
        await pilot.press("plus", *"draft", "enter")
        await settled(pilot)
        await fill(pilot, preset="Ollama", model="qwen3:8b")
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert project.settings.shown.settings.models.more["draft"].is_local
        screen.query_one(PickList).pick("book:more.draft")
        await pilot.press("D", "y")
        await settled(pilot)
        assert not project.settings.shown.settings.models.more


async def test_models_of_new_books_are_in_the_users_file(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await page(pilot, "own:user")
        await fill(pilot, preset="DeepSeek", key=KEY)
        await pilot.press("ctrl+s")
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
    model = load_user().models.user
    assert model is not None and model.secret == "deepseek"
    assert key_hosts().allows("deepseek", "api.deepseek.com")
    assert paths.user_file().read_text("utf-8").startswith(OWN)


async def test_goals_agents_and_the_book_have_forms(tmp_path: Path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await page(pilot, "goals")
        await fill(pilot, day="2000")
        await pilot.press("ctrl+s")
        await settled(pilot)
        screen = pilot.app.screen
        assert "a day 2,000" in rows(pilot)
        for row, name, words in (("project", "author", "林一"), ("agents", "profiles", "5")):
            screen.query_one(PickList).pick(row)
            await pilot.press("enter")
            await settled(pilot)
            assert isinstance(pilot.app.screen, FormScreen)
            await fill(pilot, **{name: words})
            await pilot.press("ctrl+s")
            await settled(pilot)
    assert SetGoals(Goals(day=2_000)) in project.sent
    changes = {each.table: each.values for each in project.sent if isinstance(each, ChangeSettings)}
    assert changes["project"]["author"] == "林一" and changes["agents"]["profiles"] == 5


@pytest.mark.parametrize(("answer", "sent"), [("n", 0), ("y", 1)])
async def test_a_knowledge_server_elsewhere_is_asked_for(tmp_path: Path, answer: str, sent: int):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await page(pilot, "knowledge")
        await fill(pilot, url="https://knows.example.net")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "knows.example.net" in rows(pilot)
        await pilot.press(answer)
        await settled(pilot)
    assert len([each for each in project.sent if isinstance(each, ChangeSettings)]) == sent


@pytest.mark.parametrize(
    ("keys", "typed", "line"),
    [
        (("j",), "", 'memory_spending = "never"'),
        (("j", "j"), "0.50", "memory_spending = 0.50"),
        (("j", "j"), "-1", ""),
        (("j", "j"), "lots", ""),
    ],
)
async def test_what_background_work_may_cost_is_chosen_for_all_books(tmp_path, keys, typed, line):
    async with workspace(FakeProject(), tmp_path) as pilot:
        screen = await page(pilot, "spending")
        assert isinstance(pilot.app.screen, ChooseScreen)
        await pilot.press(*keys, "enter")
        await settled(pilot)
        if typed:
            pilot.app.screen.query_one(Input).value = typed
            await pilot.press("enter")
            await settled(pilot)
        assert (pilot.app.screen is screen) == bool(line)
    assert [row for row in paths.user_file().read_text("utf-8").splitlines() if "spending" in row] == [line] * bool(
        line
    )


async def test_colours_change_at_once_and_keep_their_comment(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        screen = await page(pilot, "theme")
        pilot.app.screen.query_one(PickList).pick("paper")
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.theme == "paper" and pilot.app.screen is screen
    assert 'theme = "paper"   # dark' in paths.user_file().read_text("utf-8")


async def test_the_language_changes_at_once(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await page(pilot, "language")
        pilot.app.screen.query_one(PickList).pick("zh")
        await pilot.press("enter")
        await until(pilot, lambda: "章节" in rows(pilot))
    assert load_user().language == "zh"


async def keys_page(pilot: Pilot[int], row: str) -> KeysScreen:
    await page(pilot, "keys")
    await until(pilot, lambda: isinstance(pilot.app.screen, KeysScreen))
    screen = pilot.app.screen
    assert isinstance(screen, KeysScreen)
    screen.query_one(PickList).pick(row)
    return screen


async def test_a_key_is_changed_by_pressing_it_twice_and_works_at_once(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await keys_page(pilot, "story.names")
        await pilot.press("enter", "ctrl+t")
        await until(pilot, lambda: "Ctrl+t: press it again" in rows(pilot))
        await pilot.press("ctrl+t")
        await settled(pilot)
        assert load_user().keys == {"story.names": "ctrl+t"}
        await pilot.press("escape", "escape")
        await settled(pilot)
        bound = {active.binding.id: active.binding.key for active in pilot.app.screen.active_bindings.values()}
        assert bound["story.names"] == "ctrl+t"
    assert OWN.strip() in paths.user_file().read_text("utf-8")


async def test_a_key_of_another_action_is_named_and_another_can_be_pressed(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path, size=(80, 24)) as pilot:
        await keys_page(pilot, "story.names")
        await pilot.press("enter", "ctrl+q")
        await until(pilot, lambda: "close the project and quit" in rows(pilot))
        assert isinstance(pilot.app.screen, PressKeyScreen)
        await pilot.press("f1", "escape")
        await settled(pilot)
    assert not load_user().keys


async def test_a_further_key_and_those_that_it_comes_with(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await keys_page(pilot, "story.names")
        await pilot.press("plus", "ctrl+t", "ctrl+t")
        await settled(pilot)
        assert load_user().keys == {"story.names": "8,ctrl+t"}
        await pilot.press("D")
        await settled(pilot)
        assert not load_user().keys


async def test_a_broken_file_of_the_user_is_named_and_stays(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        paths.user_file().write_text("theme = \n", "utf-8")
        screen = await page(pilot)
        assert "is not valid TOML" in rows(pilot) and "line 1" in rows(pilot)
        screen.query_one(PickList).pick("theme")
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
    assert paths.user_file().read_text("utf-8") == "theme = \n"


async def test_the_users_file_changed_outside_counts_at_once(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        paths.user_file().write_text(OWN.replace("ink", "paper") + '[keys]\n"story.names" = "ctrl+t"\n', "utf-8")
        pilot.app.preferences.look()
        await settled(pilot)
        assert pilot.app.theme == "paper"
        assert pilot.app.preferences.own_keys == {"story.names": "ctrl+t"}
        paths.user_file().write_text("theme = \n", "utf-8")
        pilot.app.preferences.look()
        assert pilot.app.theme == "paper"
        assert any("line 1" in each.words for each in pilot.app.announcer.notices.listed)


async def test_a_book_file_changed_outside_is_told_with_what_counts_later(tmp_path: Path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, SettingsChanged(("goals", "run"), ("run",)))
        await told(pilot, project, SettingsChanged(problem=f"line 3 {HOSTILE}"))
        words = [each.words for each in pilot.app.announcer.notices.listed]
        assert any("In force: goals. When the book is opened again: run." in each for each in words)
        assert any("line 3" in each and "last valid settings" in each for each in words)


def test_keys_that_are_there_are_offered_by_name_only(monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    keep_model_key(Endpoint(model="a", base_url="https://api.openai.com/v1", secret="openai"), KEY)
    known = KnownKeys.now()
    assert known == KnownKeys(frozenset({"openai"}), frozenset({"DEEPSEEK_API_KEY"})) and KEY not in repr(known)


async def test_the_wizard_has_the_same_form_and_asks_before_it_goes_on(tmp_path: Path):
    seen: list[object] = []
    app = app_at_home(tmp_path, seen, wizard_done=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter", "enter")
        app.screen.query_one("#wizard-list", OptionList).highlighted = len(PROPOSALS)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ModelForm))
        await fill(pilot, preset="DeepSeek", key=KEY)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "api.deepseek.com" in rows(pilot)
        await pilot.press("y")
        await settled(pilot)
        assert "4/4" in rows(pilot)
        await pilot.press("end", "enter")
        await settled(pilot)
    ((_settings, choice),) = seen
    assert isinstance(choice, ModelChoice) and (choice.key, choice.endpoint.secret) == (KEY, "deepseek")


async def test_the_status_line_follows_a_change_of_the_model(tmp_path: Path):
    project = FakeProject()
    project._info = replace(project._info, offline=True)
    async with workspace(project, tmp_path) as pilot:
        assert "offline model" in screen_of(pilot).status.words
        await page(pilot)
        project._info = replace(project._info, offline=False)
        await pilot.press("escape")
        await until(pilot, lambda: "offline model" not in screen_of(pilot).status.words)


async def test_a_book_without_a_model_gets_one_by_the_form(tmp_path: Path):
    project = FakeProject()
    project._info = replace(project._info, models=())
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelForm))
        await fill(pilot, preset="Ollama", model="qwen3:8b")
        await pilot.press("ctrl+s")
        await settled(pilot)
    assert [each.table for each in project.sent if isinstance(each, SetModel)] == ["user"]


async def test_after_a_no_to_the_use_of_a_model_the_form_has_what_was_typed(tmp_path: Path):
    project = FakeProject(offline=False)
    async with workspace(project, tmp_path, size=(80, 24)) as pilot:
        await page(pilot, "book:user")
        await fill(pilot, preset="DeepSeek", price_in="2")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("n")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ModelForm)
        assert pilot.app.screen.query_one("#field-price_in", Input).value == "2"
        assert not [each for each in project.sent if isinstance(each, SetModel)]
