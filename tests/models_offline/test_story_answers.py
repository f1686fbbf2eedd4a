"""What the offline model reads from a chapter by patterns, and the words that it replaces in a place."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from flowcabal_tui.agents.impact.patching import PlacePatch, patch_of, patch_request
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.agents.shapes.story import StoryAnswer
from flowcabal_tui.domain.impact import PatchQuestion
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.models.offline import OfflineModel

NAMES = {
    "zh": "character: 林远\ncharacter: 沈青\ncharacter: 老周\nlocation: 北城\nitem: 铜铃",
    "en": "character: Tom Harker\ncharacter: Nora Vale\ncharacter: Ines\nlocation: Saltreach\nitem: the bell",
}


async def read(language: str, chapter: str, open_lines: str = "") -> StoryAnswer:
    values = {"language": language, "names": NAMES[language], "open": open_lines, "title": "", "chapter": chapter}
    request = ModelRequest(PromptLibrary().get("curator.story").fill(values), purpose="curator.story")
    answer, _paid = await OfflineModel(0).structured(request, StoryAnswer)
    for each in (*answer.relations, *answer.facts, *answer.promises, *answer.moments, *answer.sequels):
        assert each.quote in chapter
    return answer


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("zh", "沈青是林远的表妹。", ("沈青", "表妹", "林远", True)),
        ("zh", "林远认老周做义兄。", ("老周", "义兄", "林远", True)),
        ("zh", "老周的女儿沈青来了。", ("沈青", "女儿", "老周", True)),
        ("en", "Ines was Tom Harker's younger sister.", ("Ines", "sister of", "Tom Harker", True)),
        ("en", "Ines became a friend of Nora Vale that year.", ("Ines", "friend of", "Nora Vale", False)),
        ("en", "Tom's uncle: nobody knew him. Nora Vale's brother Tom Harker came.",
         ("Tom Harker", "brother of", "Nora Vale", True)),
    ],
)  # fmt: skip
async def test_kinship_is_a_relation_with_a_direction(
    language: str, sentence: str, expected: tuple[object, ...]
) -> None:
    (found,) = (await read(language, sentence)).relations
    assert (found.source, found.kind, found.target, found.directed) == expected


@pytest.mark.parametrize(
    ("language", "sentence", "about", "attribute"),
    [
        ("zh", "林远从此住在北城的旧塔。", ["林远", "北城"], "住处"),
        ("zh", "沈青当上了船行的掌柜。", ["沈青"], "职位"),
        ("zh", "铜铃如今归沈青所有。", ["铜铃", "沈青"], "持有者"),
        ("zh", "老周的左手只剩三根指头。", ["老周"], "手哪一边"),
        ("en", "Tom Harker now lives in Saltreach.", ["Tom Harker", "Saltreach"], "lives in"),
        ("en", "Nora Vale was made the harbour master.", ["Nora Vale"], "office"),
        ("en", "That night the bell passed to Ines.", ["the bell", "Ines"], "holder"),
    ],
)
async def test_states_have_an_attribute(language: str, sentence: str, about: list[str], attribute: str) -> None:
    (found,) = (await read(language, sentence)).facts
    assert (found.attribute, found.secret) == (attribute, False)
    assert found.about[:1] == about[:1]
    assert set(found.about) <= set(about)


@pytest.mark.parametrize(
    "sentence", ["林远梦见自己住在北城。", "要是沈青当上了掌柜就好了。", "“林远住在北城。”老周说。"]
)
async def test_what_is_dreamt_wished_or_said_is_no_fact(sentence: str) -> None:
    answer = await read("zh", sentence)
    assert (answer.facts, answer.relations) == ([], [])


async def test_a_secret_names_who_knows_it_and_who_learns_it_later() -> None:
    (secret,) = (await read("zh", "只有林远和老周知道：铜铃是假的。")).facts
    assert (secret.text, secret.secret, secret.known_by, secret.about) == (
        "铜铃是假的",
        True,
        ["林远", "老周"],
        ["铜铃"],
    )
    (learned,) = (await read("zh", "沈青终于得知铜铃是假的。", "f1 secret: 铜铃是假的")).sequels
    assert (learned.open, learned.learned_by) == ("f1", "沈青")
    (secret,) = (await read("en", "Only Nora Vale and Ines knew that the bell was forged.")).facts
    assert (secret.text, secret.known_by) == ("the bell was forged", ["Nora Vale", "Ines"])
    (learned,) = (
        await read("en", "Tom Harker learned that the bell was forged.", "f2 secret: the bell was forged")
    ).sequels
    assert (learned.open, learned.learned_by) == ("f2", "Tom Harker")


@pytest.mark.parametrize(
    ("sentence", "is_vow"),
    [
        ("林远答应替沈青守灯。", True),
        ("林远连声答应道：“我来我来！”", False),
        ("沈青不曾答应，转身走了。", False),
        ("老周笑着答应。", False),
        ("老周不发誓，也不点头。", False),
    ],
)
async def test_an_answer_is_no_vow(sentence: str, is_vow: bool) -> None:
    assert bool((await read("zh", sentence)).promises) is is_vow


async def test_a_vow_is_planted_and_kept() -> None:
    (vow,) = (await read("zh", "林远对天发誓，要把铜铃送回北城的钟楼。")).promises
    assert (await read("zh", "林远把铜铃送回北城的钟楼，守住了誓言。", f"p1 promise: {vow.text}")).sequels[
        0
    ].open == "p1"
    assert (await read("zh", "沈青在山上下棋，守住了诺言。", f"p1 promise: {vow.text}")).sequels == []
    (vow,) = (await read("en", "Tom Harker swore to carry the bell home to Saltreach.")).promises
    kept = "Tom Harker carried the bell home to Saltreach, and so kept his oath; he swore no more."
    assert (await read("en", kept, f"p3 promise: {vow.text}")).sequels[0].open == "p3"


@pytest.mark.parametrize(
    ("language", "sentence", "when"),
    [
        ("zh", "三天后，林远到了北城。", "三天后"),
        ("zh", "贞元三年，沈青离开北城。", "贞元三年"),
        ("en", "Two years later Nora Vale came back.", "Two years later"),
        ("en", "Tom Harker sailed in the spring of the flood.", "in the spring of the flood"),
    ],
)
async def test_a_time_makes_a_moment(language: str, sentence: str, when: str) -> None:
    (moment,) = (await read(language, sentence)).moments
    assert moment.when == when


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("They had sunk the Prudence at night.", "item"),
        ("They had never been to Hartsford.", "location"),
        ("They had met Amos Pell.", "character"),
    ],
)
async def test_a_new_name_that_returns_is_a_person_a_place_or_a_thing(sentence: str, kind: str) -> None:
    (found,) = (await read("en", f"{sentence} {sentence}")).entities
    assert found.kind == kind
    assert (await read("en", sentence)).entities == []


@pytest.mark.parametrize(
    ("language", "chapter", "told"),
    [
        ("zh", "“林远住在北城。”老周说。\n林远把铜铃挂上了北城的钟楼。", "林远把铜铃挂上了北城的钟楼。"),
        ("en", "“Tom lives in Saltreach,” said Ines.\nNora Vale hung the bell in the tower.",
         "Nora Vale hung the bell in the tower."),
    ],
)  # fmt: skip
async def test_an_overview_and_its_line_are_narration(language: str, chapter: str, told: str) -> None:
    answer = await read(language, chapter)
    assert ([row.quote for row in answer.sentences], answer.line) == ([told], told)


async def test_a_vow_in_direct_speech_is_none_but_beside_it_is_one() -> None:
    assert (await read("en", "Nora Vale said, “Tom Harker swore to burn the bell.”")).promises == []
    (vow,) = (await read("en", "“Never,” said Ines, and Tom Harker swore to burn the bell.")).promises
    assert vow.about == ["Ines", "Tom Harker", "the bell"]


async def test_a_question_of_others_is_answered_by_the_fields_that_it_shares() -> None:
    class Brief(BaseModel):
        line: str
        mood: str

    parts = f"<language>en</language><names>{NAMES['en']}</names><draft>Tom Harker rang the bell at dawn.</draft>"
    request = ModelRequest((Message("user", parts),), purpose="plugin.brief")
    answer, _paid = await OfflineModel(0).structured(request, Brief)
    assert answer == Brief(line="Tom Harker rang the bell at dawn.", mood="")


@pytest.mark.parametrize(
    ("was", "now", "place", "patched"),
    [
        ("三十四岁", "很年轻", "沈青三十四岁，灰眼睛。", ("patch", "沈青很年轻，灰眼睛。")),
        ("She was <old>.", "She was young.", "She was <old>.", ("patch", "She was young.")),
        ("grey eyes", "", "Ines had a coat.", ("same", "Ines had a coat.")),
        ("It rained.", "", "It rained.", ("same", "It rained.")),
        ("", "It", "It rained.", ("same", "It rained.")),
    ],
)
async def test_a_place_that_repeats_the_changed_words_has_the_new_ones(
    was: str, now: str, place: str, patched: tuple[str, str]
) -> None:
    text = f"Before it. {place} And after it."
    span = Span(len("Before it. "), len("Before it. ") + len(place))
    question = PatchQuestion("changed", was, now)
    request = patch_request(PromptLibrary(), question, text, span, "en")
    answer, _paid = await OfflineModel(0).structured(request, PlacePatch)
    assert patch_of(text, span, answer) == patched
