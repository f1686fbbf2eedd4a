"""Pictures of the conversation and of its cards, for `tests.pictures`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.project import create_demo
from flowcabal_tui.tui.conversation.screen import ConversationScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList
from tests.pictures import NARROW, WIDE, Studio, studio


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the demo in a language, and an edit that is asked for."""

    question: str
    edit: str


ASKED: Final = {
    "en": Asked(
        "How did Tobias Crane burn his hand?",
        "Make “white and puckered as the skin on boiled milk” shorter: “white as boiled milk”.",
    ),
    "zh": Asked("沈怀安的灯簿藏在哪里？", "把“箱子是上海买的，伞也是”改成“箱子和伞都是上海买的”"),
}


async def take_talks(folder: Path, books: Path) -> None:
    """In both languages: an answer beside the workspace and on a small screen, and a card the other way round."""
    for language, ending, (of_answer, of_card) in (("en", "", (WIDE, NARROW)), ("zh", "-zh", (NARROW, WIDE))):
        book = await create_demo(books / f"talk-{language}", language)
        async with studio(folder, language, of_answer, book) as at:
            await at.open()
            await _open_talk(at)
            await _ask(at, ASKED[language].question)
            await at.press("tab")
            panel(at).rows.pick(next(row.id for row in panel(at).rows.listed if row.places))
            await at.settle()
            at.save(f"conversation{ending}")
            await at.pilot.resize_terminal(*of_card)
            await at.press("f7")
            await at.until(lambda at=at: at.shows(ChooseScreen))
            at.pilot.app.screen.query_one(PickList).pick("suggest")
            await at.press("enter", "tab")
            await at.settle()
            await _ask(at, ASKED[language].edit)
            await at.press("tab")
            panel(at).rows.pick(next(row.id for row in panel(at).rows.listed if row.card))
            await at.settle()
            at.save(f"card{ending}")


def panel(at: Studio) -> ConversationScreen:
    """The conversation on top."""
    found = at.pilot.app.screen
    assert isinstance(found, ConversationScreen)
    return found


async def _open_talk(at: Studio) -> None:
    await at.press("ctrl+backslash")
    await at.until(lambda: at.shows(ConversationScreen) and bool(panel(at).question.offers))


async def _ask(at: Studio, question: str) -> None:
    """Sends a question, and waits for the end of its answer."""
    before = len(panel(at)._turns)
    panel(at).line.value = question
    await at.press("enter")
    await at.until(lambda: len(panel(at)._turns) > before and panel(at)._turns[-1].stop == "end_turn")
    await at.settle()
