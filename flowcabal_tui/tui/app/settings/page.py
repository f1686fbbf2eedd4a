"""The settings page: one row per setting; Enter changes it, in the user's file or in that of the open book."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import _, mark
from flowcabal_tui.protocol.book import SetGoals
from flowcabal_tui.protocol.settings import ChangeSettings, SetModel
from flowcabal_tui.settings.key_hosts import keep_model_key, key_hosts
from flowcabal_tui.settings.project_file import AgentsSettings, KnowledgeSettings, ModelsSettings, ProjectTable
from flowcabal_tui.settings.user_file import SpendingRule, UserSettings, change_user, load_user
from flowcabal_tui.tui.app.settings.rows import AGENT_WORDS, LANGUAGES, ROLE_WORDS, SPENDING, SettingRow, sections
from flowcabal_tui.tui.app.themes import theme_words
from flowcabal_tui.tui.book.days import goals_form
from flowcabal_tui.tui.models.model_form import KnownKeys, ModelChoice, ModelForm, use_question
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.widgets.column_rows import Column, Columns
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.roles import role_style

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.project.services.settings import SettingsView
    from flowcabal_tui.tui.shared.form import FormScreen

Values = dict[str, str | int | bool | None]


def project_form(project: ProjectTable) -> FormScreen[Values]:
    """The form for title, author and language of the book."""

    def read(typed: Typed) -> Values:
        if not typed.text("name"):
            raise Unreadable(_("The book needs a name."))
        return {name: typed.text(name) for name in ("name", "author", "language")} | {
            "blank_lines_break": typed.tick("blank_lines_break")
        }

    fields = (
        Field("name", _("Title"), project.name),
        Field("author", _("Author"), project.author),
        Field("language", _("Language of the book"), project.language, choices=(("zh", "中文"), ("en", "English"))),
        Field("blank_lines_break", _("more blank lines than usual break scenes"), project.blank_lines_break),
    )
    return FormScreen(_("This book"), fields, read)


def agents_form(agents: AgentsSettings) -> FormScreen[Values]:
    """The form for the enabled agents, and the number of profiles rewritten after a kept chapter."""

    def read(typed: Typed) -> Values:
        values: Values = {name: typed.tick(name) for name in AGENT_WORDS}
        profiles = typed.text("profiles")
        if not (profiles.isascii() and profiles.isdigit() and int(profiles[:4]) <= 50):
            raise Unreadable(_("The number of profiles must be from 0 to 50."))
        return values | {"profiles": int(profiles)}

    ticks = tuple(Field(name, _(words), bool(getattr(agents, name))) for name, words in AGENT_WORDS.items())
    profiles = Field(
        "profiles", _("Profiles a chapter"), str(agents.profiles), _("0 to 50; one call of a model writes up to 4")
    )
    return FormScreen(_("Agents"), (*ticks, profiles), read)


def knowledge_form(knowledge: KnowledgeSettings) -> FormScreen[Values]:
    """The form for the knowledge server."""

    def read(typed: Typed) -> Values:
        url = typed.text("url")
        if url and not (host_of(url) and url.startswith(("http://", "https://"))):
            raise Unreadable(_("Write the address with https://, as the provider gives it."))
        return {"enabled": typed.tick("enabled"), "url": url, "api_key_env": typed.text("api_key_env")}

    fields = (
        Field("enabled", _("use a knowledge server"), knowledge.enabled),
        Field("url", _("Address"), knowledge.url, _("empty: one is started on this machine")),
        Field("api_key_env", _("Variable with its key"), knowledge.api_key_env, _("name of an environment variable")),
    )
    return FormScreen(_("Knowledge server"), fields, read)


T = TypeVar("T")
_PLACES: Final = ("book", "own")
"""Where models are set: in the open book, or for new ones."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The immediate effects of screen settings. `themes` are the names to choose from; `keys` shows the keys."""

    themes: tuple[str, ...]
    theme: Callable[[str], None]
    language: Callable[[str], None]
    keys: Callable[[], Awaitable[None]]


