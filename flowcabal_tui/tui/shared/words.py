"""The screen's words for the terms of the domain: states and kinds of nodes, endings, lengths, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.model_calls import Finish
from flowcabal_tui.domain.run import Evaluation
from flowcabal_tui.domain.text import clean, han_count, unbroken, word_count
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import ANGLES, NODE_STATES, check_words
from flowcabal_tui.tui.widgets.prose_diff import DiffKind, prose_diff
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.roles import Role

STATES: Final[Mapping[str, str]] = dict[str, str](NODE_STATES.items()) | {"stale": mark("out of date")}
NODE_KINDS: Final[Mapping[str, str]] = {
    "prompt": mark("a model writes"),
    "human": mark("you write"),
    "recursive": mark("a model drafts, criticises, revises"),
    "evolution": mark("several candidates; you pick, the next round builds on it"),
    "loop": mark("repeats a graph for each item, or while a condition holds"),
    "condition": mark("compares, and chooses a branch"),
    "parallel": mark("branches that run at the same time"),
    "subflow": mark("runs another workflow"),
    "action": mark("runs an action of the registry"),
    "code": mark("calls a function of the project or of a plug-in"),
    "chat_context": mark("turns items into messages for a chat"),
    "llm_chat": mark("a model answers messages"),
    "map": mark("sets fields of every item"),
    "filter": mark("keeps the items that meet a condition"),
    "split": mark("splits one item into many"),
    "merge": mark("combines many items into one"),
    "start": mark("the beginning; it does nothing"),
    "end": mark("the end, with the output of the workflow"),
    "state_read": mark("reads values of the state"),
    "state_write": mark("writes values of the state"),
}
FINISHES: Final[dict[Finish, str]] = {
    "length": mark("cut off: the model reached its length limit"),
    "time": mark("cut off: the answer reached its time limit (answer_timeout)"),
    "content_filter": mark("cut off: the provider's filter ended it"),
}


def author_role(author: str) -> Role:
    """The role in which the author of a text is displayed."""
    return "model" if author == "model" else "stale" if author == "outside" else "hand"


_COMPARED: Final = 60_000
"""Characters of two texts together that are compared at once."""


def one_line(text: str, limit: int = 400) -> str:
    """Foreign text on one line of at most `limit` characters, cleaned; a cut text ends in `…`."""
    line = unbroken(clean(text[: 4 * limit]))
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def length_words(text: str, book_language: str = "") -> str:
    """The length of a text, in characters for Chinese and in words otherwise; an empty text is in the book's
    language."""
    chinese = is_chinese(text) if text.strip() else book_language.startswith("zh")
    return counted(word_count(text), chinese=chinese)


def is_chinese(text: str) -> bool:
    """True when a text's length is counted in characters, judged by its beginning."""
    beginning = text[:400]
    return 2 * han_count(beginning) > len(beginning.split())


def counted(count: int, *, chinese: bool) -> str:
    """A number of characters or words."""
    if chinese:
        return ngettext("{count} character", "{count} characters", count).format(count=f"{count:,}")
    return ngettext("{count} word", "{count} words", count).format(count=f"{count:,}")


def changed_words(old: str, new: str) -> str:
    """The additions and removals, such as `+12 -3 words`; "" for texts that are too long to be compared here."""
    if len(old) + len(new) > _COMPARED:
        return ""
    runs = prose_diff(old, new)
    added = sum(word_count(run.text) for run in runs if run.change == DiffKind.INSERT)
    removed = sum(word_count(run.text) for run in runs if run.change == DiffKind.DELETE)
    if not added and not removed:
        return ""
    words = _("+{added} -{removed} characters") if is_chinese(new) else _("+{added} -{removed} words")
    return words.format(added=f"{added:,}", removed=f"{removed:,}")


def verdict_words(evaluation: Evaluation) -> str:
    """The result of the check, in one line; unchecked angles are always mentioned."""
    checked = [check for check in evaluation.checks if check.outcome != "not checked" and check.angle != "rules"]
    by_rule = [check for check in evaluation.checks if check.outcome == "found" and check.angle == "rules"]
    unchecked = [check for check in evaluation.checks if check.outcome == "not checked"]
    parts = []
    if checked:
        found = sum(len(check.findings) for check in checked)
        angles = ngettext("checked from {n} angle", "checked from {n} angles", len(checked)).format(n=len(checked))
        verdict = (
            ngettext("{n} contradiction", "{n} contradictions", found).format(n=found)
            if found
            else _("no contradiction found")
        )
        parts.append(_("{angles}: {verdict}").format(angles=angles, verdict=verdict))
    parts += [check_words(check) for check in by_rule]
    if unchecked:
        parts.append(
            _("not checked: {angles}").format(angles=_(", ").join(_(ANGLES[item.angle]) for item in unchecked))
        )
    return facts_words(*parts) or _("no check requested")
