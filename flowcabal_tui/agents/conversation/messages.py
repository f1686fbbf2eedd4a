"""The messages of a question: the earlier turns, text of the book, the texts that the writer sends, the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.conversation.permissions import level_words
from flowcabal_tui.agents.conversation.ports import BookPort, SentChip, Surroundings
from flowcabal_tui.agents.prompt_library import Fenced, PromptLibrary, name_lines
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.conversation import Turn
from flowcabal_tui.domain.model_calls import Message
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import escaped, in_attribute
from flowcabal_tui.locale import _

PROMPT: Final = "conversation"
HISTORY_TOKENS: Final = 6_000
"""Maximum tokens of earlier questions and answers; the newest take precedence."""
_MOST_NAMES: Final = 40
_SHORT: Final = 400
_CUT: Final = "\n… (shortened)"


async def messages_of(
    turn: Turn,
    earlier: Sequence[Turn],
    book: BookPort,
    sent: Sequence[SentChip],
    around: Surroundings,
    prompts: PromptLibrary,
    counter: TokenCounter,
) -> tuple[Message, ...]:
    """System message, earlier turns, and the question with its material."""
    chapters = await book.chapters()
    named = named_in("\n".join((turn.asked, *(each.title for each in sent))), await book.entities())
    system, user = prompts.get(PROMPT).fill(
        {
            "language": book.language,
            "names": name_lines(named[:_MOST_NAMES]),
            "level": level_words(turn.level, turn.scope),
            "chapters": str(len(chapters)),
            "book": Fenced(around.text),
            "sent": Fenced("\n".join(_fenced(each) for each in sent)),
            "question": turn.asked,
        }
    )
    return (system, *_history(earlier, counter), user)


def with_sent(receipt: Receipt | None, sent: Sequence[SentChip], counter: TokenCounter) -> Receipt | None:
    """The receipt of the Context agent with a note for each text that the writer sends; None without a receipt."""
    words = _("sent by you: {title}, {n} tokens")
    notes = tuple(words.format(title=each.title, n=f"{counter.count(each.text):,}") for each in sent)
    return receipt and replace(receipt, notes=(*notes, *receipt.notes))


def _fenced(sent: SentChip) -> str:
    tag = sent.chip.kind
    return f'<{tag} title="{in_attribute(sent.title)}">\n{escaped(sent.text)}\n</{tag}>'


def _history(earlier: Sequence[Turn], counter: TokenCounter) -> tuple[Message, ...]:
    """Questions with their answers, oldest first; the oldest are left out if they do not all fit."""
    kept: list[Message] = []
    left = HISTORY_TOKENS
    for turn in reversed(earlier):
        answer = turn.answer.strip()
        if turn.state not in ("completed", "failed") or not answer:
            continue
        left -= counter.count(turn.asked) + counter.count(answer)
        if left < 0:
            break
        kept += [Message("assistant", answer + _done(turn)), Message("user", turn.asked)]
    return tuple(reversed(kept))


def _done(turn: Turn) -> str:
    """A description of the turn's proposals, so that they are not repeated."""
    made = [f"{each.name}: {'applied' if each.applied else 'proposed'}" for each in turn.used if each.proposals]
    permissions = [
        f"{each.name}: {each.permission.answer or 'waits for the writer'} {each.permission.made}".rstrip()
        for each in turn.used
        if each.permission
    ]
    return f"\n\n({'; '.join((*made, *permissions))})" if made or permissions else ""


def shortened(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with shortened tool results, for a window into which they do not fit."""
    return tuple(
        replace(each, content=each.content[:_SHORT] + _CUT)
        if each.role == "tool" and len(each.content) > _SHORT
        else each
        for each in messages
    )
