"""The user's words for the terms of the domain: states, angles, budget classes, levels, lengths."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.context import BudgetClass
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.model_calls import Finish
from flowcabal_tui.domain.run import AngleCheck, Evaluation, NodeState
from flowcabal_tui.domain.text import clean, han_count, word_count
from flowcabal_tui.domain.workflow import Angle
from flowcabal_tui.locale import _, mark, ngettext

STATES: Final[dict[NodeState, str]] = {
    "pending": mark("pending"),
    "ready": mark("ready"),
    "running": mark("running"),
    "retrying": mark("waiting to try again"),
    "waiting": mark("waiting for you"),
    "done": mark("done"),
    "failed": mark("failed"),
    "blocked": mark("blocked"),
    "skipped": mark("skipped"),
    "cancelled": mark("stopped"),
}
ANGLES: Final[dict[Angle, str]] = {
    "timeline": mark("timeline"),
    "character_state": mark("state of characters"),
    "world_rules": mark("rules of the world"),
    "echoes": mark("echoes of earlier text"),
}
CLASSES: Final[dict[BudgetClass, str]] = {
    "meta": mark("outline, rules"),
    "entities": mark("names"),
    "profiles": mark("profiles"),
    "near": mark("chapters before"),
    "last_meeting": mark("last meeting"),
    "far": mark("earlier places"),
    "summaries": mark("summaries"),
    "knowledge": mark("similar places"),
    "inquiry": mark("answers"),
}
LEVELS: Final[dict[Level, str]] = {
    "L0": mark("one line"),
    "L1": mark("summary"),
    "L2": mark("full text"),
}
FINISHES: Final[dict[Finish, str]] = {
    "length": mark("cut off: the model reached its length limit"),
    "content_filter": mark("cut off: the provider's filter ended it"),
}


def one_line(text: str, limit: int = 400) -> str:
    """Foreign words in one row, cut after `limit` characters, harmless."""
    return " ".join(clean(text[: 4 * limit]).split())[:limit]


def length_words(text: str, book_language: str = "") -> str:
    """How long a text is, in characters for Chinese and in words otherwise; an empty text is in the book's language."""
    chinese = is_chinese(text) if text.strip() else book_language.startswith("zh")
    return counted(word_count(text, "zh"), chinese=chinese)


def is_chinese(text: str) -> bool:
    """Is a text's length told in characters? Judged by how it begins."""
    beginning = text[:400]
    return 2 * han_count(beginning) > len(beginning.split())


def counted(count: int, *, chinese: bool) -> str:
    """A number of characters or words."""
    if chinese:
        return ngettext("{count} character", "{count} characters", count).format(count=f"{count:,}")
    return ngettext("{count} word", "{count} words", count).format(count=f"{count:,}")


def verdict_words(evaluation: Evaluation) -> str:
    """What the check found, in one line; angles that were not checked are never passed over."""
    checked = [check for check in evaluation.checks if check.outcome != "not checked"]
    unchecked = [check for check in evaluation.checks if check.outcome == "not checked"]
    parts = []
    if checked:
        found = len(evaluation.findings)
        angles = ngettext("checked from {n} angle", "checked from {n} angles", len(checked)).format(n=len(checked))
        verdict = (
            ngettext("{n} contradiction", "{n} contradictions", found).format(n=found)
            if found
            else _("no contradiction found")
        )
        parts.append(_("{angles}: {verdict}").format(angles=angles, verdict=verdict))
    if unchecked:
        parts.append(_("not checked: {angles}").format(angles=", ".join(_(ANGLES[item.angle]) for item in unchecked)))
    return " · ".join(parts) or _("no check asked for")


def check_words(check: AngleCheck) -> str:
    """What one angle said, with its reason when it could not say."""
    outcome = {
        "passed": _("no contradiction found"),
        "found": ngettext("{n} contradiction", "{n} contradictions", len(check.findings)).format(n=len(check.findings)),
        "not checked": _("not checked"),
    }[check.outcome]
    words = _("{angles}: {verdict}").format(angles=_(ANGLES[check.angle]), verdict=outcome)
    return f"{words} ({check.detail})" if check.detail else words
