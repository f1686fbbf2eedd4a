"""Questions before chapters are checked and before a rule is switched."""

from __future__ import annotations

from flowcabal_tui.locale import _
from flowcabal_tui.project.finding_words import check_title
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.protocol.findings import CheckChapters, SwitchRule
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.story.story_page import StoryPage


async def chosen_check(page: StoryPage, position: int) -> CheckChapters | None:
    """The chapters to check, by rule or by a model after a quote. `position` is of the open chapter, 0: none is
    open."""
    choices = [("rules", _("all chapters by rule: costs nothing"))]
    if position:
        choices.append(("one", _("the open chapter, also by the agents' model")))
    choices.append(("all", _("all chapters, also by the agents' model")))
    chosen: str | None = await page.app.push_screen_wait(ChooseScreen(_("Check what?"), tuple(choices)))
    if chosen is None or chosen == "rules":
        return None if chosen is None else CheckChapters()
    place = position if chosen == "one" else None
    quote = await page.access.quote_check(place, place)
    agreed = await page.confirm(_("Check by the agents' model?"), "\n".join(spend_lines(quote, asks=False)))
    return CheckChapters(place, place, model=True) if agreed else None


async def agrees_to_switch(page: StoryPage, command: SwitchRule) -> bool:
    """The writer's answer."""
    if command.on:
        return await page.confirm(_("Switch this rule on again?"), check_title(command.rule))
    told = check_title(command.rule) + "\n" + _("Its findings that you did not decide are withdrawn.")
    return await page.confirm(_("Switch this rule off for this book?"), told)
