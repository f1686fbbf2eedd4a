"""What is read from a chapter: nothing without its words there, nothing that a hand has said, nothing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.story import StoryReader, four_questions
from flowcabal_tui.agents.curation.story_goal import StoryGoal
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Reason
from flowcabal_tui.domain.story import Fact, Knower, Promise, RecordId, Relation, Sequel, Story
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, person

TEXT = (
    "清晨，林远到了白鹭渡。老周正在补船，见他来，放下了锤子。\n\n"
    "“铜铃你收好。”老周说，“北城的人也在找它。”林远把铜铃藏进怀里。\n\n"
    "午后下起了雨。沈青从山上下来，说桥已经断了。三人商量到天黑，决定明日坐船去北城。"
)
LIN, SHEN = person("林远"), person("沈青")
FOUND = replace(person("老周"), by="discovered", first_position=1)


def goal(*known: Entity, story: Story | None = None) -> StoryGoal:
    book = FakeBook([("第1章", "旧事。"), ("第2章", TEXT)], known, story=story or Story())
    return StoryGoal(book.chapters()[1], TEXT, known, book.before(2))


NOTHING: dict[str, Any] = {kind: [] for kind in ("entities", "relations", "facts", "promises", "moments", "sequels")}


def reader(reply: Any) -> tuple[StoryReader, FakeModel]:
    model = FakeModel(lambda request: NOTHING | reply)
    paid = PaidOnce(model, FakeAnswers())
    return StoryReader(Curator(lambda: paid, FakeTokens())), model


async def read(reply: Any, wanted: StoryGoal):
    return await reader(reply)[0].read(wanted)


async def names(reply: list[dict[str, Any]], *known: Entity) -> dict[str, Entity]:
    found = await read({"entities": reply}, goal(*known))
    return {entity.name: entity for entity in found.entities}


async def test_what_was_answered_is_read_again_and_not_paid_for_again() -> None:
    said = {"sentences": [{"sentence": "林远到了渡口。", "quote": "林远到了白鹭渡"}]}
    story, model = reader(said)
    assert (await story.answered(goal(LIN))).sentences == []
    assert model.requests == []
    await story.read(goal(LIN))
    assert [each.sentence for each in (await story.answered(goal(LIN))).sentences] == ["林远到了渡口。"]
    assert len(model.requests) == 1


async def test_names_enter_only_as_they_stand_in_the_chapter() -> None:
    found = await names(
        [
            {"kind": "character", "name": "老周", "aliases": ["周掌船"], "quote": "老周正在补船"},
            {"kind": "location", "name": "白鹭渡", "aliases": []},
            {"kind": "character", "name": "王五", "aliases": []},
        ],
        LIN,
        SHEN,
    )
    assert set(found) == {"老周", "白鹭渡"}
    assert found["老周"].aliases == ()
    assert (found["白鹭渡"].kind, found["白鹭渡"].by, found["白鹭渡"].first_position) == ("location", "agent", 2)
    assert await names([{"kind": "character", "name": "林远", "aliases": ["沈青"]}], LIN, SHEN) == {}


async def test_a_name_for_one_that_a_hand_wrote_waits_for_a_word_and_is_not_proposed_again() -> None:
    said = [{"name": "林远", "aliases": ["铜铃"]}, {"name": "林远", "aliases": ["北城"]}]
    lin = (await names(said, LIN))["林远"]
    assert (lin.aliases, lin.proposed, lin.by) == ((), ("铜铃", "北城"), "agent")
    assert await names(said, replace(LIN, proposed=("北城",), rejected=("铜铃",))) == {}


async def test_a_name_that_could_be_anothers_waits_too() -> None:
    boat = replace(person("周记船行"), by="agent", first_position=1)
    clear = (await names([{"name": "老周", "aliases": ["铜铃"]}], FOUND, boat))["老周"]
    assert (clear.aliases, clear.proposed) == (("铜铃",), ())
    doubtful = (await names([{"name": "周记船行", "aliases": ["周"]}], FOUND, boat))["周记船行"]
    assert (doubtful.aliases, doubtful.proposed) == ((), ("周",))


async def test_a_name_that_waits_for_a_word_is_not_made_somebody_else() -> None:
    waiting = replace(FOUND, proposed=("铜铃",))
    assert await names([{"name": "铜铃", "quote": "林远把铜铃藏进怀里"}], LIN, waiting) == {}


async def test_an_alias_that_occurs_once_waits_too() -> None:
    known = (await names([{"name": "老周", "aliases": ["锤子", "铜铃"]}], FOUND))["老周"]
    assert (known.aliases, known.proposed) == (("铜铃",), ("锤子",))
    new = (await names([{"kind": "location", "name": "白鹭渡", "aliases": ["渡", "北城"]}]))["白鹭渡"]
    assert (new.aliases, new.proposed) == (("北城",), ("渡",))


@pytest.mark.parametrize(
    ("fact", "is_kept"),
    [
        ({"text": "林远藏着铜铃。", "about": ["林远"], "quote": "林远把铜铃藏进怀里"}, True),
        ({"text": "桥断了。", "about": ["沈青"], "quote": "从山上下来，说桥已经断了"}, True),
        ({"text": "桥断了。", "about": ["沈青"], "quote": "说桥已经断了"}, False),
        ({"text": "桥断了。", "about": ["老周"], "quote": "从山上下来，说桥已经断了"}, False),
        ({"text": "桥断了。", "about": ["无名"], "quote": "从山上下来，说桥已经断了"}, False),
        ({"text": "林远会飞。", "about": ["林远"], "quote": "林远把铜铃藏进怀里"}, False),
        ({"text": "铜铃会响。", "quote": "决定明日坐船去北城"}, False),
        ({"text": "去北城要坐船。", "quote": "决定明日坐船去北城"}, True),
    ],
)
async def test_a_fact_needs_a_quotation_that_is_long_enough_of_its_people_and_of_the_matter(
    fact: dict[str, Any], is_kept: bool
) -> None:
    reading = (await read({"facts": [fact]}, goal(LIN, SHEN, FOUND))).reading
    assert bool(reading.records) is is_kept


async def test_a_relation_needs_both_ends_in_the_paragraph_of_its_quotation() -> None:
    said = {"kind": "船夫", "source": "老周", "quote": "老周正在补船，见他来，放下了锤子"}
    both = (await read({"relations": [said | {"target": "林远"}]}, goal(LIN, SHEN, FOUND))).reading
    assert len(both.records) == 1
    one = (await read({"relations": [said | {"target": "沈青"}]}, goal(LIN, SHEN, FOUND))).reading
    assert one.records == ()


async def test_records_rest_on_a_quotation_of_the_chapter_and_on_known_names() -> None:
    said = {
        "entities": [{"name": "老周", "quote": "老周正在补船"}],
        "relations": [
            {"source": "老周", "kind": "船夫", "target": "林远", "quote": "老周正在补船，见他来"},
            {"source": "老周", "kind": "父亲", "target": "林远", "quote": "老周是林远的父亲"},
            {"source": "老周", "kind": "父亲", "target": "谁也不是", "quote": "老周正在补船"},
        ],
        "facts": [
            {"text": "桥断了。", "about": ["沈青", "无名"], "attribute": "桥", "quote": "从山上下来，说桥已经断了"},
            {"text": "铜铃在怀里。", "secret": True, "known_by": ["老周"], "quote": "林远把铜铃藏进怀里"},
            {"text": "  ", "quote": "午后下起了雨"},
        ],
        "promises": [{"text": "去北城。", "about": ["林远"], "quote": "决定明日坐船去北城"}],
        "moments": [
            {"text": "下雨。", "when": "午后", "quote": "午后下起了雨。沈青从山上下来"},
            {"text": "无据。", "quote": "没有这句"},
            {"text": "天黑了。", "about": ["林远"], "quote": "三人商量到天黑，决定明日坐船去北城"},
        ],
    }
    found = await read(said, goal(LIN, SHEN))
    entities, reading = found.entities, found.reading
    zhou, here = entities[0].id, ChapterId("c2")
    relation, bridge, bell, promise, moment, dark = reading.records
    assert len({record.id for record in reading.records}) == 6 and all(record.id for record in reading.records)
    assert (promise.about, moment.text, moment.about) == ((LIN.id,), "下雨。", ())
    assert (dark.text, dark.about, relation.directed) == ("天黑了。", (LIN.id,), True)
    assert (relation.source, relation.kind, relation.target, relation.since) == (zhou, "船夫", LIN.id, here)
    assert (bridge.about, bridge.attribute, bridge.secret, bridge.known_by) == ((SHEN.id,), "桥", False, ())
    assert (bell.secret, bell.known_by) == (True, (Knower(zhou, here),))
    assert (promise.planted, promise.paid, moment.when, moment.chapter) == (here, None, "午后", here)
    for record in reading.records:
        (evidence,) = record.evidence
        assert TEXT[evidence.start : evidence.end] == evidence.sentence
        assert (evidence.chapter, record.by) == (here, "agent")


async def test_sequels_belong_to_what_was_open_before() -> None:
    bell = Promise(RecordId("bell"), "铜铃", ChapterId("c1"), by="agent")
    paid = Promise(RecordId("old"), "旧约", ChapterId("c1"), paid=ChapterId("c1"))
    secret = Fact(RecordId("secret"), "铃是假的", (LIN.id,), secret=True, by="agent")
    kin = Relation(RecordId("kin"), LIN.id, SHEN.id, "师弟", by="agent")
    story = Story(relations=(kin,), facts=(secret,), promises=(bell, paid))
    asked, model = reader(
        {
            "sequels": [
                {"open": "p1", "quote": "林远把铜铃藏进怀里"},
                {"open": "f1", "learned_by": "沈青", "quote": "从山上下来，说桥已经断了"},
                {"open": "r1", "learned_by": "沈青", "quote": "从山上下来，说桥已经断了"},
                {"open": "f1", "learned_by": "无名", "quote": "从山上下来，说桥已经断了"},
                {"open": "p2", "quote": "从山上下来，说桥已经断了"},
                {"open": "r1", "quote": "没有这句"},
            ]
        }
    )
    reading = (await asked.read(goal(LIN, SHEN, story=story))).reading
    assert "p1 promise: 铜铃" in model.requests[0].messages[1].content
    assert "旧约" not in model.requests[0].messages[1].content
    assert [(each.record, each.learned_by) for each in reading.sequels] == [("bell", None), ("secret", SHEN.id)]
    assert all(isinstance(each, Sequel) and each.chapter == "c2" and each.evidence for each in reading.sequels)


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ({"text": "林远藏着铜铃。", "about": ["林远"], "quote": "林远把铜铃藏进怀里"}, Reason("quoted")),
        ({"text": "桥断了。", "about": ["沈青"], "quote": "说桥已经断了"}, Reason("short")),
        ({"text": "桥断了。", "about": ["老周"], "quote": "从山上下来，说桥已经断了"}, Reason("unnamed")),
        ({"text": "桥断了。", "about": ["无名"], "quote": "从山上下来，说桥已经断了"}, Reason("unknown", "无名")),
        ({"text": "林远会飞。", "about": ["林远"], "quote": "林远把铜铃藏进怀里"}, Reason("unrelated")),
        ({"text": "林远会飞。", "about": ["林远"], "quote": "林远在天上飞"}, Reason("unquoted", "林远在天上飞")),
    ],
)
async def test_a_fact_without_grounds_is_a_proposal_that_says_why_it_waits(
    fact: dict[str, Any], reason: Reason
) -> None:
    found = await read({"facts": [fact]}, goal(LIN, SHEN, FOUND))
    (row,) = found.records
    assert (row.reason, row.state) == (reason, "applied" if reason.grounds == "quoted" else "waiting")
    assert bool(found.reading.records) is (row.state == "applied")
    assert row.quotation == ("" if reason.grounds == "unquoted" else fact["quote"])
    assert TEXT[row.place.start : row.place.end] == row.quotation


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"promises": [{"text": "桥要修好。", "quote": "桥已经断了"}]}, "promise"),
        ({"moments": [{"text": "下雨。", "when": "午后", "quote": "午后下起了雨"}]}, "moment"),
        ({"sequels": [{"open": "p1", "quote": "桥已经断了"}]}, "sequel"),
    ],
)
async def test_what_is_planted_happens_or_goes_on_waits_with_a_short_quotation_as_a_fact_does(
    said: dict[str, Any], kind: str
) -> None:
    bridge = Promise(RecordId("bridge"), "桥", ChapterId("c1"), by="agent")
    found = await read(said, goal(LIN, SHEN, story=Story(promises=(bridge,))))
    (row,) = found.records
    assert (row.kind, row.reason, row.state) == (kind, Reason("short"), "waiting")
    assert (found.reading.records, found.reading.sequels) == ((), ())


async def test_a_relation_to_an_unknown_name_waits_without_that_end() -> None:
    said = {"kind": "船夫", "source": "老周", "target": "无名", "quote": "老周正在补船，见他来，放下了锤子"}
    (row,) = (await read({"relations": [said]}, goal(LIN, FOUND))).records
    assert (row.reason, row.state, row.difference.after.target) == (Reason("unknown", "无名"), "waiting", "")


async def test_an_agent_proposes_to_end_a_record_of_the_writer_and_does_not_end_it() -> None:
    home = Fact(RecordId("home"), "林远住在山上。", (LIN.id,), "住处")
    bell = Promise(RecordId("bell"), "铜铃", ChapterId("c1"))
    said = {
        "facts": [
            {"text": "林远去北城。", "about": ["林远"], "attribute": "住处", "quote": "林远把铜铃藏进怀里"},
            {"text": "林远住在山上。", "about": ["林远"], "attribute": "住处", "quote": "林远到了白鹭渡。老周"},
        ],
        "sequels": [{"open": "p1", "quote": "林远把铜铃藏进怀里"}],
    }
    found = await read(said, goal(LIN, SHEN, FOUND, story=Story(facts=(home,), promises=(bell,))))
    moved, again, paid = found.records
    assert (moved.reason, moved.difference.before) == (Reason("overrules", home.text), home)
    assert (paid.kind, paid.reason, paid.difference.before) == ("sequel", Reason("overrules", "铜铃"), bell)
    assert again.reason.grounds != "overrules"
    assert (moved.state, paid.state, found.reading.sequels) == ("waiting", "waiting", ())


async def test_new_people_and_names_are_rows_with_the_sentence_that_names_them() -> None:
    said = [{"name": "老周", "aliases": ["锤子"]}, {"kind": "location", "name": "白鹭渡"}]
    rows = (await read({"entities": said}, goal(LIN, FOUND))).names
    assert [(row.kind, row.says, row.state, row.reason.grounds) for row in rows] == [
        ("name", "锤子", "waiting", "rare"),
        ("entity", "白鹭渡", "applied", "quoted"),
    ]
    assert [row.quotation for row in rows] == ["老周正在补船，见他来，放下了锤子。", "清晨，林远到了白鹭渡。"]


async def test_a_name_that_is_part_of_a_longer_word_waits() -> None:
    text = "众人都夸嫡孙宝玉聪明。贾母最爱嫡孙宝玉，常说嫡孙宝玉像祖父。"
    jade = replace(person("宝二爷"), by="agent", first_position=1)
    said = {"entities": [{"name": "宝二爷", "aliases": ["孙宝玉", "贾母"]}]}
    inside, rare = (await read(said, replace(goal(jade), text=text))).names
    assert (inside.state, inside.reason.grounds) == ("waiting", "inside")
    assert (rare.state, rare.reason.grounds) == ("waiting", "rare")
    free = text.replace("最爱嫡孙", "最爱长孙").replace("夸嫡孙宝玉聪明", "夸孙宝玉，聪明")
    (certain, *_rare) = (await read(said, replace(goal(jade), text=free))).names
    assert (certain.state, certain.reason.grounds) == ("applied", "quoted")


async def test_a_null_in_the_answer_loses_nothing_else_of_it() -> None:
    said: dict[str, Any] = {
        "entities": [{"name": "老周", "aliases": None, "quote": "老周正在补船"}],
        "line": None,
        "keeping": [{"question": "new", "passed": None}, {"question": "reusable", "passed": True, "detail": None}],
    }
    story, model = reader(said)
    found = (await story.read(goal(LIN))).entities
    assert [each.name for each in found] == ["老周"]
    assert len(model.requests) == 1
    advice = {each.dimension: each.passed for each in four_questions(await story.answered(goal(LIN)))}
    assert advice == {"prevents_errors": None, "reusable": True, "self_contained": None, "new": None}


async def test_asking_again_after_the_answer_was_stored_is_free_and_gives_the_same() -> None:
    asked, model = reader(
        {
            "entities": [{"name": "老周", "aliases": []}, {"name": "林远", "aliases": ["铜铃"]}],
            "relations": [{"source": "老周", "kind": "船夫", "target": "林远", "quote": "老周正在补船，见他来"}],
        }
    )
    first = await asked.read(goal(LIN, SHEN))
    known = {entity.id: entity for entity in (LIN, SHEN, *first.entities)}
    again = await asked.read(goal(*known.values()))
    assert (again.entities, again.reading, again.records) == ((), first.reading, first.records)
    assert len(model.requests) == 1


async def test_a_reading_in_part_names_what_is_unread_and_asks_again() -> None:
    asked, model = reader(
        {
            "promises": [{"text": "铜铃还要再响。", "about": ["林远"], "quote": "林远把铜铃藏进怀里"}],
            "unread": ["facts", "moments[2]"],
        }
    )
    found = await asked.read(goal(LIN, SHEN))
    reading, unread = found.reading, found.unread
    assert unread == ("facts", "moments[2]")
    assert [record.text for record in reading.records if isinstance(record, Promise)] == ["铜铃还要再响。"]
    assert reading.source != asked.source(goal(LIN).chapter, TEXT)
    await asked.read(goal(LIN, SHEN))
    assert len(model.requests) == 2
