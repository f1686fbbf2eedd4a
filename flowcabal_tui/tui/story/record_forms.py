"""The forms of entities and records: their fields, and the conversion of their values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from flowcabal_tui.domain.book_kinds import BookKind, field_names, kind_of, of_kind
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import Fact, Moment, Promise, RecordId, Relation, StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable, names_of
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story import typed as reading
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.kinds import every_kind, kind_choices

L = TypeVar("L", Relation, Fact)
NEW: Final = RecordId("")
"""The id of a record that is not written yet."""


def entity_form(entity: Entity, kinds: Sequence[BookKind] = ()) -> FormScreen[Entity]:
    """Name, kind, further names, note, and the fields of its kind among the `kinds` of the book.

    A name left in the form is confirmed; a removed one is rejected.
    """
    known = {each.name: each for each in every_kind((*kinds, kind_of(entity, kinds)))}
    noted, labels = dict(entity.fields), field_names(entity, kinds)

    def read(typed: Typed) -> Entity:
        name, aliases = typed.text("name"), names_of(typed.text("aliases"))
        if not name:
            raise Unreadable(_("A name is missing."))
        aliases, dropped = _without(aliases, (name,)), _without(entity.aliases, (name, *aliases))
        fields = ((label, typed.text(f"noted-{at}")) for at, label in enumerate(labels))
        return replace(
            of_kind(entity, known[typed.text("kind")]), name=name, aliases=aliases, note=typed.text("note"), by="hand",
            fields=tuple((label, value) for label, value in fields if value),
            proposed=_without(entity.proposed, (name, *aliases)),
            rejected=_without((*entity.rejected, *dropped), (name, *aliases)),
        )  # fmt: skip

    fields = (
        Field("name", _("Name"), entity.name),
        Field("kind", _("Kind"), entity.own_kind or entity.kind, choices=kind_choices(tuple(known.values()))),
        Field("aliases", _("Aliases"), _(", ").join(entity.aliases), _("separated by commas")),
        Field("note", _("Note"), entity.note),
        *(Field(f"noted-{at}", one_line(label, 20), noted.get(label, "")) for at, label in enumerate(labels)),
    )
    return FormScreen(_("Edit {name}").format(name=entity.name) if entity.name else _("A new name"), fields, read)


def relation_form(relation: Relation, cast: Cast) -> FormScreen[Relation]:
    """The form of a relation: its two people, its kind, and its period."""

    def read(typed: Typed) -> Relation:
        if not typed.text("kind"):
            raise Unreadable(_("What is their relation? Such as: father of, friend of."))
        changed = replace(
            relation, source=reading.person(typed.text("source"), cast), kind=typed.text("kind"),
            target=reading.person(typed.text("target"), cast), directed=not typed.tick("both"),
        )  # fmt: skip
        if changed.source == changed.target:
            raise Unreadable(_("A relation has two ends."))
        return _lasting(changed, typed, cast)

    fields = (
        Field("source", _("Who"), _name(relation.source, cast), names=True),
        Field("kind", _("is what"), relation.kind, _("father of, friend of, serves ...")),
        Field("target", _("to whom"), _name(relation.target, cast), names=True),
        Field("both", _("both ways"), not relation.directed),
        *_period(relation, cast),
    )
    return FormScreen(_("Edit the relation") if relation.id else _("A new relation"), fields, read, known_names(cast))


def fact_form(fact: Fact, cast: Cast) -> FormScreen[Fact]:
    """The form of a fact: its text, its people, its period, and its knowers."""

    def read(typed: Typed) -> Fact:
        changed = replace(
            fact, text=_text_of(typed), about=reading.people(typed.text("about"), cast),
            attribute=typed.text("attribute"), secret=typed.tick("secret"),
            known_by=reading.knowers(typed.text("known"), cast),
        )  # fmt: skip
        return _lasting(changed, typed, cast)

    fields = (
        Field("text", _("What is true"), fact.text),
        _about(fact.about, cast),
        Field("attribute", _("State of the first"), fact.attribute, _("lives in, carries ...: a later one ends it")),
        *_period(fact, cast),
        Field("secret", _("secret: only those named below know it"), fact.secret),
        Field("known", _("Who knows it"), reading.typed_knowers(fact.known_by, cast), _("Mara @3: since chapter 3"),
              names=True),
    )  # fmt: skip
    return FormScreen(_("Edit the fact") if fact.id else _("A new fact"), fields, read, known_names(cast))


def promise_form(promise: Promise, cast: Cast) -> FormScreen[Promise]:
    """The form of a promise: its text, and the chapters in which it is planted, due and paid."""

    def read(typed: Typed) -> Promise:
        start, end = reading.position(typed.text("from")), reading.position(typed.text("until"))
        reading.span(start, end)
        return replace(
            promise, text=_text_of(typed), planted=reading.the_chapter(typed.text("planted"), cast), due_from=start,
            due_until=end, paid=reading.chapter(typed.text("paid"), cast), dropped=typed.tick("dropped"),
            about=reading.people(typed.text("about"), cast),
        )  # fmt: skip

    fields = (
        Field("text", _("The promise"), promise.text),
        Field("planted", _("Planted in chapter"), reading.typed_chapter(promise.planted, cast)),
        Field("from", _("Due from chapter"), str(promise.due_from or ""), _("empty: not given")),
        Field("until", _("Due until chapter"), str(promise.due_until or ""), _("empty: not given")),
        _about(promise.about, cast),
        Field("paid", _("Paid in chapter"), reading.typed_chapter(promise.paid, cast), _("empty: not yet")),
        Field("dropped", _("dropped: it will not be paid"), promise.dropped),
    )
    return FormScreen(_("Edit the promise") if promise.id else _("A new promise"), fields, read, known_names(cast))


def moment_form(moment: Moment, cast: Cast) -> FormScreen[Moment]:
    """The form of an event: its text, its chapter, and its time."""

    def read(typed: Typed) -> Moment:
        order = typed.text("order")
        try:
            number = float(order) if order else None
        except ValueError:
            raise Unreadable(_("{words} is not a number.").format(words=order)) from None
        return replace(
            moment, text=_text_of(typed), chapter=reading.the_chapter(typed.text("chapter"), cast),
            when=typed.text("when"), order=number, about=reading.people(typed.text("about"), cast),
        )  # fmt: skip

    order = "" if moment.order is None else f"{moment.order:g}"
    fields = (
        Field("text", _("What happens"), moment.text),
        Field("chapter", _("Narrated in chapter"), reading.typed_chapter(moment.chapter, cast)),
        Field("when", _("When"), moment.when, _("in the story's own words: three years before, the next morning")),
        Field("order", _("Order in time"), order, _("as if narrated in this chapter: 0.5 is before chapter 1")),
        _about(moment.about, cast),
    )
    return FormScreen(_("Edit the moment") if moment.id else _("A new moment"), fields, read, known_names(cast))


def record_form(record: StoryRecord, cast: Cast) -> FormScreen[Any]:
    """The form of a record of any kind."""
    match record:
        case Relation():
            return relation_form(record, cast)
        case Fact():
            return fact_form(record, cast)
        case Promise():
            return promise_form(record, cast)
        case Moment():
            return moment_form(record, cast)


def person_form(question: str, cast: Cast) -> FormScreen[EntityId]:
    """Asks for a person, by any of their names."""
    row = Field("who", _("Name"), names=True)
    return FormScreen(question, (row,), lambda typed: reading.person(typed.text("who"), cast), known_names(cast))


def end_form(record: Relation | Fact, chapter: int, cast: Cast) -> FormScreen[ChapterId]:
    """The form for the first chapter in which the record is no longer valid; `chapter` is proposed."""

    def read(typed: Typed) -> ChapterId:
        until = reading.the_chapter(typed.text("until"), cast)
        reading.span(cast.position(record.since), cast.position(until))
        return until

    row = Field("until", _("Until before chapter"), str(chapter or ""))
    return FormScreen(_("From which chapter on is it no longer true?"), (row,), read)


def payment_form(cast: Cast) -> FormScreen[ChapterId]:
    """The form for the chapter that pays a promise; the last written one is proposed."""
    row = Field("paid", _("Paid in chapter"), str(cast.written or ""))
    title = _("Which chapter pays the promise?")
    return FormScreen(title, (row,), lambda typed: reading.the_chapter(typed.text("paid"), cast))


def known_names(cast: Cast) -> tuple[str, ...]:
    """Names before aliases, the most mentioned first: the first match completes the input."""
    order = sorted(cast.entities, key=lambda each: -cast.mentions(each.id))
    return (*(each.name for each in order), *(alias for each in order for alias in each.aliases))


def _lasting(record: L, typed: Typed, cast: Cast) -> L:
    since, until = reading.chapter(typed.text("since"), cast), reading.chapter(typed.text("until"), cast)
    reading.span(cast.position(since), cast.position(until))
    return replace(record, since=since, until=until)


def _period(record: Relation | Fact, cast: Cast) -> tuple[Field, Field]:
    return (
        Field("since", _("From chapter"), reading.typed_chapter(record.since, cast), _("empty: before the book")),
        Field("until", _("Until before chapter"), reading.typed_chapter(record.until, cast), _("empty: to the end")),
    )


def _about(people: tuple[EntityId, ...], cast: Cast) -> Field:
    return Field("about", _("About"), reading.typed_names(people, cast), _("names, separated by commas"), names=True)


def _name(entity: EntityId, cast: Cast) -> str:
    known = cast.entity(entity)
    return known.name if known else ""


def _without(names: Iterable[str], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in names if each not in gone))


def _text_of(typed: Typed) -> str:
    if not typed.text("text"):
        raise Unreadable(_("The text is missing."))
    return typed.text("text")
