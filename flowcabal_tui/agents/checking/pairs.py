"""Statements of a draft, each with related passages of the book: the questions for a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.checking.draft_statements import DraftStatement
from flowcabal_tui.agents.checking.evidence.ranking import Sentence
from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.prompt_library import Fenced, SourceText
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import escaped
from flowcabal_tui.domain.text import han_count

_LEAST_ROOM: Final = 20
_MOST_NAMED: Final = 2
_REPEATED: Final = 8
"""Tokens of a reference to a passage that was shown before."""
_MOST_STATEMENTS: Final = 2
"""Maximum number of statements with which one passage is compared."""
_BEGINNING: Final = {"zh": 30, "en": 60}
_NEAREST: Final = 2
_STRONG: Final = 2.3
"""Least strength at which a statement and a passage surely have the same subject (measured, decision 29)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A statement and a passage of the chapter at `position`. A strong one is so similar that it is shown as sure."""

    statement: DraftStatement
    passage: SourceText
    position: int
    strong: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.statement.id, self.passage.id


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a question, in the order in which they are shown."""

    all: tuple[Pair, ...] = ()

    @property
    def statements(self) -> dict[str, DraftStatement]:
        """The statements to judge, by id."""
        return {each.statement.id: each.statement for each in self.all}

    @property
    def passages(self) -> tuple[SourceText, ...]:
        """The passages, each once."""
        return tuple({each.passage.id: each.passage for each in self.all}.values())

    @property
    def fenced(self) -> Fenced:
        """Statements with their passages. A passage that was shown before is referred to with `see`."""
        shown: set[str] = set()
        parts = []
        for statement in self.statements.values():
            mine = [each for each in self.all if each.statement.id == statement.id]
            known = " ".join(each.passage.id for each in mine if each.passage.id in shown)
            parts.append(statement_tag(statement, known))
            parts += [passage_line(each.passage, each.position) for each in mine if each.passage.id not in shown]
            shown.update(each.passage.id for each in mine)
        return Fenced("\n".join(parts))


def statement_tag(statement: DraftStatement, known: str = "") -> str:
    """`<statement id="c1" said="speech" as="supposed" see="p3">text</statement>`, without attributes of usual value."""
    voice = f' said="{statement.voice}"' if statement.voice != "narration" else ""
    how = f' as="{statement.mode}"' if statement.mode != "asserted" else ""
    see = f' see="{known}"' if known else ""
    text = escaped(_begun(one_line(statement.text)))
    return f'<statement id="{statement.id}"{voice}{how}{see}>{text}</statement>'


def passage_line(passage: SourceText, position: int) -> str:
    """`p1 [3] text` or `p1 [3, Nora] text`: chapter and people concerned. No text of the book begins a line."""
    about = f", {escaped(passage.about)}" if passage.about else ""
    return f"{passage.id} [{position}{about}] {escaped(one_line(passage.text))}"


def _begun(text: str) -> str:
    """The beginning of a statement, long enough to find it in the draft, which contains the whole."""
    most = _BEGINNING["zh" if han_count(text) else "en"]
    return text if len(text) <= most else f"{text[:most]}…"


def one_line(text: str) -> str:
    """The text with a blank for each stretch of white space."""
    return " ".join(text.split())


async def pairs_of(
    book: BookInputs,
    ranked: Sequence[Sentence],
    statements: Mapping[int, DraftStatement],
    counter: TokenCounter,
    budget: int,
) -> Pairs:
    """The best pairs within `budget` tokens with their tags, by statement in the order of the draft."""
    texts = await book.view.chapter_texts(tuple(dict.fromkeys(each.chapter for each in ranked)))
    chosen = _chosen(book, ranked, statements, texts, counter, budget)
    in_order = sorted(chosen, key=lambda each: (each[0].start, each[1].position, each[1].start))
    passages: dict[tuple[ChapterId, int], SourceText] = {}
    nearest: dict[str, int] = {}
    ranks = {}
    for statement, sentence in chosen:  # the best first
        ranks[statement.id, sentence.chapter, sentence.start] = nearest[statement.id] = nearest.get(statement.id, 0) + 1
    found = []
    for statement, sentence in in_order:
        key = (sentence.chapter, sentence.start)
        if key not in passages:
            passages[key] = replace(_source(book, sentence, texts), id=f"p{len(passages) + 1}")
        near = ranks[statement.id, *key] <= _NEAREST and sentence.strength >= _STRONG and sentence.compared == "differ"
        found.append(Pair(statement, passages[key], sentence.position, near and statement.binds))
    return Pairs(tuple(found))


def _chosen(
    book: BookInputs,
    ranked: Iterable[Sentence],
    statements: Mapping[int, DraftStatement],
    texts: Mapping[ChapterId, str],
    counter: TokenCounter,
    budget: int,
) -> list[tuple[DraftStatement, Sentence]]:
    chosen: list[tuple[DraftStatement, Sentence]] = []
    shown: dict[tuple[ChapterId, int], int] = {}
    begun: set[str] = set()
    for sentence in ranked:
        statement = statements.get(sentence.draft)
        times = shown.get((sentence.chapter, sentence.start), 0)
        if statement is None or times >= _MOST_STATEMENTS or sentence.compared == "same":
            continue
        tokens = _REPEATED
        if not times:
            passage = replace(_source(book, sentence, texts), id="p99")
            tokens = counter.count(passage_line(passage, sentence.position)) + 1
        if statement.id not in begun:
            tokens += counter.count(statement_tag(statement)) + 1
        if tokens <= budget:
            budget -= tokens
            chosen.append((statement, sentence))
            begun.add(statement.id)
            shown[sentence.chapter, sentence.start] = times + 1
        if budget < _LEAST_ROOM:
            break
    return chosen


def _source(book: BookInputs, sentence: Sentence, texts: Mapping[ChapterId, str]) -> SourceText:
    text = texts[sentence.chapter][sentence.start : sentence.end]
    uri, about = f"manuscript/{sentence.chapter}", _about(book, sentence.about)
    return SourceText("", uri, book.title(sentence.chapter), text, sentence.start, about=about)


def _about(book: BookInputs, entities: Sequence[EntityId]) -> str:
    if not entities:
        return ""
    names = {entity.id: entity.name for entity in book.entities if entity.id in entities}
    return ", ".join(names[each] for each in entities[:_MOST_NAMED] if each in names)
