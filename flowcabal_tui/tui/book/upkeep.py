"""Care for the book and its file: made again, purged, backed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Curated, StaleText
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import TASKS
from flowcabal_tui.protocol.memory import Purge, Rebuild, RebuildPart, RebuildProgress
from flowcabal_tui.tui.book.controller import BookDesk
from flowcabal_tui.tui.memory.names import called
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.spending import agents_cost, may_spend
from flowcabal_tui.tui.shared.typed_path import typed_path
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.type_name import TypeNameScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.book.upkeep import RebuildPlan
    from flowcabal_tui.project.views import Workbench

_PARTS: Final[Mapping[RebuildPart, str]] = {
    "all": mark("all of it"),
    "stale": mark("only what is out of date"),
    "index": mark("the index: passages, names, words"),
    "summaries": mark("summaries, and what chapters say"),
    "profiles": mark("profiles and arcs"),
    "knowledge": mark("the knowledge server"),
}
_NAMED: Final = 4
"""Texts that cannot be read and are named; the others are counted."""
_MEBIBYTE: Final = 2**20


class UpkeepDesk:
    """What the writer seldom does, and looks at twice before."""

    def __init__(self, screen: Screen[Any], workbench: Workbench, book: BookDesk, now: Callable[[], datetime]) -> None:
        self._screen, self._workbench, self._book, self._now = screen, workbench, book, now
        self.progress: RebuildProgress | None = None
        """How far the last rebuild of the index is."""

    async def _ask(self, page: Screen[Any]) -> Any:
        return await self._screen.app.push_screen_wait(page)

    def _say(self, words: str) -> None:
        self._screen.notify(words, markup=False)

    # Made again

    async def rebuild(self) -> None:
        """Asks which part, shows what it would do, and does it on a yes."""
        chosen = await self._ask(ChooseScreen(_("Make what again?"), tuple((key, _(_PARTS[key])) for key in _PARTS)))
        part = next((key for key in _PARTS if key == chosen), None)
        if part is None:
            return
        plan = await self._workbench.rebuild_plan(part)
        title = _("Make {part} again?").format(part=_(_PARTS[part]))
        names = await called(self._workbench) if plan.damaged else {}
        if await self._ask(ConfirmScreen(title, "\n".join(self._planned(part, plan, names)))):
            await self._rebuild(Rebuild(part))

    def _planned(self, part: RebuildPart, plan: RebuildPlan, names: Mapping[str, str]) -> Iterator[str]:
        if plan.chapters:
            yield _("index: {n} chapters").format(n=plan.chapters)
        for kind, count in plan.steps:
            yield _("{kind}: {n} steps").format(kind=_(TASKS[kind]), n=count)
        for uri in plan.damaged[:_NAMED]:
            yield _("cannot be read, is made again: {uri}").format(uri=one_line(names.get(uri, uri)))
        if len(plan.damaged) > _NAMED:
            yield _("and {n} more").format(n=len(plan.damaged) - _NAMED)
        if part in ("stale", "all"):
            yield _("out of date: {n}").format(n=len(plan.stale))
        yield ""
        yield _("What you wrote stays.")
        if part in ("knowledge", "all"):
            yield _("The knowledge server reads the book again with the models of its own settings.")
        if part in ("index", "knowledge") or not agents_cost(self._workbench):
            return
        if part == "stale":
            yield _("The agents' model is asked where the words have changed, which spends money.")
        else:
            yield _("What is paid already is not paid again, unless the agents' model was changed.")

    async def make_again(self, stale: tuple[StaleText, ...]) -> None:
        """These texts from the words of now; asks first where that costs money."""
        title = ngettext("Make {n} text again?", "Make {n} texts again?", len(stale)).format(n=len(stale))
        words = _("The agents' model is asked where the words have changed, which spends money.")
        if stale and await may_spend(self._screen, self._workbench, title, words):
            await self._rebuild(Rebuild("stale", tuple(text.uri for text in stale)))

    async def _rebuild(self, command: Rebuild) -> None:
        self.progress = None
        count = int(await self._workbench.carry_out(command) or 0)
        words = ngettext("{n} step waits; the rest is done.", "{n} steps wait; the rest is done.", count)
        self._say(words.format(n=count))

    # Purged

    async def purge_chapter(self, under_cursor: Chapter | None) -> None:
        """Asks which where chapters were deleted before, then for its name."""
        deleted = await self._workbench.deleted_chapters()
        chapters = {str(each.id): each for each in ((under_cursor,) if under_cursor else ()) + deleted}
        chosen = next(iter(chapters), None)
        if deleted:
            kinds = {each.id: _("deleted") for each in deleted}
            rows = tuple(
                (key, " ".join(filter(None, (str(each.position), one_line(each.title), kinds.get(each.id, "")))))
                for key, each in chapters.items()
            )
            chosen = await self._ask(ChooseScreen(_("Purge which chapter?"), rows))
        if chosen is None:
            return
        chapter = chapters[chosen]
        title = _("Purge chapter {n}, {title}?").format(n=chapter.position, title=one_line(chapter.title))
        if await self._purge(Purge(chapter=chapter.id), title, one_line(chapter.title) or chapter.id):
            self._book.forget(chapter.id)

    async def purge_output(self, kept: Curated) -> None:
        """Asks for the beginning of its id."""
        name = kept.id[:8]
        await self._purge(Purge(output=kept.id), _("Purge the kept output {name}?").format(name=name), name)

    async def _purge(self, command: Purge, title: str, name: str) -> bool:
        words = " ".join((
            _("This cannot be undone."),
            _("It goes with all its versions, all that was made of it, and the runs that made it."),
            _("The local knowledge server's folder is emptied; it is filled again from the book."),
            _("Backups and copies elsewhere stay as they are."),
        ))  # fmt: skip
        if not await self._ask(TypeNameScreen(title, words, name)):
            return False
        await self._workbench.carry_out(command)
        return True

    # Backed up

    async def back_up(self) -> None:
        """Asks for the file, which must be new, and writes all of the project into it."""
        info = self._workbench.info
        named = info.path.absolute().parent / f"{info.path.absolute().name}-{self._now():%Y-%m-%d-%H%M}.zip"
        typed = await self._ask(PromptLine(_("Back the project up to the file"), value=str(named)))
        if not typed:
            return
        path = typed_path(typed)
        path = path if path.suffix else path.with_suffix(".zip")
        words = _("The backup holds it as unsaved text; its chapters have the saved text.")
        if not await self._book.may_leave_unsaved(_("Back up with unsaved text?"), words):
            return
        manifest = await self._workbench.back_up(path)
        words = _("{file}: {n} files, {size} MiB.")
        self._screen.notify(
            words.format(file=path, n=len(manifest.members), size=round(manifest.size / _MEBIBYTE, 1)),
            title=_("Backed up"), markup=False,
        )  # fmt: skip
