"""Asks a model which planned beats a chapter brings. A beat counts as brought only with a quotation from the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field

from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.parts import questions_of
from flowcabal_tui.agents.prompt_library import Fenced, PromptLibrary, name_lines
from flowcabal_tui.agents.shapes.claims import plain_word
from flowcabal_tui.domain.answer_schema import StructuredAnswer, few, short_text
from flowcabal_tui.domain.beats import BeatAdvice
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import escaped
from flowcabal_tui.domain.value_class import dataclass

TASK: Final = "curator.beats"
_AT_ONCE: Final = 40
"""Maximum number of beats in one question."""
_NAMES: Final = 40
_SHARED: Final = 2
"""Maximum number of beats that one quotation can prove: a model that quotes the same words for more repeats itself."""


class BeatAnswer(BaseModel):
    """The verdict on one beat, with the words of the text that prove it."""

    beat: str = Field(json_schema_extra={"maxLength": 12})
    verdict: Annotated[Literal["brought", "not_found"], BeforeValidator(plain_word)]
    quote: str = short_text(default="")


class BeatAnswers(StructuredAnswer):
    """The answer to `curator.beats`. A beat without an entry was not checked."""

    beats: list[BeatAnswer] = few(_AT_ONCE)


@dataclass(frozen=True, slots=True)
class PlannedChapter:
    """A chapter and its planned beats, each with the title of its scene, if it has one."""

    title: str
    language: str
    text: str
    beats: tuple[str, ...]
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class BeatQuestion:
    """A question about the text, or a part of it. `beats` are the indexes of the beats that it is about."""

    request: ModelRequest
    beats: tuple[int, ...]


def beat_questions(
    prompts: PromptLibrary, chapter: PlannedChapter, counter: TokenCounter, endpoint: Endpoint, shrink: float = 1
) -> tuple[BeatQuestion, ...]:
    """One question, or several for many beats and for a text that does not fit the model's window.

    Raises SettingsError for an unusable prompt of the project's own, ModelError for one that is not confirmed.
    """
    prompt = prompts.get(TASK)
    cast = named_in("\n".join((*chapter.beats, chapter.text)), chapter.entities)[:_NAMES]
    found: list[BeatQuestion] = []
    for first in range(0, len(chapter.beats), _AT_ONCE):
        about = tuple(range(first, min(first + _AT_ONCE, len(chapter.beats))))
        values: dict[str, str | Fenced] = {
            "language": chapter.language,
            "names": name_lines(cast),
            "title": chapter.title,
            "draft": chapter.text,
            "beats": Fenced("\n".join(f'<beat id="{_id(at)}">{escaped(chapter.beats[at])}</beat>' for at in about)),
        }
        requests = questions_of(
            lambda given: ModelRequest(prompt.fill(given), TASK),
            values, "draft", BeatAnswers, counter, endpoint, shrink,
        )  # fmt: skip
        found += (BeatQuestion(request, about) for request in requests)
    return tuple(found)


def beat_advice(
    chapter: PlannedChapter, answered: Sequence[tuple[BeatQuestion, BeatAnswers | None]]
) -> tuple[BeatAdvice, ...]:
    """The advice on each beat; None: the answer cannot be read.

    A beat is brought where a quotation of it is in the text, and not found where every question about it says so.
    Everything else was not checked.
    """
    whole = VerbatimText(chapter.text)
    proofs = [*_proofs(answered, whole)]
    often = Counter(span for span, _at in {(span, at) for at, span in proofs})
    proved = {at: span for at, span in reversed(proofs) if often[span] <= _SHARED}
    return tuple(
        BeatAdvice("brought", proved[at])
        if at in proved
        else BeatAdvice("not found" if _is_missing(at, answered) else "not checked")
        for at in range(len(chapter.beats))
    )


def _proofs(
    answered: Sequence[tuple[BeatQuestion, BeatAnswers | None]], whole: VerbatimText
) -> Iterator[tuple[int, Span]]:
    for question, answer in answered:
        numbers = {_id(at): at for at in question.beats}
        for each in answer.beats if answer else ():
            if each.verdict == "brought" and each.beat in numbers and (span := whole.find(each.quote)):
                yield numbers[each.beat], span


def _is_missing(at: int, answered: Sequence[tuple[BeatQuestion, BeatAnswers | None]]) -> bool:
    for question, answer in answered:
        if at in question.beats:
            verdicts = {each.verdict for each in answer.beats if each.beat == _id(at)} if answer else set()
            if verdicts != {"not_found"}:
                return False
    return True


def _id(at: int) -> str:
    return f"b{at + 1}"
