"""Background work: its list, and rebuilding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from flowcabal_tui.agents.arcs import WORK, arcs_of
from flowcabal_tui.domain.memory import BackgroundTask, Freshness, StaleText
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import META, TASKS
from flowcabal_tui.protocol.memory import (
    CancelBackground,
    KnowledgeStatus,
    Rebuild,
    RebuildPart,
    RebuildProgress,
    RetryBackground,
)
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.spending import (
    agents_cost,
    agrees_to_pay,
    agrees_to_stop,
    begin_work,
    quote_price,
    remake_agreed,
    work_agreed,
)
from flowcabal_tui.tui.shared.subscriptions import on_event
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.role_words import facts_words

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.project.views import RebuildPlan

_PARTS: Final[Mapping[RebuildPart, str]] = {
    "all": mark("all of it"),
    "stale": mark("only what is out of date"),
    "index": mark("the index: passages, names, words"),
    "summaries": mark("summaries, and what chapters say"),
    "profiles": mark("profiles and arcs"),
    "knowledge": mark("the knowledge server"),
}
_AGAIN: Final = ("failed", "cancelled", "waiting")
"""States of the steps that can be retried."""
_UNUSED: Final = ("absent", "off")
"""States of the knowledge server in which nothing is sent to it."""
_NAMED: Final = 4
"""Texts that cannot be read and are named; the others are counted."""


class QueueController:
    """Lists background work, retries and cancels it, and rebuilds."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self.project = screen, project
        self.rebuilt: RebuildProgress | None = None
        """The progress of the last rebuild of the index."""
        self._server = ""

    @on_event
    def _note_rebuild(self, event: RebuildProgress) -> None:
        self.rebuilt = event

    @on_event
    def note_server(self, event: KnowledgeStatus) -> None:
        """Records whether a server is used, because steps that only wait for an unused one are not listed."""
        self._server = event.state

    def _is_listed(self, task: BackgroundTask) -> bool:
        """False for texts that wait for a knowledge server which the writer does not use."""
        return task.kind != "knowledge" or task.state != "waiting" or self._server not in _UNUSED

    async def tasks(self, state: Freshness | None) -> tuple[BackgroundTask, ...]:
        """The steps in a state, or all unfinished ones."""
        return tuple(filter(self._is_listed, await self.project.memory.background(state)))

    async def counts(self) -> dict[Freshness, int]:
        """The number of listed tasks in each state."""
        counts = await self.project.memory.background_counts()
        waiting = await self.project.memory.background("waiting")
        hidden = sum(not self._is_listed(task) for task in waiting)
        return counts | {"waiting": counts.get("waiting", 0) - hidden} if hidden else counts

    async def subjects(self) -> Mapping[str, str]:
        """The names of chapters, entities and derived texts, by id and by uri."""
        return await called(self.project)

    async def stale(self) -> Mapping[StaleText, str]:
        """The outdated texts in story order, with their names."""
        found = await self.project.memory.stale()
        names = await self.subjects() if found else {}
        return {text: names.get(text.uri, text.uri) for text in found}

    async def retry(self, task: int | None) -> None:
        """Retries one step, or all that failed or were cancelled; asks first if that costs money."""
        steps = [each for each in await self.tasks(None) if task in (None, each.id) and each.state in _AGAIN]
        kinds = Counter(each.kind for each in steps)
        await work_agreed(self._screen, self.project, _("Retry background work?"), kinds, RetryBackground(task))

    async def cancel(self, task: int | None) -> None:
        """Cancels one step, or all remaining ones, after a question."""
        if await agrees_to_stop(self._screen.app, _("Cancel background work?")):
            await self.project.carry_out(CancelBackground(task))

    async def rebuild(self) -> None:
        """Asks for the part, shows the effects, and rebuilds after a confirmation."""
        rows = tuple((key, _(words)) for key, words in _PARTS.items())
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Rebuild what?"), rows))
        part = next((key for key in _PARTS if key == chosen), None)
        if part is None:
            return
        plan = await self.project.memory.rebuild_plan(part)
        title = _("Rebuild {part}?").format(part=_(_PARTS[part]))
        names = await called(self.project) if plan.damaged else {}
        words = "\n".join(self._planned(part, plan, names))
        quote = await self.project.memory.quote_background(Counter(dict(plan.steps)))
        if quote.is_free:
            agreed = await self._screen.app.push_screen_wait(ConfirmScreen(title, words))
        else:
            price = quote_price(self.project, quote, "agent", asks=True)
            agreed = await agrees_to_pay(self._screen.app, title, price, words)
        if agreed:
            self.rebuilt = None
            self._say_left(await begin_work(self.project, Rebuild(part), quote))

    def _planned(self, part: RebuildPart, plan: RebuildPlan, names: Mapping[str, str]) -> Iterator[str]:
        if plan.chapters:
            yield ngettext("index: {n} chapter", "index: {n} chapters", plan.chapters).format(n=plan.chapters)
        for kind, count in plan.steps:
            yield ngettext("{kind}: {n} step", "{kind}: {n} steps", count).format(kind=_(TASKS[kind]), n=count)
        for uri in plan.damaged[:_NAMED]:
            yield _("cannot be read, will be regenerated: {uri}").format(uri=one_line(names.get(uri, uri)))
        if len(plan.damaged) > _NAMED:
            yield _("and {n} more").format(n=len(plan.damaged) - _NAMED)
        if part in ("stale", "all"):
            yield _("out of date: {n}").format(n=len(plan.stale))
        yield ""
        yield _("Your own text is kept.")
        if part in ("knowledge", "all"):
            yield _("The knowledge server reads the book again with the models in its own settings.")
        if part in ("index", "knowledge") or not agents_cost(self.project):
            return
        if part == "stale":
            yield _("The agents' model is called for each text that has changed.")
        else:
            yield _("Paid answers are reused, unless the agents' model has changed.")

    async def make_again(self, stale: Sequence[StaleText]) -> None:
        """Regenerates texts from the current text of the book, after a question if that costs money."""
        uris = tuple(text.uri for text in stale)
        if not uris:
            return
        self.rebuilt = None
        left = await remake_agreed(self._screen, self.project, uris, Rebuild("stale", uris))
        if left is not None:
            self._say_left(left)

    def _say_left(self, left: str) -> None:
        count = int(left or 0)
        words = ngettext("{n} step waits; the rest is done.", "{n} steps wait; the rest is done.", count)
        self._screen.notify(words.format(n=count), markup=False)


async def called(project: Project) -> Mapping[str, str]:
    """Display names: chapters (deleted ones included) and entities by id; chapters, profiles, arcs and the writer's
    rules by uri."""
    chapters = await project.book.chapters()
    titles = {str(at.id): at.title for at in await project.book.deleted_chapters()}
    titles |= {str(at.id): f"{at.position} {at.title}" for at in chapters}
    names = {f"meta/{name}": _(words) for name, words in META.items()}
    arcs = arcs_of(chapter for chapter in chapters if chapter.version)
    names |= {WORK: _("The whole work")} | {arc.uri: arc.title(project.info.language) for arc in arcs}
    for row in await project.memory.profiles():
        names[row.uri] = facts_words(*dict.fromkeys((row.kind_title, row.name)))
    names |= {str(entity.id): entity.name for entity in await project.story.entities()}
    return names | {f"manuscript/{identity}": title for identity, title in titles.items()} | titles
