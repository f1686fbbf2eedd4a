"""Comparisons of candidates in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from flowcabal_tui.domain.comparison import Maker, OutcomeCount, VerdictKind, sampling_words
from flowcabal_tui.domain.text import FACTS_APART, clean_line
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import money

STATES: Final[Mapping[Literal["open", "decided", "taken back"], str]] = {
    "open": mark("not decided yet"),
    "decided": mark("decided"),
    "taken back": mark("taken back"),
}
VERDICTS: Final[Mapping[VerdictKind, str]] = {
    "chosen": mark("one was chosen"),
    "tie": mark("equally good"),
    "none": mark("none of them"),
    "composed": mark("put together"),
}
_LETTERED: Final[Mapping[VerdictKind, str]] = {
    "chosen": mark("{letters} was chosen"),
    "tie": mark("{letters} are equally good"),
}


def verdict_words(kind: VerdictKind, letters: Sequence[str]) -> str:
    """The choice with the letters of the candidates that it names."""
    words = _LETTERED.get(kind) if letters else None
    return _(words).format(letters=_(", ").join(letters)) if words else _(VERDICTS[kind])


def maker_words(maker: Maker) -> str:
    """The origin of a candidate: model, sampling, attempt and price."""
    if not maker.model:
        return _("written by hand")
    parts = [clean_line(maker.model), sampling_words(json.loads(maker.sampling))]
    parts += [money(maker.cost, maker.currency)] if maker.cost is not None and maker.currency else []
    parts += [clean_line(f"{maker.run}/{maker.node}#{maker.attempt}")] if maker.run else []
    return FACTS_APART.join(part for part in parts if part)


def outcome_words(row: OutcomeCount) -> tuple[str, ...]:
    """A row of the outcomes: prompt, model, sampling, and the numbers of wins, ties and losses."""
    return (
        clean_line(row.prompt_name) or "-",
        clean_line(row.model) or _("by hand"),
        sampling_words(json.loads(row.sampling)) or "-",
        ngettext("won {n} time", "won {n} times", row.won).format(n=row.won),
        ngettext("equal {n} time", "equal {n} times", row.tied).format(n=row.tied),
        ngettext("lost {n} time", "lost {n} times", row.lost).format(n=row.lost),
    )
