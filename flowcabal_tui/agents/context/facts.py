"""The story's records of the cast at this point: relations one hop away, valid facts, promises that are due."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.gather import BookInputs, entity_notes
from flowcabal_tui.agents.context.intent import SceneReading
from flowcabal_tui.agents.context.viewpoint import Viewpoint
from flowcabal_tui.agents.words import word_table
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, StoryRecord, record_uri
from flowcabal_tui.locale import _

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_PROMISES: Final = 8
_RELATIONS: Final = 16
_RELATED: Final = 6
"""Persons and plot threads that come with the cast."""
_FACTS: Final = 24
_SECRETS: Final = 64
"""Maximum number of lines for secrets. They come last, so the budget drops those that do not fit."""
_MOMENTS: Final = 3
_LABEL: Final = 40
"""Maximum characters of a record's label in the receipt."""
_CLAUSE_ZH: Final = re.compile("[了着过他她它]|^[替给把被向为]")
"""In a Chinese kind of relation: marks a clause about an act (熄了他的灯), not a noun (女儿)."""
_GOES_ON: Final = "，；,;"
_BEFORE_A_NAME: Final = frozenset(word_table("names", "relation")["before_a_name"].split())
_WORDS: Final = {
    "since": ("（第{n}章起）", " (since chapter {n})"),
    "in": ("（第{n}章）", " (chapter {n})"),
    "secret": ("（秘密，知情者：{who}）", " (a secret; known to: {who})"),
    "open": ("尚未交代：{text}（第{n}章埋下）", "Still open: {text} (planted in chapter {n})"),
    "due": ("应在此时交代：{text}（第{n}章埋下）", "Due at this point: {text} (planted in chapter {n})"),
    "overdue": ("早该交代：{text}（第{n}章埋下）", "Overdue: {text} (planted in chapter {n})"),
    "when": ("{when}：{text}", "{when}: {text}"),
}
"""Chinese and English words: these lines are in the language of the book, not of the screen."""


async def fact_lines(book: BookInputs, reading: SceneReading) -> list[ContextText]:
    """The lines of the class, most needed first: promises, relations, facts, the story's time, secrets.

    Superseded facts, ended relations and paid promises are never included; a promise that is paid later counts as open.
    """
    words, facts = _Words(book, reading), await book.view.facts()
    cast = {entity.id: place for place, entity in enumerate(reading.cast)}
    return [
        *_promises(await book.view.promises(), cast, words),
        *_relations(await book.view.relations(), cast, words),
        *_facts([each for each in facts if not each.secret], cast, words)[:_FACTS],
        *_moments(await book.view.moments(), words),
        *(
            replace(each, is_secret=True)
            for each in _facts([each for each in facts if each.secret], cast, words)[:_SECRETS]
        ),
    ]


