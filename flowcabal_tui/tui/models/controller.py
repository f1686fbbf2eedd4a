"""Trust in a project, and one small test call of each model."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import paid_models, price_lines, sum_words
from flowcabal_tui.protocol.models import ConfirmModels, ConfirmTrust, TrustChanged
from flowcabal_tui.protocol.settings import SetModel
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.spending import agrees_to_pay
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

_OWN: Final = "own"


class ModelController:
    """Asks the user to confirm a project's requests, and checks its models."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self._project = screen, project

    @on_event
    def _show_trust(self, event: TrustChanged) -> None:
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, trust=event.state)

    @on_key("project.trust", group="looking")
    async def trust(self) -> None:
        """Shows the requests of the project; confirmed ones take effect at once."""
        from flowcabal_tui.tui.models.trust import TrustScreen  # not needed for the first frame

        shown = await self._screen.app.push_screen_wait(TrustScreen(await self._project.models.trust()))
        if shown is None:
            return
        await self._project.carry_out(ConfirmTrust(shown))
        view = await self._project.models.trust()
        if view.problem:
            words = _(
                "Confirmed until you quit. The answer could not be recorded, so you will be asked again: {reason}"
            )
            self._screen.notify(words.format(reason=view.problem), severity="warning", markup=False)
        else:
            self._screen.notify(_("Confirmed."), markup=False)

    async def has_model(self) -> bool:
        """True when a model is configured. Otherwise proposes the available models; the first use of one is
        confirmed."""
        if any(role == "user" for role, _endpoint in self._project.info.models):
            return True
        found = {item.identity: item for item in await self._project.models.found_models()}
        own = (_OWN, _("Another model: choose a provider, enter the key and prices"))
        choices = (*((item.identity, item.label) for item in found.values()), own)
        page = ChooseScreen(_("This project has no model yet. Which one should write?"), choices)
        chosen = await self._screen.app.push_screen_wait(page)
        if chosen is None:
            return False
        if chosen == _OWN:
            return await self._describe_model()
        title = _("Use {model}?").format(model=found[chosen].label)
        words = _("Every call costs money, and your manuscript is sent to its provider.")
        if not found[chosen].local and not await self._screen.app.push_screen_wait(ConfirmScreen(title, words)):
            return False
        await self._project.carry_out(ConfirmModels(chosen))
        return True

    async def _describe_model(self) -> bool:
        """The form of a model; asks before it is used."""
        from flowcabal_tui.settings.key_hosts import keep_model_key
        from flowcabal_tui.tui.models.model_form import KnownKeys, ModelForm

        choice = await self._screen.app.push_screen_wait(ModelForm(_("Writes the book"), None, KnownKeys.now()))
        if choice is None:
            return False
        endpoint = choice.endpoint
        if choice.key:
            endpoint = await asyncio.to_thread(keep_model_key, endpoint, choice.key)
        await self._project.carry_out(SetModel("user", endpoint))
        return True

    @on_key("models.check", group="models", exclusive=True)
    async def check_models(self) -> None:
        """Makes one small call to each model and shows the results; offers a vocabulary that the writing model
        lacks."""
        if not await self._may_check():
            return
        self._screen.notify(_("The models are being asked ..."), markup=False)
        checks = await self._project.models.check_models()
        results = {True: _("ok"), False: _("failed")}
        lines = [f"{check.role}: {results[check.ok]}  {check.message}" for check in checks]
        well = all(check.ok for check in checks)
        self._screen.notify(
            clean("\n".join(lines)), title=_("Models"), severity="information" if well else "error", markup=False
        )
        await self._offer_vocabulary()

    async def _may_check(self) -> bool:
        """The writer's answer to the price of one call to each model."""
        from flowcabal_tui.project.models.trying import most_cost

        paid = {role: each for role, each in self._project.info.models if not each.free_as(role)}
        if not paid:
            return True
        costs = {role: most_cost(each, embeds=role == "embedding") for role, each in paid.items()}
        spent = sum_words([(costs[role], each.currency) for role, each in paid.items()])
        names = paid_models(self._project.info.models, *paid)
        details = _("Sends one short test request to each model; no text of your book is sent.")
        return await agrees_to_pay(self._screen.app, _("Check the models?"), price_lines(names, spent, spent), details)

    async def _offer_vocabulary(self) -> None:
        """Offers to download a vocabulary; fetches nothing before the writer has agreed to the host."""
        from flowcabal_tui.project.doctor import fetch_known, missing_vocabulary, vocabulary_question

        model = dict(self._project.info.models).get("user")
        known = await asyncio.to_thread(missing_vocabulary, model)
        if known is not None and await self._screen.app.push_screen_wait(ConfirmScreen(*vocabulary_question(known))):
            self._screen.notify(await fetch_known(known), markup=False)
