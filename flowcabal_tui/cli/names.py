"""`names`: people, places and things with their kinds and fields; the card of one; the kinds of the book."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

from flowcabal_tui.cli.answers import BadArgument, named, require_beside
from flowcabal_tui.cli.naming import chapter_at
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.book_kinds import BookKind, of_kind
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.memory import Entity, EntityKind
from flowcabal_tui.domain.name_card import NameCard
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.card_words import ENTITY_KINDS, card_head, card_lines, kind_title
from flowcabal_tui.protocol.story import PutEntity, SetNameKinds

DONE, NONE = 0, 1
_SHOWN = 10
_KINDS: tuple[EntityKind, ...] = get_args(EntityKind)


async def names(arguments: Namespace) -> int:
    """Prints the names, one per line, after applying the options; returns 1 when none matches."""
    edits, defines = arguments.edit is not None, arguments.define is not None
    require_beside("--edit", edits, field=arguments.field, **{"as": arguments.as_kind})
    require_beside("--define", defines, base=arguments.base, fields=arguments.fields)
    require_beside("--card", arguments.card is not None, chapter=arguments.chapter)
    changes = edits or defines or arguments.undefine is not None
    async with await opened(arguments, read_only=not changes, knowledge=False) as project:
        await _carry_out(project, arguments)
        if arguments.card is not None:
            chapter = await chapter_at(project, arguments.chapter)
            entity = _named(await project.story.entities(), arguments.card)
            _print_card(await project.story.name_card(entity.id, chapter), as_json=arguments.json)
            return DONE
        entities = await project.story.entities()
        kind = _kind(arguments.kind, await project.story.name_kinds(), entities) if arguments.kind else None
        found = [each for each in entities if _fits(each, kind, arguments.words)]
        _print(found, await project.story.name_kinds(), as_json=arguments.json)
    return DONE if found or changes else NONE


async def _carry_out(project: Project, arguments: Namespace) -> None:
    """Carries out the changes, kinds first, so that a name can have a kind that was just defined."""
    kinds = {each.name: each for each in await project.story.name_kinds()}
    if arguments.define is not None:
        kind = kinds.get(arguments.define) or BookKind(arguments.define, _base(arguments.define))
        fields = kind.fields if arguments.fields is None else tuple(arguments.fields.split(","))
        kinds[kind.name] = replace(kind, base=arguments.base or kind.base, fields=fields)
    if arguments.undefine is not None and kinds.pop(arguments.undefine, None) is None:
        raise _unknown(_("There is no kind {name}.").format(name=arguments.undefine), kinds)
    if arguments.define is not None or arguments.undefine is not None:
        await project.carry_out(SetNameKinds(tuple(kinds.values())))
    if arguments.edit is not None:
        entity = _named(await project.story.entities(), arguments.edit)
        await project.carry_out(PutEntity(_edited(entity, arguments, tuple(kinds.values()))))


def _base(name: str) -> EntityKind:
    return next((kind for kind in _KINDS if kind == name), "character")


def _edited(entity: Entity, arguments: Namespace, kinds: Sequence[BookKind]) -> Entity:
    """The entity with the kind and the fields that the arguments give. Raises BadArgument, UnknownName."""
    fields = dict(entity.fields)
    for given in arguments.field:
        name, equals, value = given.partition("=")
        if not equals or not name.strip():
            raise BadArgument(_("A field is NAME=TEXT: {given}").format(given=clean_line(given)))
        fields[name.strip()] = value
    if arguments.as_kind is not None:
        known = {kind: BookKind(kind, kind) for kind in _KINDS} | {each.name: each for each in kinds}
        entity = of_kind(entity, known[_kind(arguments.as_kind, kinds)])
    return replace(entity, fields=tuple(fields.items()), by="hand")


def _named(entities: Sequence[Entity], wanted: str) -> Entity:
    """The entity with this id, name or alias. Raises UnknownName."""
    for known in (lambda each: (each.id, each.name), lambda each: each.names):
        found = next((each for each in entities if wanted in known(each)), None)
        if found is not None:
            return found
    raise _unknown(_("There is no name {name}.").format(name=wanted), [each.name for each in entities])


def _unknown(title: str, known: Iterable[str]) -> UnknownName:
    names = [clean_line(name) for name in known]
    listed = _(", ").join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
    return UnknownName(title, _("Available: {names}").format(names=listed or "—"))


def _kind(wanted: str, kinds: Iterable[BookKind], entities: Iterable[Entity] = ()) -> str:
    """A kind by its id or title; names keep the word for a kind that is no longer defined. Raises BadArgument."""
    own = {name: name for name in (*(each.name for each in kinds), *(each.own_kind for each in entities)) if name}
    return named(wanted, own | dict(ENTITY_KINDS), _("There is no kind {name}."))


def _fits(entity: Entity, kind: str | None, wanted: str) -> bool:
    words = wanted.casefold()
    texts = (*entity.names, entity.note, *(value for _name, value in entity.fields))
    return kind in (None, entity.own_kind or entity.kind, entity.kind) and any(
        words in each.casefold() for each in texts
    )


def _print(found: Sequence[Entity], kinds: Sequence[BookKind], *, as_json: bool) -> None:
    if as_json:
        say_json({"names": [to_plain(each) for each in found], "kinds": [to_plain(each) for each in kinds]}, indent=2)
        return
    for each in found:
        fields = " · ".join(
            _("{name}: {value}").format(name=clean_line(name), value=clean_line(value)) for name, value in each.fields
        )
        say_row((each.id, kind_title(each), " = ".join(map(clean_line, each.names)), clean_line(each.note), fields))


def _print_card(card: NameCard, *, as_json: bool) -> None:
    if as_json:
        say_json(to_plain(card), indent=2)
        return
    say(card_head(card))
    for _target, label, words in card_lines(card, kind_title(card.entity)):
        say(f"{label}{words}")
