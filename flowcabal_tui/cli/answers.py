"""Decisions in words: `approve`, `approve:2`, `reject`, `retry:more rain`, `edit:@file.txt`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _


def parse_answer(words: str) -> Decision:
    """A decision from its words. Raises RunError."""
    kind, _colon, rest = words.strip().partition(":")
    match kind:
        case "approve" if rest.isdecimal() or not rest:
            return Decision("approve", attempt=int(rest or 0))
        case "reject" if not rest:
            return Decision("reject")
        case "retry":
            return Decision("retry", note=rest.strip())
        case "edit" if rest:
            return Decision("edit", text=_text(rest))
    raise RunError(
        _("{answer} is not an answer.").format(answer=words.strip()[:60] or '""'),
        "",
        _("Answer approve, approve:ATTEMPT, reject, retry:NOTE or edit:@FILE."),
    )


def _text(rest: str) -> str:
    if not rest.startswith("@"):
        return clean(rest)
    try:
        return clean(Path(rest[1:]).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(_("Cannot read {file}.").format(file=rest[1:]), str(error)) from error


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers given before the run: each answers the question of its node, and never a required approval."""

    by_node: Mapping[str, Decision]

    @classmethod
    def from_flags(cls, flags: Iterable[str]) -> Answers:
        """From `NODE=ANSWER`. Raises RunError."""
        pairs = (flag.partition("=") for flag in flags)
        return cls({node: parse_answer(words) for node, _equals, words in pairs})

    def for_question(self, question: Question) -> Decision | None:
        """The answer to this question, if one was given and it may be answered so."""
        return None if question.required else self.by_node.get(question.node)
