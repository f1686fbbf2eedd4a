"""Parses and formats names, chapters and people in forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.story import Knower
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.form import Unreadable, names_of
from flowcabal_tui.tui.story.cast import Cast

KNOWN_SINCE: Final = "@"


def person(typed: str, cast: Cast) -> EntityId:
    """The person with a typed name: a name has priority over an alias. Raises Unreadable."""
    wanted = " ".join(clean(typed).split()).casefold()
    if not wanted:
        raise Unreadable(_("A name is missing."))
    named = [each for each in cast.entities if each.name.casefold() == wanted]
    known = named or [each for each in cast.entities if wanted in map(str.casefold, each.aliases)]
    if not known:
        raise Unreadable(_("Nothing in the book is called {name}.").format(name=typed.strip()))
    if len(known) > 1:
        raise Unreadable(_("{n} are called {name}; use another name.").format(n=len(known), name=typed.strip()))
    return known[0].id


def people(typed: str, cast: Cast) -> tuple[EntityId, ...]:
    """The people with the typed names. Raises Unreadable."""
    return tuple(dict.fromkeys(person(name, cast) for name in names_of(typed)))


def chapter(typed: str, cast: Cast) -> ChapterId | None:
    """The chapter of that number; None for empty input. Raises Unreadable."""
    if not typed.strip():
        return None
    number = position(typed)
    found = cast.at(number)
    if found is None:
        raise Unreadable(_("There is no chapter {n}.").format(n=number))
    return found.id


def the_chapter(typed: str, cast: Cast) -> ChapterId:
    """Like `chapter`, but the input must not be empty. Raises Unreadable."""
    found = chapter(typed, cast)
    if found is None:
        raise Unreadable(_("A chapter is missing."))
    return found


def position(typed: str) -> int:
    """The number of a chapter, written or not; 0 for empty input. Raises Unreadable."""
    words = typed.strip()
    if not words:
        return 0
    if not words.isdecimal():
        raise Unreadable(_("{words} is not a chapter number.").format(words=words))
    return int(words)


def span(start: int, end: int) -> None:
    """Checks a period. Raises Unreadable when both ends are given and the end comes first."""
    if start and end and end < start:
        raise Unreadable(_("The end comes before the beginning."))


def knowers(typed: str, cast: Cast) -> tuple[Knower, ...]:
    """The people who know, each with the chapter of learning it, such as `Mara @3, Joss`. Raises Unreadable."""
    found = []
    for part in names_of(typed):
        name, _sign, since = part.partition(KNOWN_SINCE)
        found.append(Knower(person(name, cast), chapter(since, cast)))
    return tuple(found)


def typed_names(entities: Iterable[EntityId], cast: Cast) -> str:
    """People in the typed form; removed ones are left out."""
    return _(", ").join(each.name for each in map(cast.entity, entities) if each is not None)


def typed_chapter(known: ChapterId | None, cast: Cast) -> str:
    """A chapter in typed form."""
    return str(cast.position(known) or "")


def typed_knowers(known: Iterable[Knower], cast: Cast) -> str:
    """Knowers in typed form."""
    written = ((cast.entity(each.entity), cast.position(each.since)) for each in known)
    return _(", ").join(
        f"{who.name} {KNOWN_SINCE}{since}" if since else who.name for who, since in written if who is not None
    )
