"""The story of the tiny books: who they are to each other, what holds, what was promised, what happened when."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity, Evidence, Mention
from flowcabal_tui.domain.name_card import CardPlace, CardRelation, NameCard
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, Story, StoryRecord
from flowcabal_tui.project.views import Appearances
from tests.tui.fake_books import Words, chapter_id

HERO, FERRYMAN, VOICE = EntityId("hero"), EntityId("ferryman"), EntityId("voice")


def people(words: Words) -> tuple[Entity, ...]:
    """The hero with a name that waits for a word, the ferryman, and a voice behind the door."""
    chinese = words.language == "zh"
    return (
        Entity(HERO, "character", words.hero, by="hand", first_position=1, proposed=("月娘",) if chinese else ("Mar",)),
        Entity(FERRYMAN, "character", "老周" if chinese else "Joss", by="discovered", first_position=2),
        Entity(VOICE, "character", "那人" if chinese else "The voice", by="agent", first_position=1),
    )


def _quoted(words: Words, number: int, start: int, end: int) -> tuple[Evidence, ...]:
    return (Evidence(words.texts[number - 1][start:end], chapter_id(number), start, end),)


def story(words: Words) -> Story:
    """One relation and one that ended, a state that changed, a secret, a promise that is due, three moments."""
    zh = words.language == "zh"
    one, two, three = chapter_id(1), chapter_id(2), chapter_id(3)
    said = {number: _quoted(words, number, 0, 12) for number in (1, 2, 3)}
    agent = {"by": "agent"}
    return Story(
        relations=(
            Relation(RecordId("r1"), VOICE, HERO, "仇人" if zh else "enemy of", False, one, three, said[1], **agent),
            Relation(RecordId("r2"), FERRYMAN, HERO, "船夫" if zh else "ferries", True, two, None, said[2], **agent),
        ),
        facts=(
            Fact(
                RecordId("f1"), "沈月失去了左手。" if zh else "Mara has lost her left hand.", (HERO,),
                since=one, evidence=said[1], **agent,
            ),
            Fact(
                RecordId("f2"), "盐在城里。" if zh else "The salt is in the city.", (FERRYMAN,),
                "盐在哪里" if zh else "where the salt is", one, three, evidence=said[1], **agent,
            ),
            Fact(
                RecordId("f3"), "老周知道谁敲钟。" if zh else "Joss knows who rings the bell.", (FERRYMAN,), since=two,
                secret=True, known_by=(Knower(FERRYMAN, two),), evidence=said[2], by="hand",
            ),
        ),
        promises=(
            Promise(
                RecordId("p1"), "那人为什么数台阶？" if zh else "Why does the voice count the steps?", one,
                due_from=2, due_until=3, about=(VOICE,), evidence=said[1], **agent,
            ),
            Promise(
                RecordId("p2"), "空城的钟。" if zh else "The bell of the empty city.", two,
                paid=three, evidence=said[2], payment=said[3], **agent,
            ),
        ),
        moments=(
            Moment(
                RecordId("m2"), "攻城。" if zh else "The siege.", two,
                "十年前" if zh else "ten years before", 0.0, (HERO,), said[2], **agent,
            ),
            Moment(RecordId("m1"), "雨夜。" if zh else "The night of rain.", one, "", None, (HERO,), said[1], **agent),
            Moment(
                RecordId("m3"), "钟响了三下。" if zh else "The bell strikes three.", three,
                "第三天" if zh else "the third day", None, (HERO,), said[3], **agent,
            ),
        ),
    )  # fmt: skip


def companions(entity: EntityId) -> tuple[tuple[EntityId, int, ChapterId], ...]:
    """The hero meets both; they never meet each other."""
    met = {HERO: ((FERRYMAN, 4, chapter_id(3)), (VOICE, 1, chapter_id(1)))}
    return met.get(entity, ((HERO, 1, chapter_id(1)),))


def seen() -> tuple[Appearances, ...]:
    """The hero is in two chapters, the ferryman in one; nobody calls the voice by its name."""
    return (Appearances(HERO, 2, 1, 3), Appearances(FERRYMAN, 1, 2, 2))


def mentions(entity: EntityId, words: Words) -> tuple[Mention, ...]:
    """The places of the texts where the name stands."""
    name = next((each.name for each in people(words) if each.id == entity), str(entity))
    return tuple(
        Mention(entity, chapter_id(number), number, text.index(name), text.index(name) + len(name))
        for number, text in enumerate(words.texts, 1)
        if name in text
    )


def card(entity: Entity, position: int, words: Words) -> NameCard:
    """As the texts have it, whose first lines are the sentences; the ferryman ferries the hero from chapter 2 on."""
    places = [
        CardPlace(
            each.chapter, each.position, words.titles[each.position - 1], each.start, each.end,
            words.texts[each.position - 1].split("\n")[0],
        )
        for each in mentions(entity.id, words)
    ]  # fmt: skip
    seen = [each for each in places if each.position < position]
    other = {HERO: FERRYMAN, FERRYMAN: HERO}.get(entity.id) if position > 1 else None
    related = [
        CardRelation(each.id, each.name, "ferries", entity.id == FERRYMAN) for each in people(words) if each.id == other
    ]
    about = ("profiles/characters/hero", words.abstract) if entity.id == HERO else ("", "")
    first = places[0] if places else None
    return NameCard(entity, len(places), seen[-1] if seen else None, first, tuple(related), *about)


def with_record(now: Story, record: StoryRecord) -> Story:
    """The story with a record written by hand, at the end of its kind."""
    written, rest = replace(record, by="hand"), without_record(now, record.id)
    match written:
        case Relation():
            return replace(rest, relations=(*rest.relations, written))
        case Fact():
            return replace(rest, facts=(*rest.facts, written))
        case Promise():
            return replace(rest, promises=(*rest.promises, written))
        case Moment():
            return replace(rest, moments=(*rest.moments, written))


def without_record(now: Story, record: RecordId) -> Story:
    """The story without a record."""
    return Story(
        tuple(one for one in now.relations if one.id != record),
        tuple(one for one in now.facts if one.id != record),
        tuple(one for one in now.promises if one.id != record),
        tuple(one for one in now.moments if one.id != record),
    )
