"""Rule: somebody has a thing that belongs to somebody else, or another weapon or mount than always before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.belongings import Belonging, belongings, things_of
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.locale import _

_USUAL: Final = frozenset({"weapon", "mount"})
"""Kinds of which a person usually keeps the same one."""
_OFTEN, _CHAPTERS, _SHARE = 4, 2, 0.9
"""Least statements about one kind, least chapters with them, and least share of the usual thing, for a habit."""
_FEW, _RARE = 3, 0.1
"""A noun alone identifies a thing if at most this number, or this share, of the chapters contain it."""

_Earlier = Sequence[tuple[NarratedText, Belonging]]


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per statement of the draft."""
    mine = draft.made_of_names(belongings, book)
    earlier = [(chapter, each) for chapter in book.chapters for each in chapter.made_of_names(belongings, book)]
    got: set[tuple[str, str]] = set()
    for now in mine:
        if now.act == "gets":
            got.add((now.owner, now.thing))
        elif (now.owner, now.thing) not in got and not draft.says_changed(now.start):
            usual = _declared(now, book) or _unusual(now, earlier)
            source = usual or _of_another(now, earlier, book)
            if source is not None:
                got.add((now.owner, now.thing))
                own, others = _("This person had another one before."), _("This belonged to somebody else before.")
                message = own if usual else others
                yield RuleFinding("memory contradiction", message, draft.quoted(now.start, now.end), source)


def _declared(now: Belonging, book: EarlierBook) -> Quotation | None:
    """The note on the owner that names another weapon or mount, if no note names this one."""
    sources = []
    for note in book.declared if now.kind in _USUAL else ():
        if note.about == now.owner:
            things = {thing for kind, thing in things_of(note.narrated.text) if kind == now.kind}
            if now.thing in things:
                return None
            sources += [note.source] if things else []
    return sources[-1] if sources else None


def _unusual(now: Belonging, earlier: _Earlier) -> Quotation | None:
    """The last statement about the usual weapon or mount of the owner, who never had this one."""
    if now.kind not in _USUAL:
        return None
    before = [(chapter, each) for chapter, each in earlier if each.owner == now.owner and each.kind == now.kind]
    things = Counter(each.thing for _chapter, each in before)
    if now.thing in things or len(before) < _OFTEN or len({id(chapter) for chapter, _each in before}) < _CHAPTERS:
        return None
    ((usual, times),) = things.most_common(1)
    if times < _SHARE * len(before):
        return None
    chapter, last = [each for each in before if each[1].thing == usual][-1]
    return chapter.sentence_at(last.start)


def _of_another(now: Belonging, earlier: _Earlier, book: EarlierBook) -> Quotation | None:
    """The last statement about the same thing, if it belongs to somebody else and the owner never had it."""
    if not now.is_own or not (now.mark or (now.kind == "thing" and _is_rare(now.thing, book))):
        return None
    same = [
        (chapter, each)
        for chapter, each in earlier
        if (each.thing, each.mark) == (now.thing, now.mark) and (each.is_own or each.act == "gets")
    ]
    owners = {each.owner for _chapter, each in same}
    if now.owner in owners or not same:
        return None
    chapter, last = same[-1]
    return chapter.sentence_at(last.start) if len(owners) == 1 or last.act == "gets" else None


def _is_rare(thing: str, book: EarlierBook) -> bool:
    word = re.compile(rf"\b{thing}\b" if thing.isascii() else thing, re.IGNORECASE)
    chapters = sum(word.search(chapter.text) is not None for chapter in book.chapters)
    return chapters <= max(_FEW, _RARE * len(book.chapters))
