"""Who is in a scene, where, when, which kind: the rules, what the writer sets, and the reasons that are given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.intent import read_intent
from flowcabal_tui.agents.context.own_words import own_words
from flowcabal_tui.domain.context import About, Injection, Scene
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from tests.agents.fakes import FakeBook, FakeTokens, person
from tests.agents.test_context import assemble, derived, make_book

CAST = (person("林远", "阿远"), person("沈青"), person("老周"), person("白鹭渡", kind="location"))
TITLES = {"project.name": "渡口", "chapter.title": "老周卖船"}
TEMPLATE = (TextBlock(text="《{{project.name}}》第 {{chapter.number}} 章：{{chapter.title}}\n\n{{input.instruction}}"),)


def test_titles_are_left_out_where_a_template_brings_them_and_nowhere_else() -> None:
    prompt = "《渡口》第 3 章：老周卖船\n\n渡口无人。"
    assert own_words(TEMPLATE, prompt, frozenset(), TITLES).split() == ["《", "》第", "3", "章：", "渡口无人。"]


def test_a_title_on_a_line_of_its_own_and_one_that_was_escaped_are_left_out() -> None:
    blocks = (TextBlock(text="{{project.name}}\n<chapter>{{ chapter.title }}</chapter>"),)
    titles = {"project.name": "Salt & Rope", "chapter.title": "A < B"}
    assert own_words(blocks, "Salt & Rope\n<chapter>A &lt; B</chapter>", frozenset(), titles).split() == []


async def test_words_of_the_titles_are_not_looked_up_and_names_in_them_say_so() -> None:
    injection = await _of(make_book(), "《渡口》第 11 章：老周卖船\n\n林远走来。", TEMPLATE, About(titles=TITLES))
    intent = injection.receipt.intent
    assert {"渡口", "卖船"}.isdisjoint(intent.terms)
    reasons = {source.title: source.reason for source in injection.receipt.sources if source.budget_class == "entities"}
    assert reasons == {"林远": "named in the prompt", "老周": "named in the title"}


async def _of(book: FakeBook, prompt: str, blocks: tuple[TextBlock, ...], about: About) -> Injection:
    node = Node(id=NodeId("draft"))
    agent = ContextAgent(book, FakeTokens(), 4_000)
    workflow = Workflow(id="w", nodes=(node,))
    params = PromptParams(prompt=blocks)
    return await agent.assemble(workflow, node, params, prompt, ChapterId("c11"), Generation(1), (), about)


def test_the_outline_of_the_chapter_is_read_and_named_as_the_reason() -> None:
    reading = read_intent("写得冷一点。", "", CAST, "zh", beats="三日后，老周在白鹭渡与沈青厮杀。")
    assert set(reading.intent.entities) == {"老周", "沈青"}, "a place is nobody in the scene"
    assert (reading.intent.where, reading.intent.when, reading.intent.scene) == ("白鹭渡", "三日后", "battle")
    assert set(reading.reasons.values()) == {"named in the outline"}


def test_whoever_joins_from_the_last_pages_is_not_said_to_be_named_in_the_prompt() -> None:
    reading = read_intent("写下一章。", "林远来到白鹭渡。", CAST, "zh")
    assert set(reading.reasons.values()) == {"in the previous pages"}
    assert reading.intent.where == "白鹭渡"


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("次日清晨，林远走了。", "次日清晨"),
        ("过了三个月后，他回来。", "三个月后"),
        ("They met the next morning at the quay.", "the next morning"),
        ("Two years later he came back.", "Two years later"),
        ("At dawn she rowed.", "At dawn"),
        ("She rowed.", ""),
    ],
)
def test_the_time_is_read_from_its_words(text: str, when: str) -> None:
    assert read_intent(text, "", (), "zh" if "，" in text else "en").intent.when == when


def test_what_the_writer_sets_wins_over_rule_and_model() -> None:
    writer = Scene(who=("老周", "新来的客人"), kind="turn")
    model = Scene(who=("沈青",), where="白鹭渡", kind="daily")
    reading = read_intent("林远与沈青次日厮杀。", "", CAST, "zh", writer=writer, model=model)
    intent = reading.intent
    assert (intent.entities, intent.scene) == (("老周", "新来的客人"), "turn")
    assert (intent.where, intent.when) == ("白鹭渡", "次日")
    assert dict(intent.by) == {"who": "writer", "kind": "writer", "where": "model"}
    assert {name.name for name in reading.names} >= {"老周", "新来的客人", "白鹭渡", "林远"}
    assert reading.reasons[CAST[2].id] == "in the scene, as you set it"


async def test_a_scene_that_was_set_for_a_chapter_is_told_to_the_model_and_read_there_alone() -> None:
    book = make_book()
    book.scenes[ChapterId("c11")] = Scene(who=("老周",), where="白鹭渡", when="半夜", kind="turn")
    injection = await assemble(book, "写下一章。")
    assert "作者为本章定下：出场：老周；地点：白鹭渡；时间：半夜；场面：转折" in injection.user_suffix
    assert injection.receipt.intent.entities == ("老周",)
    other = await assemble(book, "写下一章。", at=10)
    assert "作者为本章定下" not in other.user_suffix
    assert other.receipt.intent.by == ()


async def test_a_turn_scene_reads_the_emotional_arcs_when_the_writer_says_that_it_is_one() -> None:
    book = make_book()
    book.derived.append(derived("profiles/emotional-arcs/e-林远", "L1", "林远由冷转热。", 5))
    book.derived.append(derived("profiles/emotional-arcs/e-林远", "L0", "由冷转热。", 5))
    told = "林远由冷转热"
    assert told not in (await assemble(book, "林远与沈青。")).user_suffix
    book.scenes[ChapterId("c11")] = Scene(kind="turn")
    injection = await assemble(book, "林远与沈青。")
    assert told in injection.user_suffix
    assert "profiles/emotional-arcs/e-林远" in {source.uri for source in injection.receipt.sources}


async def test_a_turn_of_the_outline_reads_the_emotional_arcs_by_rule() -> None:
    book = _outlined("林远得知真相，与沈青决裂。")
    book.derived.append(derived("profiles/emotional-arcs/e-林远", "L1", "林远由冷转热。", 1))
    book.derived.append(derived("profiles/emotional-arcs/e-林远", "L0", "由冷转热。", 1))
    receipt = (await assemble(book, "写得冷一点。", at=2)).receipt
    assert receipt.intent.scene == "turn"
    assert "profiles/emotional-arcs/e-林远" in {source.uri for source in receipt.sources}
    plain = (await assemble(_outlined("林远与沈青等船。"), "写得冷一点。", at=2)).receipt
    assert not [source for source in plain.sources if source.uri.startswith("profiles/emotional-arcs")]


OUTLINE = "## 第一章 渡口\n沈青等船。\n\n## 第二章 夜渡\n{}\n"
"""Of two chapters, of which the first is written."""


async def test_the_beats_of_the_outline_are_read_without_a_word_of_them_in_the_prompt() -> None:
    injection = await assemble(_outlined(), "写得冷一点。", at=2)
    intent = injection.receipt.intent
    assert (set(intent.entities), intent.where) == ({"老周", "沈青"}, "白鹭渡")
    assert (intent.when, intent.scene) == ("三日后", "battle")
    reasons = {each.title: each.reason for each in injection.receipt.sources if each.budget_class == "entities"}
    assert reasons == dict.fromkeys(("老周", "沈青", "白鹭渡"), "named in the outline")


async def test_a_node_that_gets_no_outline_reads_no_beats() -> None:
    params = PromptParams(prompt=(TextBlock(text="写得冷一点。"),), outline="none")
    intent = (await assemble(_outlined(), "写得冷一点。", at=2, params=params)).receipt.intent
    assert (intent.entities, intent.when) == ((), "")


def _outlined(beats: str = "三日后，老周在白鹭渡与沈青厮杀。") -> FakeBook:
    """Nobody is in the last pages."""
    cast = tuple(replace(each, note="渡口的人。") for each in CAST)
    return FakeBook([("渡口", "天黑了。"), ("夜渡", "")], cast, (("outline", OUTLINE.format(beats)),))


async def test_an_outline_of_a_chapter_that_is_longer_than_is_read_says_so() -> None:
    receipt = (await assemble(_outlined("沈青等船。" * 30_000), "写得冷一点。", at=2)).receipt
    assert receipt.intent.entities == ("沈青",)
    assert "The scene was read from the first 100,000 of 150,000 characters of the chapter's outline." in receipt.notes


def test_of_many_who_are_named_people_stay_before_places() -> None:
    places = tuple(person(f"白鹭{n}号渡", kind="location") for n in range(10, 22))
    prompt = "，".join([*(place.name for place in places), "林远", "沈青"])
    reading = read_intent(prompt, "", (*places, *CAST[:2]), "zh")
    assert len(reading.cast) == 12
    assert [entity.name for entity in reading.cast[-2:]] == ["林远", "沈青"]
    assert [entity.name for entity in reading.cast[:10]] == [place.name for place in places[:10]]


def test_a_thing_is_nobody_in_the_scene() -> None:
    """A kind word or a kind of the writer's own says what a name is; people keep theirs."""
    ship = replace(person("Prudence"), own_kind="ship")
    cast = (person("Nora Vale"), ship, replace(person("Gull", kind="item"), own_kind="lugger"))
    said = Scene(who=("Nora Vale", "ship Prudence", "the lamp", "lugger Ann", "the old man", "Will Scarlet"))
    intent = read_intent("Nora Vale sees the Prudence.", "", cast, "en", model=said).intent
    assert intent.entities == ("Nora Vale", "the old man", "Will Scarlet")
    mine = Scene(who=("ship Prudence",))
    assert read_intent("Nora.", "", cast, "en", writer=mine).intent.entities == ("ship Prudence",)


async def test_a_person_without_note_or_alias_is_in_the_cast() -> None:
    injection = await assemble(make_book(), "林远与沈青在白鹭渡。")
    assert "- 沈青\n" in injection.user_suffix
    assert {each.title for each in injection.receipt.sources if each.budget_class == "entities"} == {"林远", "沈青"}
