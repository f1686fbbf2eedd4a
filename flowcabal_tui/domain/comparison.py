"""Blind comparison of the candidates of one step, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, NewType

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.domain.text import clean, digest, digest_of
from flowcabal_tui.domain.value_class import dataclass

ComparisonId = NewType("ComparisonId", str)
FEWEST: Final = 2
MOST: Final = 8
"""The number of newest outputs that are compared; if a question offers more, all of them are."""
LETTERS: Final = "ABCDEFGHIJKLMNOP"
"""Labels of candidates by their place on the screen; they reveal nothing about the maker."""
Result = Literal["won", "tied", "lost"]
VerdictKind = Literal["chosen", "tie", "none", "composed"]
"""tie: several are equally good, and the first of them is used; composed: a text of parts, edited or not."""
MarkKind = Literal["contradiction", "beat", "sifted"]
"""contradiction: found by a check; beat: the text lacks nearly all distinctive words of a beat of the plan; sifted: a
run gives the reason."""


@dataclass(frozen=True, slots=True)
class ComparisonTarget:
    """The subject of a comparison: the choices of a question, or the outputs of a step of a workflow for a chapter."""

    question: QuestionId = QuestionId("")
    workflow: str = ""
    node: NodeId = NodeId("")
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class Maker:
    """The origin of a candidate. `prompt` is the digest of the blocks, `sampling` a JSON object of the settings.

    `model` is "" for a text by hand. `cost` is None when a price or a count is unknown.
    """

    run: RunId = RunId("")
    node: NodeId = NodeId("")
    attempt: int = 0
    model: str = ""
    prompt: Digest = Digest("")
    prompt_name: str = ""
    sampling: str = "{}"
    cost: Decimal | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class SiftMark:
    """A problem of a candidate that a rule or a check found. It neither hides the candidate nor decides the
    comparison.
    """

    kind: MarkKind
    reason: str
    finding: CheckFinding | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the compared texts. `maker` is None until the decision; `unchecked` lists the angles that were not
    checked.
    """

    digest: Digest
    text: str
    maker: Maker | None = None
    marks: tuple[SiftMark, ...] = ()
    checked: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A beat of the plan ("" if there is none), and for each candidate its paragraphs (from 0) for the beat."""

    beat: str
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The writer's decision. `picks` are digests of candidates, the one to use first; `text` is a composed text."""

    kind: VerdictKind
    picks: tuple[Digest, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """A paragraph (from 0) of a candidate that goes into the result."""

    candidate: Digest
    paragraph: int


@dataclass(frozen=True, slots=True)
class ChoiceDraft:
    """An unfinished choice. `text` is the result as edited; None: as assembled from `taken`."""

    equal: tuple[Digest, ...] = ()
    taken: tuple[Taken, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The candidates in display order. `verdict` is None until the choice is made.

    `is_waiting`: a run waits for it. `can_grow`: further candidates can be written.
    """

    id: ComparisonId
    target: ComparisonTarget
    title: str
    seed: int
    candidates: tuple[Candidate, ...]
    rows: tuple[CandidateRow, ...]
    verdict: Verdict | None = None
    is_waiting: bool = False
    can_grow: bool = False

    @property
    def is_decided(self) -> bool:
        return self.verdict is not None

    def place(self, candidate: Digest) -> int:
        """The place of a candidate, from 0. Raises Gone."""
        for number, each in enumerate(self.candidates):
            if each.digest == candidate:
                return number
        raise Gone(candidate)

    @property
    def draft_key(self) -> str:
        """The key of the unfinished choice in the store. It contains the chapter, so purging the chapter deletes it."""
        return f"comparison/{self.target.chapter or ''}/{self.id}"


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """Summary of a comparison for lists. `state`: open, decided, or taken back, which makes it open again."""

    id: ComparisonId
    target: ComparisonTarget
    title: str
    candidates: int
    state: Literal["open", "decided", "taken back"]
    verdict: VerdictKind | Literal[""] = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PartSource:
    """The origin of a paragraph of a result. `paragraph` is the digest of its words (see `words_digest`).

    `before` is the candidate's paragraph before an edit; "" when it was not edited.
    """

    paragraph: Digest
    candidate: Digest
    maker: Maker
    before: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """The number of wins, ties and losses of candidates by one prompt and model."""

    prompt: Digest
    prompt_name: str
    model: str
    sampling: str
    won: int
    tied: int
    lost: int


def comparison_id(target: ComparisonTarget, digests: Sequence[Digest]) -> ComparisonId:
    """The id of a comparison: equal for the same candidates of the same step, in any order."""
    of = target.question or [target.workflow, target.node, target.chapter]
    return ComparisonId(digest_of(["comparison", of, sorted(digests)])[:12])


def in_order(seed: int, digests: Sequence[Digest]) -> tuple[Digest, ...]:
    """Orders candidates by the seed and their digests.

    A further candidate makes another comparison (`comparison_id`), which has its own seed and order.
    """
    return tuple(sorted(digests, key=lambda each: (digest_of([seed, each]), each)))


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a text that can be taken one by one: its lines that are not blank."""
    return tuple(row.strip() for row in clean(text).splitlines() if row.strip())


def words_digest(paragraph: str) -> Digest:
    """The digest that identifies a paragraph, independent of the blanks around its words."""
    return digest(" ".join(paragraph.split()))


def results(candidates: Sequence[Digest], verdict: Verdict, used: Sequence[Digest]) -> Mapping[Digest, Result]:
    """The result of each candidate under a verdict; `used` are those with a paragraph in a composed text."""
    winners = {"chosen": verdict.picks[:1], "tie": verdict.picks, "none": (), "composed": used}[verdict.kind]
    best: Result = "tied" if len(set(winners)) > 1 else "won"
    return {each: best if each in winners else "lost" for each in candidates}


def composed(comparison: Comparison, taken: Sequence[Taken]) -> str:
    """The text of the taken paragraphs, by beats, and within a beat in the order of taking."""
    texts = {each.digest: paragraphs_of(each.text) for each in comparison.candidates}
    return joint(comparison).join(texts[each.candidate][each.paragraph] for each in in_result(comparison, taken))


def in_result(comparison: Comparison, taken: Sequence[Taken]) -> list[Taken]:
    """The taken paragraphs in the order of the result, without those that the comparison does not have."""
    counts = {each.digest: len(paragraphs_of(each.text)) for each in comparison.candidates}
    known = [each for each in taken if 0 <= each.paragraph < counts.get(each.candidate, 0)]
    return sorted(known, key=lambda each: row_of(comparison, each))


def row_of(comparison: Comparison, taken: Taken) -> int:
    """The row that contains a paragraph."""
    place = comparison.place(taken.candidate)
    return next((n for n, row in enumerate(comparison.rows) if taken.paragraph in row.cells[place]), 0)


def joint(comparison: Comparison) -> str:
    """The separator between paragraphs: an empty line, or a line break when no candidate has empty lines."""
    return "\n\n" if any("\n\n" in each.text.strip() for each in comparison.candidates) else "\n"


def sampling_words(sampling: Mapping[str, Any]) -> str:
    """The sampling parameters that are set, such as `temperature 1.0, top_p 0.9`."""
    return ", ".join(f"{name} {value}" for name, value in sorted(sampling.items()))
