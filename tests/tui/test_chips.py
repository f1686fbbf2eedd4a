"""What is typed behind `@` in a question: a name ends where its words end, and no letter is lost."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from flowcabal_tui.domain.conversation import Chip
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import use_language
from flowcabal_tui.tui.conversation.chips import ChipPicker, named_first, offered
from flowcabal_tui.tui.conversation.screen import ConversationScreen
from tests.tui import fake_books as books
from tests.tui.fake_conversation import FakeTalk
from tests.tui.test_conversation import opened, panel, press
from tests.tui.waiting import settled, until

NAMES = ("Mara", "Mara Voss", "林黛玉", "黛玉")
PEOPLE = tuple(Entity(EntityId(name), "character", name) for name in NAMES)


@pytest.mark.parametrize(
    ("language", "typed", "name", "rest"),
    [
        ("zh", "第2章里谁在数灯", "@2 渡口", "里谁在数灯"),
        ("zh", "第二章，谁", "@2 渡口", "，谁"),
        ("zh", "第 2 章 谁", "@2 渡口", " 谁"),
        ("zh", "林黛玉说了什么", "@林黛玉", "说了什么"),
        ("zh", "2里", "@2 渡口", "里"),
        ("zh", "第2024章", "", "第2024章"),
        ("en", "chapter 2 says", "@2 The Ferry", " says"),
        ("en", "Mara Voss, who", "@Mara Voss", ", who"),
        ("en", "Mara who", "@Mara", " who"),
        ("en", "Marauders", "", "Marauders"),
        ("en", "2024", "", "2024"),
    ],
)
def test_a_name_ends_where_another_character_begins(language: str, typed: str, name: str, rest: str) -> None:
    use_language(language)
    book = books.EN if language == "en" else books.ZH
    picked = named_first(offered(books.chapters(book), PEOPLE, None), typed)
    assert (picked.chosen.name if picked.chosen else "", picked.rest) == (name, rest)


def test_a_name_that_two_have_is_nobodys() -> None:
    twice = offered((), (*PEOPLE, Entity(EntityId("other"), "character", "Mara")), Chip("selection", "c2"))
    assert named_first(twice, "Mara").chosen is None


@pytest.mark.parametrize(
    ("typed", "line", "chips"),
    [
        ("第2章里谁在数灯？", "@2 渡口 里谁在数灯？", ["chapter"]),
        ("第二章，谁", "@2 渡口，谁", ["chapter"]),
        ("没有的人说", "@没有的人说", []),
        (" 后面", "@ 后面", []),
    ],
)
async def test_words_that_are_typed_on_leave_the_picker(typed: str, line: str, chips: list[str]) -> None:
    use_language("zh")
    async with opened(FakeTalk("zh")) as pilot:
        await press(pilot, "at")
        assert isinstance(pilot.app.screen, ChipPicker)
        for character in typed:
            pilot.app.post_message(events.Key(character, character))
            await settled(pilot)
        assert panel(pilot).line.value == line
        assert [each.chip.kind for each in panel(pilot).question.typed.chips] == chips


async def test_a_line_that_an_input_method_commits_at_once_loses_no_character() -> None:
    use_language("zh")
    async with opened(FakeTalk("zh")) as pilot:
        await press(pilot, "at")
        for character in "第2章里谁在数灯？":
            pilot.app.post_message(events.Key(character, character))
        await until(pilot, lambda: not isinstance(pilot.app.screen, ChipPicker))
        await settled(pilot)
        assert panel(pilot).line.value == "@2 渡口 里谁在数灯？"


@pytest.mark.parametrize("before", ["", "林黛玉和"])
async def test_a_question_that_comes_at_once_has_its_chip_and_all_its_characters(before: str) -> None:
    use_language("zh")
    async with opened(FakeTalk("zh")) as pilot:
        for character in f"{before}@第2章里谁在数灯？":
            pilot.app.post_message(events.Key(character, character))
        await until(pilot, lambda: panel_line(pilot).endswith("？"))
        await settled(pilot)
        assert panel(pilot).line.value == f"{before}@2 渡口 里谁在数灯？"
        assert [each.chip.kind for each in panel(pilot).question.typed.chips] == ["chapter"]


def panel_line(pilot: Pilot[None]) -> str:
    page = pilot.app.screen_stack[1]
    assert isinstance(page, ConversationScreen)
    return "" if isinstance(pilot.app.screen, ChipPicker) else page.line.value


async def test_a_blank_ends_a_name_where_no_longer_one_begins_so_and_escape_keeps_the_letters() -> None:
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await press(pilot, "at", *"Mara", "space", *"is")
        assert panel(pilot).line.value == "@Mara is"
        await press(pilot, "at", *"Ma", "escape")
        assert panel(pilot).line.value == "@Mara is@Ma"
        assert [each.name for each in panel(pilot).question.typed.chips] == ["@Mara"]