class SettingsScreen(ModalScreen[None]):
    """Shows and changes settings. `project` is the open book; None: none is open."""

    help = HelpData(
        mark("Settings"),
        mark("Enter changes the setting under the cursor. Only its line of the file is written; your comments "
             "are kept. `+` adds another model that nodes can name, `D` removes the model under the cursor. Rows "
             "marked ↻ take effect when the book is opened again. A file that you change in an editor is read at "
             "once."),
    )  # fmt: skip
    DEFAULT_CSS = """
    SettingsScreen { background: $background; }
    SettingsScreen > .head { height: auto; max-height: 6; padding: 0 1 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="settings.back"),
        Binding("plus", "add", mark("Add a model"), id="settings.add",
                tooltip=mark("Add another model under a name that nodes can use.")),
        Binding("D", "remove", mark("Remove the model"), id="settings.remove",
                tooltip=mark("Remove the model under the cursor from the settings; its key is kept.")),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, project: Project | None, effects: Effects) -> None:
        super().__init__()
        self._project, self._effects = project, effects
        self._user = UserSettings()
        self._book_view: SettingsView | None = None
        self._rows: dict[str, SettingRow] = {}

    def compose(self) -> ComposeResult:
        """Yields the errors, the rows with the one under the cursor in full, and the keys."""
        yield Static(markup=False, classes="head")
        yield ListDetail(PickList(), DetailText())
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the first row that can be changed."""
        self.query_one(PickList).focus()
        attempt(self, self.reload(), group="reload")

    async def reload(self) -> None:
        """Reads both files again."""
        wrong = []
        try:
            self._user = await asyncio.to_thread(load_user)
        except SettingsError as error:
            wrong += [error.title, error.detail]
        if self._project is not None:
            await self._project.settings.look()
            self._book_view = await self._project.settings.view()
            if self._book_view.problem:
                wrong += [self._book_view.problem, _("The last valid settings are in use.")]
        self._fill(wrong)

    def _fill(self, wrong: list[str]) -> None:
        head = Content.styled(_("Settings"), "bold")
        lines = [Content.styled(f"! {clean(words)}", role_style("failed")) for words in wrong]
        self.query_one(".head", Static).update(Content("\n").join([head, *lines]))
        columns = Columns(Column(least=18), Column(rank=1, least=20, fill=True), Column(role="stale"))
        rows: list[Option] = []
        self._rows = {}
        for section in sections(self._user, self._book_view):
            rows.append(Option(Content.assemble("\n" if rows else "", (section.heading, "bold")), disabled=True))
            for row in section.rows:
                cells = columns.row(row.name, row.value, "↻" if row.later else "", indent=2)
                rows.append(Option(cells, id=row.id))
            self._rows |= {row.id: row for row in section.rows}
        self.query_one(PickList).refill(rows)
        self._show_detail()

    @on(OptionList.OptionHighlighted)
    def _show_detail(self) -> None:
        """The setting under the cursor in full."""
        row = self._rows.get(self.query_one(PickList).picked or "")
        if row is not None:
            later = [Content.styled(_("↻ It takes effect when the book is opened again."), role_style("stale"))]
            self.query_one(DetailText).show([
                head_words(row.name), row.value, "", key_words(row.about), *(later if row.later else ()),
                Content.styled(row.file, role_style("secondary")),
                Content.styled(_("Enter changes it."), role_style("secondary")),
            ])  # fmt: skip

    @on(OptionList.OptionSelected)
    def change(self, event: OptionList.OptionSelected) -> None:
        """Opens the form or the choice of the row on Enter."""
        event.stop()
        attempt(self, self._change(event.option_id or ""), group="change", exclusive=True)

    async def _change(self, row: str) -> None:
        place, _sign, table = row.partition(":")
        if place in _PLACES:
            await self._change_model(place, table)
        elif row == "keys":
            await self._effects.keys()
        elif row == "spending":
            await self._change_spending()
        elif row in ("language", "theme", "editor"):
            await self._change_screen(row)
        elif self._book_view is not None and self._project is not None:
            await self._change_book(row, self._book_view, self._project)
        await self.reload()

    # The book

    async def _change_book(self, row: str, view: SettingsView, project: Project) -> None:
        settings = view.settings
        if row == "goals":
            goals = await self.app.push_screen_wait(goals_form(Goals(**dict(settings.goals))))
            if goals is not None:
                await project.carry_out(SetGoals(goals))
            return
        forms: Mapping[str, Callable[[], FormScreen[Values]]] = {
            "project": lambda: project_form(settings.project),
            "agents": lambda: agents_form(settings.agents),
            "knowledge": lambda: knowledge_form(settings.knowledge),
        }
        values = await self.app.push_screen_wait(forms[row]())
        old = getattr(settings, row)
        if values is None or all(getattr(old, name) == value for name, value in values.items()):
            return
        url = str(values.get("url", ""))
        if url and values["enabled"] and not await self._agrees(
            _("Send the book to {host}?").format(host=host_of(url)),
            _("A knowledge server gets the whole text of the book."),
        ):  # fmt: skip
            return
        await project.carry_out(ChangeSettings(row, values))

    # Models

    async def _change_model(self, place: str, table: str) -> None:
        models = self._models(place)
        known = models.tables.get(table)
        title = _(ROLE_WORDS[table]) if table in ROLE_WORDS else clean_line(table.removeprefix("more."))

        async def may_use(choice: ModelChoice) -> bool:
            return (choice.endpoint == known and not choice.key) or await self._may_use(choice, known)

        form = ModelForm(title, known, KnownKeys.now(), embeds=table == "embedding", may_use=may_use)
        choice = await self.app.push_screen_wait(form)
        if choice is None or (choice.endpoint == known and not choice.key):
            return
        endpoint = choice.endpoint
        if choice.key:
            endpoint = await self._saved(lambda: keep_model_key(choice.endpoint, choice.key))
        await self._keep_model(place, table, endpoint)

    def _models(self, place: str) -> ModelsSettings:
        if place == "book" and self._book_view is not None:
            return self._book_view.settings.models
        return self._user.models

    async def _may_use(self, choice: ModelChoice, known: Endpoint | None) -> bool:
        """The user's answer before a host gets text or a key for the first time."""
        endpoint = choice.endpoint
        if endpoint.provider == "offline":
            return True
        host, hosts = host_of(endpoint.address), key_hosts()
        names = [name for name in (endpoint.api_key_env, endpoint.secret) if name]
        is_same = known is not None and known.address == endpoint.address
        if endpoint.is_local or (is_same and all(hosts.allows(name, host) for name in names)):
            return True
        return await self._agrees(*use_question(choice))

    async def _keep_model(self, place: str, table: str, endpoint: Endpoint | None) -> None:
        if place == "book" and self._project is not None:
            await self._project.carry_out(SetModel(table, endpoint))
        else:
            await self._saved(lambda: change_user(lambda user: with_own_model(user, table, endpoint)))
        self.notify(_("Saved."), markup=False)

    @attempted(group="change", exclusive=True)
    async def action_add(self) -> None:
        """Adds a further model."""
        place = "book" if self._book_view is not None else "own"
        name = await self.app.push_screen_wait(PromptLine(_("Name of the model, as nodes will refer to it")))
        name = clean_line(name or "").strip()
        if name:
            await self._change_model(place, f"more.{name}")
            await self.reload()

    @attempted(group="change", exclusive=True)
    async def action_remove(self) -> None:
        """Removes the model under the cursor."""
        place, _sign, table = (self.query_one(PickList).picked or "").partition(":")
        if place not in _PLACES or table not in self._models(place).tables:
            self.notify(_("Move the cursor to a configured model first."), markup=False)
            return
        name = self._models(place).tables[table].model
        if await self._agrees(_("Remove {model} from the settings?").format(model=name), _("Its key is kept.")):
            await self._keep_model(place, table, None)
            await self.reload()

    # Money

    async def _change_spending(self) -> None:
        """Asks for the rule of background work with paid models."""
        choices = (*((key, _(words)) for key, words in SPENDING.items()), ("amount", _("an amount a day ...")))
        chosen = await self.app.push_screen_wait(ChooseScreen(_("Background work"), choices))
        rule: SpendingRule | None = "ask" if chosen == "ask" else "never" if chosen == "never" else None
        if chosen == "amount":
            before = self._user.memory_spending
            shown = f"{before:f}" if isinstance(before, Decimal) else ""
            title = _("Amount a day, in the currency of the model's price")
            rule = _amount_of(await self.app.push_screen_wait(PromptLine(title, value=shown)))
        if rule is not None:
            await self._saved(lambda: change_user(lambda user: replace(user, memory_spending=rule)))

    # The screen

    async def _change_screen(self, row: str) -> None:
        if row == "editor":
            typed = await self.app.push_screen_wait(
                PromptLine(_("Command of an editor; empty: $VISUAL or $EDITOR"), value=self._user.editor)
            )
            if typed is not None:
                await self._saved(lambda: change_user(lambda user: replace(user, editor=typed.strip())))
            return
        languages = tuple((key, _(words)) for key, words in LANGUAGES.items())
        themes = tuple((name, theme_words(name)) for name in self._effects.themes)
        title = _("Language of the screen") if row == "language" else _("Colours")
        chosen = await self.app.push_screen_wait(ChooseScreen(title, languages if row == "language" else themes))
        if chosen is None:
            return
        if row == "theme":
            await self._saved(lambda: change_user(lambda user: replace(user, theme=chosen)))
            self._effects.theme(chosen)
        else:
            await self._saved(lambda: change_user(lambda user: replace(user, language=chosen)))
            self.dismiss()
            self._effects.language(chosen)

    async def _agrees(self, title: str, words: str) -> bool:
        answer: bool = await self.app.push_screen_wait(ConfirmScreen(clean_line(title), clean(words)))
        return answer

    async def _saved(self, write: Callable[[], T]) -> T:
        """Writes a file of the user. Raises SettingsError."""
        try:
            return await asyncio.to_thread(write)
        except OSError as error:
            raise SettingsError(
                _("The settings could not be saved."), os_reason(error), _("Nothing was changed.")
            ) from error


def _amount_of(typed: str | None) -> Decimal | None:
    """The typed amount; None for none. Raises SettingsError."""
    if not typed or not typed.strip():
        return None
    try:
        amount = Decimal(typed.strip())
    except InvalidOperation:
        amount = Decimal(0)
    if not amount.is_finite() or amount <= 0:
        raise SettingsError(_("This is not an amount above 0: {words}").format(words=clean_line(typed)))
    return amount


def with_own_model(user: UserSettings, table: str, endpoint: Endpoint | None) -> UserSettings:
    """The user's settings with another model for new books; None removes it."""
    if name := table.removeprefix("more.") if table.startswith("more.") else "":
        more = {key: each for key, each in user.models.more.items() if key != name}
        update: dict[str, object] = {"more": more | ({name: endpoint} if endpoint else {})}
    else:
        update = {table: endpoint}
    return replace(user, models=user.models.model_copy(update=update))
