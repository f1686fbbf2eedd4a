"""The words of a name's card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from flowcabal_tui.domain.name_card import CardPlace, NameCard
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.tui.shared.name_card import CardRow
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.words import BY_ENTITY, ENTITY_KINDS

NAMES, PROFILE, SEEN, FIRST, RELATION = "names", "profile", "seen", "first", "relation/"
"""What rows open; a relation with the id of the other one."""
_SIGNS: Final = {True: "→", False: "←", None: "─"}


def card_head(card: NameCard) -> str:
    """The name, and below it the aliases."""
    aliases = " = ".join(one_line(alias, 40) for alias in card.entity.aliases)
    return "\n".join(filter(None, (one_line(card.entity.name, 60), aliases and f"= {aliases}")))


def card_rows(card: NameCard) -> Iterator[CardRow]:
    """Kind and author, profile, note, where it was last and first, relations."""
    entity = card.entity
    counted = ngettext("mentioned {n} time", "mentioned {n} times", card.mentions).format(n=f"{card.mentions:,}")
    kind = f"{_(ENTITY_KINDS[entity.kind])} · {_(BY_ENTITY[entity.by])}"
    yield CardRow(NAMES, "", f"{kind} · {counted if card.mentions else _('never mentioned')}")
    if card.about:
        yield CardRow(PROFILE, _("Profile:"), one_line(card.about, 300))
    if entity.note:
        yield CardRow(NAMES, _("Note:"), one_line(entity.note, 300))
    if card.seen is not None:
        yield CardRow(SEEN, _("Last seen:"), _placed(card.seen))
    elif card.first is not None:
        yield CardRow(FIRST, _("Last seen:"), _("in no earlier chapter"))
    if card.first is not None:
        yield CardRow(FIRST, _("First:"), _placed(card.first))
    for each in card.relations:
        words = f"{_SIGNS[each.outward]} {one_line(each.words, 40)} · {one_line(each.name, 60)}"
        yield CardRow(f"{RELATION}{each.other}", "", words)


def _placed(place: CardPlace) -> str:
    chapter = f"{place.position} {one_line(place.title, 40)}".rstrip()
    return _("{chapter} “{words}”").format(chapter=chapter, words=one_line(place.sentence, 120))
