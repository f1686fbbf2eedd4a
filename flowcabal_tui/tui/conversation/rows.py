"""The rows of a conversation: questions, statements, cards, permission requests, and the end of a turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from textual.visual import Visual

from flowcabal_tui.agents.conversation.places import shown_while_it_arrives, statements
from flowcabal_tui.agents.tool_calls import read_arguments
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.conversation import (
    Citation,
    ConversationLevel,
    Permission,
    Scope,
    Statement,
    StopReason,
    Turn,
    UsedTool,
)
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.proposals import OPEN_STATES, Finding, Proposal, ProposalId
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.proposal_words import KINDS, changed, joined, proposal_line, reason, state_words
from flowcabal_tui.project.words import beside
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.list_rows import HangingRow

LEVELS: Final[Mapping[ConversationLevel, str]] = {
    "ask": mark("Ask: reads only"),
    "suggest": mark("Suggest: proposes, you decide"),
    "do": mark("Do: changes {scope} at once"),
}
_STOPS: Final[Mapping[StopReason, str]] = {
    "end_turn": "",
    "max_tokens": mark("cut off at a limit"),
    "max_turn_requests": mark("the limit of calls is reached"),
    "refusal": mark("the provider refused"),
    "cancelled": mark("stopped; the text so far is kept"),
    "error": mark("failed"),
}
_TOOLS: Final[Mapping[str, str]] = {
    "read_chapter": mark("reads a chapter"), "search": mark("searches"), "read_receipt": mark("reads a receipt"),
    "read_profile": mark("reads a profile"), "read_promises": mark("reads the promises"),
    "read_timeline": mark("reads the timeline"), "check_chapter": mark("checks a chapter"),
    "quote_run": mark("quotes a run"), "propose_edit": mark("proposes an edit"),
    "propose_fact": mark("proposes a fact"), "propose_name": mark("proposes a name"),
    "propose_outline": mark("proposes an outline"), "propose_workflow": mark("proposes a workflow"),
    "start_run": mark("starts a run"), "start_check": mark("starts a check"),
}  # fmt: skip
"""The user's words for what the model calls."""
_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class TalkRow:
    """One row with the object on which its keys act."""

    id: str
    drawn: Visual
    turn: Turn
    places: tuple[Citation, ...] = ()
    card: Proposal | None = None
    call: UsedTool | None = None

    @property
    def permission(self) -> Permission | None:
        """The permission request of the row, if any."""
        return self.call.permission if self.call else None

    @property
    def waits(self) -> bool:
        """True for an undecided card or permission request."""
        if self.card is not None:
            return self.card.state in OPEN_STATES
        return self.permission is not None and not self.permission.answer


@dataclass(frozen=True, slots=True)
class NameWords:
    """The display names of chapters and entities."""

    positions: Mapping[ChapterId, int]
    names: Mapping[EntityId, str]

    def chapter(self, chapter: ChapterId) -> str:
        """The number of a chapter, or a question mark."""
        return str(self.positions.get(chapter, "?"))

    def chapter_words(self, chapter: ChapterId) -> str:
        """A chapter in words."""
        return _("chapter {n}").format(n=self.chapter(chapter))

    def name(self, entity: EntityId) -> str:
        """The name of an entity."""
        return self.names.get(entity, entity)


def level_words(level: ConversationLevel, scope: Scope | None, title_of: Callable[[Scope], str]) -> str:
    """The level, as shown in the head line."""
    return _(LEVELS[level]).format(scope=title_of(scope) if scope else "")


def rows_of(turns: Sequence[Turn], cards: Mapping[ProposalId, Proposal], names: NameWords) -> list[TalkRow]:
    """All rows of a conversation."""
    is_answering = any(turn.state == "in_progress" for turn in turns)
    return [row for turn in turns for row in _turn_rows(turn, cards, names, is_answering=is_answering)]


def receipt_of(turn: Turn) -> Receipt | None:
    """The receipt of a turn, with a note of what the model has read besides."""
    read = [" ".join((_tool(each), _arguments(each))) for each in turn.used if each.kind in ("read", "search", "think")]
    if turn.receipt is None or not read:
        return turn.receipt
    note = _("read while answering: {what}").format(what=one_line(_("; ").join(read), _SHOWN))
    return replace(turn.receipt, notes=(*turn.receipt.notes, note))


def _tool(used: UsedTool) -> str:
    return _(_TOOLS[used.name]) if used.name in _TOOLS else used.name


def _arguments(used: UsedTool) -> str:
    """The values of its arguments."""
    try:
        given = read_arguments(used.arguments)
    except (ValueError, RecursionError):  # shortened, or never an object
        return ""
    return " ".join(f"“{each}”" if isinstance(each, str) else str(each) for each in given.values())


