"""The screen's words for entities, relations, facts, promises and moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.quoting import quoted as between_marks
from flowcabal_tui.domain.story import Fact, Hand, Moment, Promise, Relation
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.card_words import kind_title
from flowcabal_tui.project.words import beside
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.widgets.role_words import facts_words

BY: Final[Mapping[Hand, str]] = {"hand": mark("by hand"), "agent": mark("by an agent")}
BY_ENTITY: Final = {"hand": mark("by hand"), "agent": mark("by an agent"), "discovered": mark("found in the text")}
PromiseState = Literal["overdue", "due", "open", "paid", "dropped"]
PROMISE_STATES: Final[Mapping[PromiseState, tuple[str, str]]] = {
    "overdue": ("!", mark("overdue")),
    "due": ("*", mark("due")),
    "open": (" ", mark("open")),
    "paid": ("+", mark("paid")),
    "dropped": ("-", mark("dropped")),
}
"""State -> sign and word, most urgent first."""


@dataclass(frozen=True, slots=True)
class PromiseStatus:
    """The state of a promise before the next chapter to be written: `late` is the number of chapters by which it is
    overdue.

    For `silent` chapters one of its subjects has not been mentioned; None: unknown.
    """

    state: PromiseState
    late: int = 0
    silent: int | None = None


def kind_words(entity: Entity) -> str:
    """The kind of an entity; the writer's own kind if it has one."""
    return one_line(kind_title(entity), 40)


def entity_lines(entity: Entity, cast: Cast) -> Iterator[str]:
    """The details of an entity."""
    yield one_line(entity.name, 200)
    seen = cast.seen.get(entity.id)
    yield facts_words(kind_words(entity), _(BY_ENTITY[entity.by]))
    for name, value in entity.fields:
        yield _("{name}: {value}").format(name=one_line(name, 40), value=one_line(value, 300))
    if seen is None:
        yield _("never mentioned")
    else:
        places = ngettext("mentioned {n} time", "mentioned {n} times", seen.mentions).format(n=f"{seen.mentions:,}")
        yield facts_words(places, _("chapters {first} to {last}").format(first=seen.first, last=seen.last))
    relations = sum(entity.id in (each.source, each.target) for each in cast.story.relations)
    facts = sum(entity.id in each.about for each in cast.story.facts)
    if relations or facts:
        counted = ngettext("{n} relation", "{n} relations", relations).format(n=relations)
        yield facts_words(counted, ngettext("{n} fact", "{n} facts", facts).format(n=facts))
    if entity.note:
        yield one_line(entity.note, 2_000)


def promise_state(promise: Promise, cast: Cast) -> PromiseStatus:
    """The state of a promise as of the last written chapter."""
    coming = cast.written + 1
    if promise.dropped:
        return PromiseStatus("dropped")
    if promise.paid is not None:
        return PromiseStatus("paid")
    planted = cast.position(promise.planted)
    last = [cast.seen[each].last for each in promise.about if each in cast.seen]
    silent = max(0, cast.written - max(planted, min(last))) if last else None
    if promise.due_until and promise.due_until < coming:
        return PromiseStatus("overdue", coming - promise.due_until, silent)
    is_due = bool(promise.due_from or promise.due_until) and promise.due_from <= coming
    return PromiseStatus("due" if is_due else "open", 0, silent)


def urgency(promise: Promise, cast: Cast) -> tuple[int, int, int, str]:
    """A sort key for promises: the longest overdue first, then by due date, settled ones last."""
    found = promise_state(promise, cast)
    order = list(PROMISE_STATES).index(found.state)
    due = promise.due_until or promise.due_from or len(cast.chapters) + 1
    return order, due, cast.position(promise.planted), promise.id


def promise_state_words(found: PromiseStatus) -> str:
    """The state in words, such as "overdue by 3 chapters"."""
    if found.late:
        return ngettext("overdue by {n} chapter", "overdue by {n} chapters", found.late).format(n=found.late)
    return _(PROMISE_STATES[found.state][1])


