"""Candidates of one step, compared without knowing who wrote them, and what came of the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal, NewType

from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import CheckFinding
from flowcabal_tui.domain.text import clean, digest, digest_of

ComparisonId = NewType("ComparisonId", str)
FEWEST: Final = 2
MOST: Final = 8
"""So many outputs of a step are compared, the newest; a question may offer more, and then all are."""
LETTERS: Final = "ABCDEFGHIJKLMNOP"
"""Candidates by their place on the screen, which tells nothing of them."""
Result = Literal["won", "tied", "lost"]
VerdictKind = Literal["chosen", "tie", "none", "composed"]
"""tie: several are equally good, and the first of them goes on; composed: a text of parts, edited or not."""
MarkKind = Literal["contradiction", "beat", "sifted"]
"""contradiction: a check has found one; beat: no words of a beat of the plan are found; sifted: a run says why."""


@dataclass(frozen=True, slots=True)
class ComparisonTarget:
    """What is compared: the choices of a question, or the outputs of a step of a workflow for a chapter."""

    question: QuestionId = QuestionId("")
    workflow: str = ""
    node: NodeId = NodeId("")
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class Maker:
    """Who wrote a candidate, from what. `prompt` is the digest of the blocks, `sampling` a JSON object of what is set.

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
    """A fact against a candidate, found by a rule or a check; it hides and decides nothing."""

    kind: MarkKind
    reason: str
    finding: CheckFinding | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the texts. `maker` is None as long as nothing is decided; `unchecked` says which angles were not read."""

    digest: Digest
    text: str
    maker: Maker | None = None
    marks: tuple[SiftMark, ...] = ()
    checked: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A beat of the plan ("" where there is none), and for each candidate which of its paragraphs (from 0) tell it."""

    beat: str
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The writer's word. `picks` are digests of candidates, the one that goes on first; `text` is what was composed."""

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
    """A choice that is not made yet. `text` is the result as it was edited; None: as it was taken."""

    equal: tuple[Digest, ...] = ()
    taken: tuple[Taken, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The candidates in the order in which they are shown. `verdict` is None until the choice is made.

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
        """Its place from 0. Raises KeyError."""
        for number, each in enumerate(self.candidates):
            if each.digest == candidate:
                return number
        raise KeyError(candidate)

    @property
    def draft_key(self) -> str:
        """Where the choice is kept until it is made; it names the chapter, with which it is purged."""
        return f"comparison/{self.target.chapter or ''}/{self.id}"


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """A comparison as lists show it. `state`: open, decided, or taken back, which is open again."""

    id: ComparisonId
    target: ComparisonTarget
    title: str
    candidates: int
    state: Literal["open", "decided", "taken back"]
    verdict: VerdictKind | Literal[""] = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PartSource:
    """Where a paragraph of a result comes from. `paragraph` is the digest of its words (see `words_digest`).

    `before` is the paragraph of the candidate from which it was changed; "" when it is as it was.
    """

    paragraph: Digest
    candidate: Digest
    maker: Maker
    before: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How often candidates of one prompt and model won, were found equal, or lost."""

    prompt: Digest
    prompt_name: str
    model: str
    sampling: str
    won: int
    tied: int
    lost: int

    @property
    def total(self) -> int:
        return self.won + self.tied + self.lost


def comparison_id(target: ComparisonTarget, digests: Sequence[Digest]) -> ComparisonId:
    """The same candidates of the same step are the same comparison, in whatever order they are read."""
    of = target.question or [target.workflow, target.node, target.chapter]
    return ComparisonId(digest_of(["comparison", of, sorted(digests)])[:12])


def in_order(seed: int, digests: Sequence[Digest]) -> tuple[Digest, ...]:
    """The order that a seed gives: it depends on nothing else, and a further candidate moves no other."""
    return tuple(sorted(digests, key=lambda each: (digest_of([seed, each]), each)))


def paragraphs_of(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, as they are taken one by one: its lines that say something."""
    return tuple(row.strip() for row in clean(text).splitlines() if row.strip())


def words_digest(paragraph: str) -> Digest:
    """The digest by which a paragraph is known again, whatever spaces stand around its words."""
    return digest(" ".join(paragraph.split()))


def results(candidates: Sequence[Digest], verdict: Verdict, used: Sequence[Digest]) -> Mapping[Digest, Result]:
    """What a verdict says of each candidate; `used` are those with a paragraph in a composed text."""
    winners = {"chosen": verdict.picks[:1], "tie": verdict.picks, "none": (), "composed": used}[verdict.kind]
    said: Result = "tied" if len(set(winners)) > 1 else "won"
    return {each: said if each in winners else "lost" for each in candidates}


def composed(comparison: Comparison, taken: Sequence[Taken]) -> str:
    """The paragraphs that were taken, by beats, inside of a beat in the order of taking."""
    texts = {each.digest: paragraphs_of(each.text) for each in comparison.candidates}
    return joint(comparison).join(texts[each.candidate][each.paragraph] for each in in_result(comparison, taken))


def in_result(comparison: Comparison, taken: Sequence[Taken]) -> list[Taken]:
    """What was taken, in the order of the result; what the comparison does not have is left out."""
    counts = {each.digest: len(paragraphs_of(each.text)) for each in comparison.candidates}
    known = [each for each in taken if 0 <= each.paragraph < counts.get(each.candidate, 0)]
    return sorted(known, key=lambda each: row_of(comparison, each))


def row_of(comparison: Comparison, taken: Taken) -> int:
    """The row in which a paragraph stands."""
    place = comparison.place(taken.candidate)
    return next((n for n, row in enumerate(comparison.rows) if taken.paragraph in row.cells[place]), 0)


def joint(comparison: Comparison) -> str:
    """What stands between paragraphs: an empty line, unless no candidate has one."""
    return "\n\n" if any("\n\n" in each.text.strip() for each in comparison.candidates) else "\n"


def sampling_words(sampling: Mapping[str, Any]) -> str:
    """What is set, as `temperature 1.0, top_p 0.9`."""
    return ", ".join(f"{name} {value}" for name, value in sorted(sampling.items()))
