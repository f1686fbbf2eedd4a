"""The texts of a name's card, for the screen and the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from flowcabal_tui.domain.memory import Entity, EntityKind
from flowcabal_tui.domain.name_card import CardPlace, NameCard
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.domain.text import FACTS_APART, clean_line
from flowcabal_tui.locale import _, mark, ngettext

ENTITY_KINDS: Final[Mapping[EntityKind, str]] = {
    "character": mark("Character"),
    "location": mark("Place"),
    "plot-thread": mark("Plot thread"),
    "item": mark("Thing"),
    "organisation": mark("Organisation"),
}
NAMES, PROFILE, SEEN, FIRST, RELATION = "names", "profile", "seen", "first", "relation/"
"""Targets of the lines of a card; a relation is followed by the id of the other entity."""
_SIGNS: Final = {True: "→", False: "←", None: "─"}


def kind_title(entity: Entity) -> str:
    """The kind of a name: the writer's own word for it, or a word of the program."""
    return clean_line(entity.own_kind) or _(ENTITY_KINDS[entity.kind])


def card_head(card: NameCard) -> str:
    """The name, and below it the aliases."""
    aliases = " = ".join(_cut(alias, 40) for alias in card.entity.aliases)
    return "\n".join(filter(None, (_cut(card.entity.name, 60), aliases and f"= {aliases}")))


def card_lines(card: NameCard, kind: str) -> Iterator[tuple[str, str, str]]:
    """For each line, its target, its label ("": none; with a trailing blank if the text needs one), and its text.

    The lines are: `kind` and mentions, profile, note, fields, last and first occurrence, relations.
    """
    for target, label, words in _lines(card, kind):
        yield target, f"{label} " if label.endswith(":") else label, words


def _lines(card: NameCard, kind: str) -> Iterator[tuple[str, str, str]]:
    entity = card.entity
    counted = ngettext("mentioned {n} time", "mentioned {n} times", card.mentions).format(n=f"{card.mentions:,}")
    yield NAMES, "", FACTS_APART.join((kind, counted if card.mentions else _("never mentioned")))
    if card.about:
        yield PROFILE, _("Profile:"), _cut(card.about, 300)
    if entity.note:
        yield NAMES, _("Note:"), _cut(entity.note, 300)
    for name, value in entity.fields:
        yield NAMES, _("{name}:").format(name=_cut(name, 40)), _cut(value, 300)
    if card.seen is not None:
        yield SEEN, _("Last seen:"), _placed(card.seen)
    elif card.first is not None:
        yield FIRST, _("Last seen:"), _("in no earlier chapter")
    if card.first is not None:
        yield FIRST, _("First:"), _placed(card.first)
    for each in card.relations:
        words = _("{kind}: {name}").format(kind=_cut(each.words, 40), name=_cut(each.name, 60))
        yield f"{RELATION}{each.other}", "", f"{_SIGNS[each.outward]} {words}"


def _placed(place: CardPlace) -> str:
    chapter = f"{place.position} {_cut(place.title, 40)}".rstrip()
    return _("{chapter} “{words}”").format(chapter=chapter, words=quotable(_cut(place.sentence, 120)))


def _cut(text: str, limit: int) -> str:
    line = clean_line(text)
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
