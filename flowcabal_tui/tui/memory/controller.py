"""The memory of the book: profiles, sources, meta texts, background work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.errors import VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import BY_RULE, META_NAMES, BackgroundTask, Level, MetaName
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.models.consent import EmbeddingQuote
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import UnpaidWork
from flowcabal_tui.project.words import LEVELS, META, money
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import WriteMeta
from flowcabal_tui.protocol.memory import (
    BackgroundChanged,
    CancelBackground,
    KnowledgeStatus,
    MemoryWaits,
    PayMemory,
    PinProfile,
    ProfileUpdated,
    RegenerateProfile,
    RetryBackground,
    TakeProfile,
    WriteProfile,
)
from flowcabal_tui.protocol.models import AnswerEmbeddings
from flowcabal_tui.protocol.runs import UsageChanged
from flowcabal_tui.tui.memory.outline import OutlineController, OutlineScreen
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import UnsavedScreen
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.spending import agrees_to_pay, agrees_to_stop, quote_price, remake_agreed, work_agreed
from flowcabal_tui.tui.shared.status_line import Backlog, StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.widgets.role_words import facts_words

_PARTS: Final = "outline-parts"
_UNFINISHED: Final = ("waiting", "running", "stale")


class MemoryController:
    """Shows and changes profiles and meta texts, and controls background work."""

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView, editor: str) -> None:
        self._screen, self._project, self._view, self._editor = screen, project, view, editor
        self._profile_in_view = ""

    async def load(self) -> None:
        """Loads profiles, spending, and the open background tasks."""
        status = self._screen.query_one(StatusLine)
        totals, tasks = await self._project.runs.totals(), await self._project.memory.background()
        memory = _backlog_of(task for task in tasks if task.kind != "knowledge")
        owed = _backlog_of(task for task in tasks if task.kind == "knowledge")
        status.facts = replace(status.facts, totals=totals, memory=memory, owed=owed)
        await self.refresh()

    @on_event
    def _show_totals(self, event: UsageChanged) -> None:
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, totals=event.totals)

    @on_event
    def _show_knowledge(self, event: KnowledgeStatus) -> None:
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, knowledge=event.state, knowledge_reason=event.message)

    @on_event
    def _show_background(self, event: BackgroundChanged) -> None:
        """Steps left and failed. The reason for a delay stays until the next step has ended."""
        task, status = event.task, self._screen.query_one(StatusLine)
        ended = task if task is not None and task.state != "running" else None
        reason, reason_of_server = status.facts.memory.reason, status.facts.owed.reason
        if ended is not None and ended.kind == "knowledge":
            reason_of_server = ended.error
        elif ended is not None:
            reason = ended.error
        memory, owed = _backlog(event.counts, reason), _backlog(event.owed, reason_of_server)
        status.facts = replace(status.facts, memory=memory, owed=owed)

    @on_event
    def _read_profiles(self, _event: ProfileUpdated) -> None:
        attempt(self._screen, self.refresh(), group="profile", exclusive=True)

    async def refresh(self) -> None:
        """Reads the profiles again, and the one in view."""
        pane = self._screen.query_one(ProfilePane)
        pane.show(await self._project.memory.profiles())
        if self._profile_in_view:
            await self.show_profile(self._profile_in_view)

    @on_request(ProfilePane.ProfileChosen, group="profile", exclusive=True)
    async def show_profile(self, uri: str) -> None:
        """Shows a profile with its levels and its history."""
        self._profile_in_view = uri
        self._screen.query_one(ProfilePane).show_profile(await self._project.memory.profile(uri))

    @on_request(ProfilePane.EditRequested)
    async def edit_profile(self, uri: str, level: Level, text: str) -> None:
        """Opens a level of a profile for editing; the writer's text then takes precedence."""
        profile = await self._project.memory.profile(uri)
        title = facts_words(profile.name, _(LEVELS[level]))
        edited = await self._screen.app.push_screen_wait(ProseScreen(title, text, self._editor))
        if edited is not None:
            words = _("Saved: your text is used from now on.")
            if profile.pinned is not None:
                words = _("Saved, but the pinned state is used until it is unpinned.")
            await self._change(WriteProfile(uri, level, edited), words)

    @on_request(ProfilePane.PinRequested)
    async def pin_profile(self, uri: str, generation: Generation | None) -> None:
        """Pins a state for contexts; None: they read the newest again."""
        words = _("No longer pinned.") if generation is None else _("Pinned: from now on, contexts read this state.")
        await self._change(PinProfile(uri, generation), words)

    @on_request(ProfilePane.TakeRequested)
    async def take_profile(self, uri: str) -> None:
        """Accepts the state made since the writer's own text or pin."""
        await self._change(TakeProfile(uri), _("From now on, the newest state is used."))

    @on_request(ProfilePane.MakeRequested)
    async def make_profile(self, uri: str) -> None:
        """Regenerates a profile from the text, after a question if that costs money."""
        if await remake_agreed(self._screen, self._project, (uri,), RegenerateProfile(uri)) is not None:
            await self._changed(_("It is being regenerated; the old one is used until then."))

    async def _change(self, command: Command, words: str) -> None:
        await self._project.carry_out(command)
        await self._changed(words)

    async def _changed(self, words: str) -> None:
        await self.refresh()
        self._screen.notify(words, markup=False)

    @on_key("book.meta")
    async def edit_meta(self) -> None:
        """Chooses one of the meta texts and opens it; the outline also part by part."""
        choices = (*((str(name), _(words)) for name, words in META.items()), (_PARTS, _("Outline, chapter by chapter")))
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Which text?"), choices))
        if chosen == _PARTS:
            page = OutlineScreen(OutlineController(self._screen, self._project), self._view.chapter)
            await self._screen.app.push_screen_wait(page)
        name = next((item for item in META_NAMES if item == chosen), None)
        if name is None:
            return
        text, base = await self._project.book.meta(name), await self._newest(ChapterId(f"meta/{name}"))
        edited = await self._edited(name, text)
        if edited is not None:
            await self._save_meta(name, edited, base)

    async def _edited(self, name: MetaName, text: str) -> str | None:
        """The text as the writer leaves it; None when it is unchanged."""
        page = ProseScreen(_(META[name]), text, self._editor, may_be_empty=True)
        return await self._screen.app.push_screen_wait(page)

    async def _newest(self, subject: ChapterId) -> int:
        versions = await self._project.book.chapter_versions(subject)
        return versions[0].version if versions else 0

    async def _save_meta(self, name: MetaName, text: str, base: int) -> None:
        """Saves a text edited from the version `base`; if the stored text has changed since, shows both and asks
        first."""
        subject = ChapterId(f"meta/{name}")
        while True:
            try:
                await self._project.carry_out(WriteMeta(name, text, base))
            except VersionConflict:
                base, newest = await self._newest(subject), await self._project.book.meta(name)
                title = _("{title}: from the newest version to your unsaved text").format(title=_(META[name]))
                answer = await self._screen.app.push_screen_wait(UnsavedScreen(title, newest, text))
                if answer == "newer":
                    return
                if answer is None:
                    edited = await self._edited(name, text)
                    text = text if edited is None else edited
                continue
            self._screen.notify(_("Saved."), markup=False)
            return

    @on_key("memory.retry", retry=True)
    @on_key("memory.cancel", retry=False)
    async def work(self, retry: bool) -> None:
        """Retries background work, or cancels the rest of it. An open question about embeddings comes first."""
        if retry and (quote := await self._project.models.embedding_question()) is not None:
            await self._ask_embeddings(quote)
            return
        if retry and (unpaid := await self._project.memory.unpaid()) is not None:
            await self._ask_money(unpaid)
            return
        tasks = await self._project.memory.background()
        states = ("failed", "cancelled") if retry else _UNFINISHED
        wanted = Counter(task.kind for task in tasks if task.state in states and (retry or task.kind not in BY_RULE))
        if retry:
            title = _("Retry background work?")
            if await work_agreed(self._screen, self._project, title, wanted, RetryBackground()) is not None:
                self._screen.notify(_("Background work is resumed."), markup=False)
        elif not wanted:
            self._screen.notify(_("There is nothing left to cancel."), markup=False)
        elif await agrees_to_stop(self._screen.app, _("Cancel background work?")):
            await self._project.carry_out(CancelBackground(only_model=True))
            self._screen.notify(
                _("The steps that may call a model or need vectors are cancelled; they can be retried."), markup=False
            )

    async def _ask_money(self, work: UnpaidWork) -> None:
        """Asks whether the waiting background work may cost its price."""
        price = quote_price(self._project, work.quote, *work.roles, asks=True)
        title = ngettext("Do {n} step of background work?", "Do {n} steps of background work?", work.tasks)
        rule = _("Your settings have the rule for this: ask, an amount a day, or never.")
        if await agrees_to_pay(self._screen.app, title.format(n=work.tasks), price, rule):
            await self._project.carry_out(PayMemory(work.quote.pause or SpendLimit()))
            self._screen.notify(_("Background work is resumed."), markup=False)

    @on_event
    def _show_unpaid(self, event: MemoryWaits) -> None:
        attempt(self._screen, self._note_unpaid(), group="unpaid", exclusive=True)

    async def _note_unpaid(self) -> None:
        """Shows that work waits for money in the status line, and once its price."""
        status, work = self._screen.query_one(StatusLine), await self._project.memory.unpaid()
        is_new = not status.facts.unpaid
        status.facts = replace(status.facts, unpaid=work.tasks if work else 0)
        if work is not None and is_new and work.rule != "never":
            likely, tokens = work.quote.likely, _("{n} tokens").format(n=f"{work.quote.likely.tokens:,}")
            spend = tokens if likely.cost is None else money(likely.cost, work.quote.currency)
            words = _("Background work waits: it would cost about {spend}. `R` answers.")
            self._screen.notify(words.format(spend=spend), markup=False)

    async def _ask_embeddings(self, quote: EmbeddingQuote) -> None:
        """Asks whether texts may be sent to the embedding model; Escape leaves the question open."""
        no, yes = _("No: search by words only, send nothing"), _("Yes: send the texts, search by meaning")
        choices = (("no", no), ("yes", yes))
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(quote.words, choices))
        if chosen is not None:
            await self._project.carry_out(AnswerEmbeddings(chosen == "yes"))


def _backlog(counts: Iterable[tuple[str, int]], reason: str) -> Backlog:
    numbers = dict(counts)
    return Backlog(sum(numbers.get(name, 0) for name in _UNFINISHED), numbers.get("failed", 0), reason)


def _backlog_of(tasks: Iterable[BackgroundTask]) -> Backlog:
    """The tasks in numbers, with the reason for a delay of one of them."""
    known = tuple(tasks)
    hindered = (task.error for task in known if task.state in ("waiting", "failed"))
    left = sum(task.state in _UNFINISHED for task in known)
    return Backlog(left, sum(task.state == "failed" for task in known), next(filter(None, hindered), ""))
