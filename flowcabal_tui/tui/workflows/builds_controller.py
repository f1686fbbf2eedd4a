"""Builds of workflows on the screen: asks for a request, counts waiting builds, and opens one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from flowcabal_tui.locale import _
from flowcabal_tui.project.build_words import build_price_lines, way_words
from flowcabal_tui.protocol.builds import BuildDecided, BuildProgress, RequestBuild, SuggestionMade
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.notices import NoticeOver
from flowcabal_tui.tui.shared.spending import agrees_to_pay
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import NoQuestionWaits
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.document import WorkflowDocument

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen
    from flowcabal_tui.tui.workflows.builds_list import BuildsScreen


_TEMPLATE: Final = "template:"


class BuildController:
    """Starts and opens builds. `show` shows a workflow by its reference."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        document: WorkflowDocument,
        show: Callable[[str], Awaitable[None]],
    ) -> None:
        self._screen, self._document, self._show = screen, document, show
        self._project = project
        self._page: BuildReviewScreen | BuildsScreen | None = None
        self._nothing = ""
        """The last notice that nothing waits."""
        self._opens_next = False
        """True when the build that begins next was requested here."""

    async def load(self) -> None:
        """Counts the builds that wait, and those in progress."""
        rows = await self._project.builds.build_rows()
        waiting, at_work = sum(row.waits for row in rows), sum(row.state == "building" for row in rows)
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, builds=waiting, building=at_work)

    @on_key("builds.open", group="builds", exclusive=True)
    async def open(self) -> None:
        """Opens the waiting build; shows the list if there are several, or none."""
        rows = await self._project.builds.build_rows()
        waiting = [row for row in rows if row.waits]
        if len(waiting) == 1:
            await self.review(waiting[0].id)
            return
        from flowcabal_tui.tui.workflows.builds_list import BuildsScreen  # not needed for the first frame

        self._page = page = BuildsScreen(self._project)
        chosen: str | None = await self._screen.app.push_screen_wait(page)
        if chosen:
            await self.review(chosen)
        elif chosen is not None:
            await self.build("")

    @on_event
    def _open_waiting(self, _event: NoQuestionWaits) -> None:
        attempt(self._screen, self._open_or_say(), group="builds", exclusive=True)

    async def _open_or_say(self) -> None:
        if any(row.waits for row in await self._project.builds.build_rows()):
            await self.open()
        else:
            self._nothing = _("Nothing is waiting for you: F3 lists the runs, `V` the builds.")
            self._screen.notify(self._nothing, markup=False)

    @on_event
    def _something_waits(self, _event: NodeNeedsHuman) -> None:
        self._screen.app.post_message(NoticeOver(self._nothing))

    async def review(self, build: str) -> None:
        """Opens a build, then shows the resulting version."""
        from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen  # not needed for the first frame

        before = {each.reference for each in self._document.templates}
        self._page = page = BuildReviewScreen(self._project, build)
        saved = await self._screen.app.push_screen_wait(page)
        await self._document.load()
        now = [each.reference for each in self._document.templates]
        if set(now) != before and now:
            await self._show(saved if saved in now else next((each for each in now if each not in before), now[0]))

    async def build(self, workflow: str) -> None:
        """Asks for a request and the method; for the id "", a new workflow is made. The writer agrees to a price
        first."""
        title = _("What should be different in {name}?").format(name=workflow) if workflow else _("What should it do?")
        wish = ((await self._screen.app.push_screen_wait(PromptLine(title))) or "").strip()
        if not wish:
            return
        how = await self._ask_method(wish, workflow)
        if how == "form":
            await self._by_form(wish, workflow)
        elif how == "model":
            price = await self._project.builds.build_price(wish, workflow)
            paid = price if price is not None and not price.is_free else None
            if paid and not await agrees_to_pay(self._screen.app, _("Build it?"), build_price_lines(paid)):
                return
            self._opens_next = True
            try:
                await self._project.carry_out(RequestBuild(wish, workflow))
            finally:
                await self.load()
        elif how is not None:
            template = how.removeprefix(_TEMPLATE)
            self._screen.notify(_("{id} is being built.").format(id=workflow or _("A new workflow")), markup=False)
            await self.review(await self._project.carry_out(RequestBuild(wish, offline=True, template=template)))

    async def _ask_method(self, wish: str, workflow: str) -> str | None:
        """Asks for the method: the model, the form, or a template that covers much of the request.

        The form, without a question, when it is the only one.
        """
        price = await self._project.builds.build_price(wish, workflow)
        form = ("form", _("a form that you fill in: costs nothing"))
        model = () if price is None else (("model", way_words(price)),)
        near = () if workflow else await self._project.builds.near_templates(wish)
        covers = _("start from “{title}”: {n} of {all} points of your request")
        found = [
            (f"{_TEMPLATE}{each.name}", covers.format(title=each.title, n=each.covered, all=each.points))
            for each in near
        ]
        ways = (*model, form, *found)
        if len(ways) == 1:
            return form[0]
        chosen: str | None = await self._screen.app.push_screen_wait(ChooseScreen(_("How should it be built?"), ways))
        return chosen

    async def _by_form(self, wish: str, workflow: str) -> None:
        from flowcabal_tui.tui.workflows.build_form import ask_form  # the Builder is imported with it

        form = await ask_form(self._screen.app, self._project, wish, None, workflow)
        if form is not None:
            self._screen.notify(_("{id} is being built.").format(id=workflow or _("A new workflow")), markup=False)
            await self.review(await self._project.carry_out(RequestBuild(wish, workflow, offline=True, form=form)))

    @on_event
    def _follow(self, event: BuildProgress | SuggestionMade | BuildDecided) -> None:
        """Updates the open review with the progress of the build."""
        if self._opens_next and isinstance(event, BuildProgress):
            self._opens_next = False
            attempt(self._screen, self.review(event.build), group="review")
        page = self._page if self._page in self._screen.app.screen_stack else None
        if page is not None:
            page.read_again()
        if isinstance(event, SuggestionMade) and event.status in ("finished", "asks") and page is None:
            self._screen.notify(_("A suggested workflow waits for you: V."), markup=False)
        attempt(self._screen, self.load(), group="builds-count", exclusive=True)