async def related(book: BookInputs, reading: SceneReading) -> tuple[tuple[Entity, str], ...]:
    """The entities related to the cast, and the plot threads that share a record with it, each with the reason.

    In the order of the relations; then the threads, newest first.
    """
    words, known = _Words(book, reading), {entity.id: entity for entity in book.entities}
    cast = {entity.id: place for place, entity in enumerate(reading.cast)}
    found: dict[EntityId, str] = {}
    for relation in _of_cast(await book.view.relations(), cast, words):
        for here, there in ((relation.source, relation.target), (relation.target, relation.source)):
            if here in cast and there not in cast:
                found.setdefault(there, _("a relation of {name}").format(name=words.name(here)))
    for _since, about in sorted(await _open_records(book), key=lambda each: -words.place(each[0])):
        for each in about:
            if each in known and known[each].kind == "plot-thread" and each not in cast and cast.keys() & set(about):
                found.setdefault(each, _("a plot thread of the cast"))
    brought = [(known[each], reason) for each, reason in found.items() if each in known]
    threads = [each for each in brought if each[0].kind == "plot-thread"][: _RELATED // 2]
    others = [each for each in brought if each[0].kind != "plot-thread"][: _RELATED - len(threads)]
    return (*others, *threads)


async def _open_records(book: BookInputs) -> list[tuple[ChapterId | None, tuple[EntityId, ...]]]:
    """Open records by starting chapter and subjects: valid facts, unpaid promises, moments."""
    view = book.view
    return [
        *((fact.since, fact.about) for fact in await view.facts() if fact.until is None),
        *((each.planted, each.about) for each in await view.promises() if each.paid is None and not each.dropped),
        *((moment.chapter, moment.about) for moment in await view.moments()),
    ]


def withheld(viewpoint: Viewpoint, book: BookInputs, reading: SceneReading) -> list[ContextText]:
    """Secrets that must not be included, and the texts that rest on them or contain them, for the receipt."""
    words = _Words(book, reading)
    facts = [(f"facts/{fact.id}", fact.text) for fact in viewpoint.hidden]
    relations = [(f"relations/{each.id}", _relation_line(each, words)) for each in viewpoint.relations]
    return [
        *(ContextText(uri, text, "", "L2", "facts", text, line=True) for uri, text in (*facts, *relations)),
        *entity_notes(viewpoint.noted, {}, book.view.language),
    ]


class _Words:
    """Phrases records and measures their relevance to the prompt."""

    def __init__(self, book: BookInputs, reading: SceneReading) -> None:
        self._book, self.chinese = book, book.view.language.startswith("zh")
        self._names = {entity.id: entity.name for entity in book.entities}
        self._places = {chapter.id: chapter.position for chapter in book.chapters}
        self._wanted = frozenset(reading.words)

    def name(self, entity: EntityId) -> str:
        return self._names.get(entity, "")

    def place(self, chapter: ChapterId | None) -> int:
        """The chapter's position; 0 for events before the book."""
        return self._places.get(chapter, 0) if chapter else 0

    def say(self, key: str, **values: object) -> str:
        return in_language(_WORDS[key], self._book.view.language).format(**values)

    def since(self, chapter: ChapterId | None, key: str = "since") -> str:
        return self.say(key, n=place) if (place := self.place(chapter)) else ""

    @property
    def joint(self) -> str:
        return "、" if self.chinese else ", "

    def near(self, text: str) -> int:
        """The number of words that a text shares with the prompt."""
        return len(self._wanted & _terms(text.lower(), self.chinese))

    @property
    def target(self) -> int:
        return self._book.view.before

    def candidate(
        self, record: StoryRecord, reason: str, label: str, text: str, chapter: ChapterId | None
    ) -> ContextText:
        """A candidate line, at the position of its chapter. The reason names that chapter."""
        places = [at for each in record.evidence[:1] if (at := self.place(each.chapter))]
        why = _(", ").join([reason, *(_("narrated in chapter {n}").format(n=at) for at in places)])
        short = label if len(label) <= _LABEL else f"{label[: _LABEL - 1].rstrip()}…"
        return ContextText(
            record_uri(record), "", why, "L2", "facts", text, position=self.place(chapter), line=True, label=short
        )


def _terms(text: str, chinese: bool) -> set[str]:
    """Pairs of characters for Chinese, words otherwise, like the words of a prompt."""
    return {text[at : at + 2] for at in range(len(text) - 1)} if chinese else set(_WORD.findall(text))


def _promises(promises: Iterable[Promise], cast: dict[EntityId, int], words: _Words) -> list[ContextText]:
    """Promises that are overdue, then those due, then open ones about the cast."""
    found: list[tuple[int, int, Promise, str]] = []
    for promise in promises:
        if promise.paid is not None or promise.dropped:
            continue
        if promise.due_until and words.target > promise.due_until:
            found.append((0, promise.due_until, promise, "overdue"))
        elif promise.due_from and words.target >= promise.due_from:
            found.append((1, promise.due_until, promise, "due"))
        elif not promise.due_from and cast.keys() & set(promise.about):
            found.append((2, -words.place(promise.planted), promise, "open"))
    reasons = {
        "overdue": _("a promise that is overdue"),
        "due": _("a promise that is due"),
        "open": _("an open promise"),
    }
    return [
        words.candidate(
            each, reasons[key], each.text, words.say(key, text=each.text, n=words.place(each.planted)), each.planted
        )
        for _rank, _when, each, key in sorted(found, key=lambda each: (*each[:2], each[2].id))[:_PROMISES]
    ]


def _of_cast(relations: Iterable[Relation], cast: dict[EntityId, int], words: _Words) -> list[Relation]:
    """Relations within the cast, then those one hop away; most similar to the prompt first, then the newest."""
    found = [each for each in relations if each.until is None and (each.source in cast or each.target in cast)]

    def order(relation: Relation) -> tuple[bool, int, int, str]:
        both = relation.source in cast and relation.target in cast
        text = f"{words.name(relation.source)} {words.name(relation.target)} {relation.kind}"
        return not both, -words.near(text), -words.place(relation.since), relation.id

    return sorted(found, key=order)


def _relations(relations: Iterable[Relation], cast: dict[EntityId, int], words: _Words) -> list[ContextText]:
    return [
        words.candidate(each, _("a relation of the cast"), line, f"{line}{words.since(each.since)}", each.since)
        for each in _of_cast(relations, cast, words)[:_RELATIONS]
        for line in [_relation_line(each, words)]
        if words.name(each.source) and words.name(each.target)
    ]


def _relation_line(relation: Relation, words: _Words) -> str:
    """`Anna: mother of Peter` for a kind that ends with a preposition, `甲：乙的女儿` for a Chinese noun, else
    `Anna → Peter: mother`.
    """
    source, target, kind = words.name(relation.source), words.name(relation.target), relation.kind
    if kind.rpartition(" ")[2] in _BEFORE_A_NAME:
        return f"{source}: {kind} {target}"
    if words.chinese and relation.directed and not _CLAUSE_ZH.search(kind):
        return f"{source}：{target}的{kind}"
    return f"{source} {'→' if relation.directed else '↔'} {target}{'：' if words.chinese else ': '}{kind}"


def _facts(facts: Sequence[Fact], cast: dict[EntityId, int], words: _Words) -> list[ContextText]:
    """Facts that are valid at this point, about the cast or a secret of theirs.

    Those most similar to the prompt first, then those about the first of the cast, then the newest.
    """
    concerned = {each.id: [who for who in _concerned(each) if who in cast] for each in facts if each.until is None}
    about = [each for each in facts if concerned.get(each.id)]
    found = [each for each in about if not any(_is_contained_in(each, other) for other in about)]

    def order(fact: Fact) -> tuple[int, int, int, str]:
        first = min(cast[each] for each in concerned[fact.id])
        return -words.near(fact.text), first, -words.place(fact.since), fact.id

    return [
        words.candidate(each, _("true in this chapter"), each.text, _fact_line(each, words), each.since)
        for each in sorted(found, key=order)
    ]


def _is_contained_in(fact: Fact, other: Fact) -> bool:
    """True when another fact since the same chapter begins with this one, and adds a clause to it."""
    words = fact.text.rstrip("。. ")
    is_same = (fact.since, fact.secret, fact.known_by) == (other.since, other.secret, other.known_by)
    return is_same and bool(words) and other.text.startswith(tuple(f"{words}{mark}" for mark in _GOES_ON))


def _concerned(fact: Fact) -> tuple[EntityId, ...]:
    return (*fact.about, *(knower.entity for knower in fact.known_by))


def _fact_line(fact: Fact, words: _Words) -> str:
    who = words.joint.join(filter(None, (words.name(each.entity) for each in fact.known_by)))
    secret = words.say("secret", who=who) if fact.secret else ""
    return f"{fact.text}{words.since(fact.since)}{secret}"


def _moments(moments: Sequence[Moment], words: _Words) -> list[ContextText]:
    """The newest moments that state their time."""
    dated = sorted((each for each in moments if each.when), key=lambda each: (words.place(each.chapter), each.id))
    found = []
    for each in dated[-_MOMENTS:]:
        line = words.say("when", when=each.when, text=each.text) + words.since(each.chapter, "in")
        found.append(words.candidate(each, _("the story's time"), each.text, line, each.chapter))
    return found
