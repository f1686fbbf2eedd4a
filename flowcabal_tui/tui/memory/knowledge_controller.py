"""The knowledge server on the screen: installing, removing, contents, search, writing again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import Screen
from textual.worker import Worker

from flowcabal_tui.domain.errors import KnowledgePending
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.words import paid_models, price_lines, sum_words
from flowcabal_tui.protocol.memory import Rebuild
from flowcabal_tui.tui.memory.queue_controller import called
from flowcabal_tui.tui.shared.spending import agrees_to_pay, agrees_to_stop
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.memory.knowledge_contents import KnowledgeFound
    from flowcabal_tui.project.project import Project


class KnowledgeController:
    """Controls the knowledge server; an installation continues in the workspace while the page is closed."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self.project = screen, project
        self._installing: Worker[None] | None = None
        self.progress = ""
        """The progress of an installation in words; "" without one."""

    async def _ask(self, title: str, words: str, yes: str = "") -> bool:
        answer: bool = await self._screen.app.push_screen_wait(ConfirmScreen(title, words, yes=yes))
        return answer

    def _say(self, words: str) -> None:
        self._screen.notify(words, markup=False)

    async def subjects(self) -> Mapping[str, str]:
        """The names of chapters, entities and derived texts, by id and by uri."""
        return await called(self.project)

    async def find(self, query: str) -> tuple[KnowledgeFound, ...] | None:
        """The texts nearest in meaning; None: the user declined to pay for the query's vector."""
        try:
            return await self.project.knowledge.find(query)
        except KnowledgePending:
            if not await self._may_embed():
                return None
            return await self.project.knowledge.find(query, paid=True)

    async def _may_embed(self) -> bool:
        """The writer's answer to the price of the vector of a query."""
        from flowcabal_tui.project.models.trying import most_cost

        models = self.project.info.models
        costs = [(most_cost(each, embeds=True), each.currency) for role, each in models if role == "embedding"]
        price = price_lines(paid_models(models, "embedding"), sum_words(costs), sum_words(costs))
        return await agrees_to_pay(self._screen.app, _("Search by meaning?"), price)

    async def write_again(self, subjects: Sequence[str]) -> None:
        """Removes entries from the server and has them written again, after a question."""
        title = ngettext("Write {n} entry again?", "Write {n} entries again?", len(subjects)).format(n=len(subjects))
        words = _("It is taken out of the knowledge server and sent again. The book stays as it is.")
        if subjects and await self._ask(title, words):
            await self.project.carry_out(Rebuild("knowledge", tuple(subjects)))

    async def installed(self) -> str:
        """The version installed by this program; "" for none."""
        from flowcabal_tui.viking.installed import installed

        found = await asyncio.to_thread(installed)
        return found.version if found else ""

    def install(self) -> None:
        """Starts an installation, which continues when the page is closed."""
        if self.progress:
            self._say(_("It is already being installed."))
            return
        self.progress = _("making the environment")
        self._installing = attempt(self._screen, self._install(), group="install")

    def stop_installing(self) -> None:
        """Stops the installation; the downloads are kept for the next one."""
        if self._installing is None or not self.progress:
            self._say(_("Nothing is being installed."))
            return
        attempt(self._screen, self._stop(self._installing), group="stop-install", exclusive=True)

    async def _stop(self, installing: Worker[None]) -> None:
        if await agrees_to_stop(self._screen.app, _("Stop the installation?")):
            installing.cancel()

    async def _install(self) -> None:
        from flowcabal_tui.viking.install_tools import find_tool
        from flowcabal_tui.viking.install_words import plan_rows, progress_words
        from flowcabal_tui.viking.installer import Installation, Progress

        def show(progress: Progress) -> None:
            self.progress = progress_words(progress)

        try:
            async with Installation(find_tool()) as work:
                rows = plan_rows(await work.prepare())
                words = "\n".join(_("{place}: {problem}").format(place=name, problem=problem) for name, problem in rows)
                if not await self._ask(_("Install the knowledge server?"), words, _("Install")):
                    return
                done = await work.install(show)
            self._say(_("openviking {version} was installed; the book uses it now.").format(version=done.version))
            await self.project.knowledge.look_again()
        finally:
            self.progress = ""

    async def remove(self) -> None:
        """Deletes the installation, after a question; the server of this book is stopped first."""
        from flowcabal_tui.viking.installer import remove_installation

        words = _("The book works without it, and its contents can be rebuilt.")
        if not await self._ask(_("Remove the knowledge server?"), words, _("Remove")):
            return
        await self.project.knowledge.stop()
        try:
            gone = await remove_installation()
        finally:
            await self.project.knowledge.look_again()
        self._say(_("The knowledge server was removed.") if gone else _("There was nothing to remove."))