def promise_lines(promise: Promise, cast: Cast) -> Iterator[str]:
    """The details of a promise."""
    found = promise_state(promise, cast)
    yield one_line(promise.text, 2_000)
    span = due_words(promise)
    planted = _("planted in {chapter}").format(chapter=cast.chapter(promise.planted))
    paid = _("paid in {chapter}").format(chapter=cast.chapter(promise.paid)) if promise.paid else ""
    silence = _silence(found.silent) if found.silent else ""
    yield facts_words(promise_state_words(found), planted, span, paid, silence, _(BY[promise.by]))
    if promise.about:
        yield _("about {names}").format(names=cast.names(promise.about))


def due_words(promise: Promise) -> str:
    """The chapters in which it is due; empty when none are given."""
    start, end = promise.due_from, promise.due_until
    if start and start == end:
        return _("due in chapter {n}").format(n=start)
    if start and end:
        return _("due in chapters {start} to {end}").format(start=start, end=end)
    if start or end:
        return _("due by chapter {n}").format(n=end) if end else _("due from chapter {n}").format(n=start)
    return ""


def _silence(chapters: int) -> str:
    return ngettext("silent for {n} chapter", "silent for {n} chapters", chapters).format(n=chapters)


def relation_words(relation: Relation, centre: EntityId, cast: Cast) -> str:
    """A relation from the viewpoint of `centre`: direction, kind, the other entity, the period."""
    other = relation.target if relation.source == centre else relation.source
    sign = "→" if relation.source == centre else "←"
    tie = facts_words(f"{sign if relation.directed else '─'} {one_line(relation.kind, 40)}", cast.name(other))
    return facts_words(tie, period(relation, cast), _(BY[relation.by]), quoted(relation))


def period(record: Relation | Fact, cast: Cast) -> str:
    """The chapters of its validity; "" for the whole book."""
    if record.until is not None:
        words = _("from {start} until {end}")
        return words.format(start=cast.chapter(record.since), end=cast.chapter(record.until))
    return _("from {start} on").format(start=cast.chapter(record.since)) if record.since else ""


def short_period(record: Relation | Fact, cast: Cast) -> str:
    """The period as numbers of chapters, such as "3-12", "3-"."""
    since, until = cast.position(record.since), cast.position(record.until)
    return f"{since or ''}-{until or ''}" if since or until else ""


def fact_lines(fact: Fact, cast: Cast) -> Iterator[str]:
    """The details of a fact."""
    yield one_line(fact.text, 2_000)
    state = _("state: {attribute}").format(attribute=one_line(fact.attribute, 60)) if fact.attribute else ""
    yield facts_words(period(fact, cast) or _("always"), state, _(BY[fact.by]))
    if fact.about:
        yield _("about {names}").format(names=cast.names(fact.about))
    if fact.secret or fact.known_by:
        knowers = _(", ").join(
            beside(cast.name(each.entity), cast.chapter(each.since) if each.since else "") for each in fact.known_by
        )
        words = _("secret; only {names} know it") if fact.secret else _("known to {names}")
        yield words.format(names=knowers or _("nobody"))


def moment_lines(moment: Moment, cast: Cast) -> Iterator[str]:
    """The details of a moment."""
    yield one_line(moment.text, 2_000)
    when = one_line(moment.when, 80)
    narrated = _("narrated in {chapter}").format(chapter=cast.chapter(moment.chapter))
    yield facts_words(when, narrated, _(BY[moment.by]))
    if moment.about:
        yield _("about {names}").format(names=cast.names(moment.about))


def quoted(record: Relation | Fact | Promise | Moment, limit: int = 60) -> str:
    """The first supporting words."""
    return between_marks(one_line(record.evidence[0].sentence, limit)) if record.evidence else ""