def _turn_rows(
    turn: Turn, cards: Mapping[ProposalId, Proposal], names: NameWords, *, is_answering: bool
) -> Iterator[TalkRow]:
    start = f"t{turn.number}"
    words = _("waits for its turn") if is_answering else _("not sent: r sends it")
    waits = f"  {words}" if turn.state == "pending" else ""
    yield TalkRow(f"{start}.q", HangingRow("> ", one_line(turn.asked, 2_000), waits), turn)
    tools = list(dict.fromkeys(map(_tool, turn.used)))
    if tools:
        yield TalkRow(f"{start}.tools", HangingRow("  ", "", _(", ").join(tools)), turn)
    if turn.state == "in_progress":
        yield live_row(turn)
    else:
        found = statements(turn.answer, turn.citations)
        yield from (
            _statement(f"{start}.s{at}", turn, each, names) for at, each in enumerate(found) if each.text.strip()
        )
    for used in turn.used:
        if used.permission is not None:
            yield _permission_row(f"{start}.p{used.id}", turn, used, used.permission, names)
        for identity in used.proposals:
            if (card := cards.get(identity)) is not None:
                row = f"{start}.c{identity}"
                is_found = card.kind == "finding"
                yield _finding(row, turn, card, names) if is_found else _card(row, turn, used, card, names)
    if turn.state in ("completed", "failed"):
        yield TalkRow(f"{start}.e", HangingRow("  ", "", _end(turn)), turn)


def live_row(turn: Turn) -> TalkRow:
    """The row of the arriving answer, without its marks."""
    shown = shown_while_it_arrives(turn.answer).strip()
    words = " ".join(clean(shown).split())
    waits = "" if words else _("waiting for the model; F9 stops")
    return TalkRow(f"t{turn.number}.live", HangingRow("  ", words, waits), turn)


def _statement(identity: str, turn: Turn, statement: Statement, names: NameWords) -> TalkRow:
    """One with a place has its number behind it; one without is dim."""
    words = " ".join(clean(statement.text).split())
    if not statement.places:
        return TalkRow(identity, HangingRow("  ", "", words), turn)
    numbers = dict.fromkeys(names.chapter(each.chapter) for each in statement.places)
    return TalkRow(identity, HangingRow("  ", f"{words} ", f"[{', '.join(numbers)}]"), turn, places=statement.places)


def _card(identity: str, turn: Turn, used: UsedTool, card: Proposal, names: NameWords) -> TalkRow:
    words = _joined(_title(card, names), changed(card, names.name), reason(card))
    is_open = card.state in OPEN_STATES
    sign = "± " if is_open else "= "
    is_applied = used.applied and not is_open
    agreed = "" if is_applied and card.state == "confirmed" else state_words(card)
    applied = _("applied") if is_applied else ""
    state = f"  [{_joined(applied, agreed)}]"
    return TalkRow(identity, HangingRow(sign, words, state), turn, places=_places(card), card=card, call=used)


def _title(card: Proposal, names: NameWords) -> str:
    """The kind of a proposal with its chapter, and what it proposes."""
    at = names.chapter_words(card.place.chapter) if card.place else ""
    name = proposal_line(card, names.name)
    return _("{kind}: {name}").format(kind=beside(_(KINDS[card.kind]), at), name=name)


def _places(card: Proposal) -> tuple[Citation, ...]:
    """The place of its quotation."""
    place = card.place
    if place is None or not place.end:
        return ()
    return (Citation(0, 0, place.chapter, card.quotation, place.start, place.end, found=True),)


def _finding(identity: str, turn: Turn, card: Proposal, names: NameWords) -> TalkRow:
    """A finding of a check: Enter opens its place; decisions on it are made in the list of findings."""
    after = card.difference.after
    why = after.explanation if isinstance(after, Finding) else ""
    words = _joined(_title(card, names), quoted(one_line(card.quotation, _SHOWN)), why)
    return TalkRow(identity, HangingRow("! ", words, f"  [{state_words(card)}]"), turn, places=_places(card))


def _permission_row(identity: str, turn: Turn, used: UsedTool, permission: Permission, names: NameWords) -> TalkRow:
    if permission.kind == "check":
        words = _("Check chapter {n} by the agents' model").format(n=names.chapter(permission.chapter or ChapterId("")))
    else:
        what = _("Run {workflow}") if permission.kind == "run" else _("Have {workflow} built")
        words = what.format(workflow=one_line(permission.workflow) or _("a new workflow"))
        words = _joined(words, names.chapter_words(permission.chapter) if permission.chapter else "")
    state = {
        "": _("waits for you: a allows, x refuses"), "allow_once": _("allowed"), "reject_once": _("refused"),
    }.get(permission.answer, permission.answer)  # fmt: skip
    if permission.kind == "check" and permission.made:
        state = _joined(state, ngettext("{n} finding", "{n} findings", int(permission.made)).format(n=permission.made))
    return TalkRow(
        identity, HangingRow("? ", _joined(words, permission.words, permission.price), f"  [{state}]"), turn, call=used
    )


def _end(turn: Turn) -> str:
    tokens = turn.input_tokens + turn.output_tokens
    counted = _("{n} tokens").format(n=f"{tokens:,}") if tokens else ""
    stop = _(_STOPS[turn.stop]) if turn.stop and _STOPS[turn.stop] else ""
    if turn.stop == "cancelled" and not turn.answer:
        stop = _("stopped before the answer began: r sends it again")
    return _joined(stop, turn.error, counted) or "·"


def _joined(*parts: str) -> str:
    return joined(*(one_line(part, _SHOWN) for part in parts))
