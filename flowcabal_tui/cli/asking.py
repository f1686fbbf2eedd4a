"""`ask`: asks a question about the book; the answer cites its places. It only reads."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any, Final

from flowcabal_tui.agents.conversation.places import statements
from flowcabal_tui.cli.naming import the_chapter
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.conversation import Chip, Citation, ConversationId, Turn
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.protocol.conversations import AskBook, SetLevel, StartConversation

DONE, FAILED = 0, 1
_QUOTED: Final = 60


async def ask(arguments: Namespace) -> int:
    """Prints the answer with its places; returns 1 when there is none, with the reason."""
    async with await opened(arguments, uses_models=True, knowledge=False) as project:
        chips = tuple([Chip("chapter", await the_chapter(project, number), whole=True) for number in arguments.chapter])
        identity = ConversationId(arguments.conversation)
        if identity:
            await project.conversations.conversation(identity)
        else:
            identity = ConversationId(await project.carry_out(StartConversation()))
        await project.carry_out(SetLevel(identity, "ask"))
        number = int(await project.carry_out(AskBook(identity, arguments.question, chips)))
        turn = (await project.conversations.turns(identity))[number - 1]
        positions = {chapter.id: chapter.position for chapter in await project.book.chapters()}
    if arguments.json:
        say_json(_plain(turn, positions), indent=2)
    else:
        _print(turn, positions)
    if turn.error and not arguments.json:
        raise RunError(_("The answer is incomplete."), turn.error)
    return FAILED if turn.error else DONE


def _print(turn: Turn, positions: dict[ChapterId, int]) -> None:
    places: list[Citation] = []
    words, bare = "", 0
    for statement in statements(turn.answer, turn.citations):
        marks = ""
        for place in statement.places:
            places.append(place)
            marks += f"[{len(places)}]"
        text = statement.text.rstrip()
        bare += bool(text.strip()) and not statement.places
        words += f"{text} {marks}{statement.text[len(text) :] or ' '}" if marks else statement.text
    if words.strip():
        say(words.strip())
    for number, place in enumerate(places, 1):
        chapter = positions.get(place.chapter, "?")
        say_row((f"[{number}]", chapter, f"{place.at}-{place.until}", place.quotation[:_QUOTED]))
    if bare:
        note = ngettext("{n} statement names no place in the book.", "{n} statements name no place in the book.", bare)
        say(note.format(n=bare), file=sys.stderr)


def _plain(turn: Turn, positions: dict[ChapterId, int]) -> dict[str, Any]:
    listed = [
        {
            "text": statement.text.strip(),
            "places": [{**to_plain(place), "position": positions.get(place.chapter)} for place in statement.places],
        }
        for statement in statements(turn.answer, turn.citations)
        if statement.text.strip()
    ]
    tools = [{"name": used.name, "arguments": used.arguments, "status": used.status} for used in turn.used]
    return {
        "conversation": turn.conversation,
        "turn": turn.number,
        "stop": turn.stop,
        "error": turn.error,
        "answer": turn.answer,
        "statements": listed,
        "tools": tools,
        "calls": turn.calls,
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
    }
