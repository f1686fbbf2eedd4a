"""Rule: the narration uses a name as known before it introduces it, and no earlier chapter has the name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.agents.checking.rules.deaths import act_after
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.domain.text import line_around
from flowcabal_tui.locale import _

_WORDS: Final = word_table("rules", "introductions")
_ENDS: Final = late(r"[。！？.!?]")
"""The ends of sentences; a line without one is a heading or verse."""
_ZH: Final = (
    late(rf"(?:{alternatives(_WORDS['called_zh'])})(?P<name>[㐀-鿿]{{2,4}}?)(?=[，。；：！、的者\n])"),
    late(r"姓(?P<family>[㐀-鿿]{1,2}?)，?[双单]?名(?:[唤叫]作?)?(?P<given>[㐀-鿿]{1,2}?)(?=[，。；字])"),
)
_TITLE: Final = rf"(?:(?:{alternatives(_WORDS['titles_en'])})\.? )?"
_EN: Final = (
    late(
        rf"\b(?:{alternatives(_WORDS['before_en'])}) [^.!?;\n\0]{{0,60}}?\b(?:{_WORDS['called_en']}) "
        rf"(?P<name>{_TITLE}[A-Z][\w’-]+(?: [A-Z][\w’-]+){{0,2}})"
    ),
    late(rf"\b(?i:{_WORDS['name_en']}) (?P<name>{_TITLE}[A-Z][\w’-]+(?: [A-Z][\w’-]+){{0,2}})"),
)


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per name, at its first act before the introducing words."""
    seen = set()
    for name, introduced in _introduced(draft):
        if name in seen:
            continue
        seen.add(name)
        act = _acts_before(name, draft, introduced.start, book)
        if act is not None and not any(book.chapters_with(each, 0) for each in _forms(name, book)):
            message = _("The text introduces “{name}” only later: “{words}”").format(
                name=name, words=quotable(draft.text[introduced.start : introduced.end])
            )
            yield RuleFinding("nomenclature confusion", message, draft.clause_at(act.start, act.end))


def _introduced(narrated: NarratedText) -> Iterator[tuple[str, Span]]:
    """The names that the narration introduces, with the introducing words."""
    for pattern in _ZH if narrated.language.startswith("zh") else _EN:
        for match in pattern.finditer(narrated.narration):
            groups = match.groupdict()
            yield groups.get("name") or groups["family"] + groups["given"], Span(*match.span())


def _forms(name: str, book: EarlierBook) -> set[str]:
    """The name, its words, and the other names of its bearer."""
    bearers = (entity.names for entity in book.entities if name in entity.names)
    words = {word for word in name.split() if len(word) > 3 or word == name}
    return {name, *words, *(other for names in bearers for other in names)}


def _acts_before(name: str, narrated: NarratedText, place: int, book: EarlierBook) -> Span | None:
    """The first words before a place in which the bearer of the name acts."""
    for match in re.finditer(re.escape(name), narrated.narration[:place]):
        line = narrated.text[slice(*line_around(narrated.text, *match.span()))]
        act = act_after(narrated, match.end(), book) if _ENDS.search(line) else None
        if act is not None and act <= place:
            return Span(match.start(), act)
    return None
