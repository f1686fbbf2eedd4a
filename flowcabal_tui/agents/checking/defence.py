"""Judges each doubt again, and then looks for a reading in which both texts are true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.answer_tools import with_tools
from flowcabal_tui.agents.checking.checker import Checker
from flowcabal_tui.agents.checking.judged import Doubt, JudgedDraft, angle_of, judged_pairs, problem_words
from flowcabal_tui.agents.checking.pairs import Pairs, one_line, statement_tag
from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.checking.taxonomy import BY_ANGLE, subtype_of
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import Fenced, PromptLibrary
from flowcabal_tui.agents.shapes.claims import Claims, Reading, Readings
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import escaped, in_attribute
from flowcabal_tui.domain.run import Angle, CheckFinding, Quotation
from flowcabal_tui.domain.text import clean

TASK: Final = "monitor.defence"
SURE: Final = 0.8
"""Findings with at least this confidence are sent back to the model, and the node is tried again."""
_UNSURE: Final = 0.79
DOUBTS_TOKENS: Final = 3_000
"""Maximum tokens of all doubts in one defence."""
_AROUND: Final = {"zh": 60, "en": 200}
"""Characters of the book before and after the words in doubt."""
_BETWEEN: Final = 2
"""Maximum number of quoted sentences on the same subject between the two places."""
AGAIN: Final = 2
"""Number of times every doubt is judged again before it is defended; a weak one that is missed once is dropped."""
AGREEMENTS: Final = 4
"""Judgements that must agree in all before a doubt is shown as sure."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of doubts: findings, the number without a readable second answer, and the number dropped."""

    findings: tuple[CheckFinding, ...] = ()
    unasked: int = 0
    dropped: int = 0
    problem: str = ""


class Defence:
    """Looks for innocent readings of the doubts about one draft. Those not asked about remain, less certain."""

    def __init__(
        self, words: Mapping[Angle, str], model: PaidOnce, prompts: PromptLibrary, counter: TokenCounter, space: int
    ) -> None:
        """`space`: tokens that the doubts may take beside the draft."""
        self._words, self._model, self._prompts, self._counter = words, model, prompts, counter
        self._space = min(space, DOUBTS_TOKENS)

    async def settle(self, goal: JudgedDraft, doubts: Sequence[Doubt]) -> Settled:
        """The findings of a draft with their classes, quotations and confidence. Never raises for a failing model."""
        seen, agreed = await self._seen_again(goal, doubts, range(AGAIN))
        selected, tags = await self._selected(goal, seen)
        readings: dict[int, Reading] = {}
        problem = ""
        try:
            if selected:
                readings = await self._readings(goal, tags, {angle for each in selected for angle in each.angles})
        except FlowCabalError as error:
            problem = problem_words(error)
        answers = {each.signature: readings.get(number) for number, each in enumerate(selected)}
        texts = VerbatimText("\n".join([goal.text, *tags.values()]))
        gone = [each for each in seen if each.is_own and _explains(answers.get(each.signature), texts)]
        findings = {each.signature: _finding(each, answers.get(each.signature)) for each in seen if each not in gone}
        open_ = [each for each in agreed if (it := answers.get(each.signature)) and it.verdict == "contradiction"]
        surest = [each for each in open_ if findings[each.signature].confidence >= SURE]
        _seen, sure = await self._seen_again(goal, surest, range(AGAIN, AGREEMENTS))
        sure_ones = {each.signature for each in sure}
        return Settled(
            tuple(each if doubt in sure_ones else _doubtful(each) for doubt, each in findings.items()),
            len(seen) - len(readings),
            len(doubts) - len(findings),
            problem,
        )

    async def _selected(self, goal: JudgedDraft, doubts: Sequence[Doubt]) -> tuple[list[Doubt], dict[int, str]]:
        """The doubts that fit the space, strong ones first, and their texts by number, the last of the draft first."""
        left, selected, tags = self._space, list[Doubt](), dict[int, str]()
        for doubt in sorted(doubts, key=lambda each: (not each.strong, -each.draft.start)):
            tag = await self._tag(goal, doubt, len(selected))
            tokens = self._counter.count(tag) + 1
            if tokens <= left:
                left -= tokens
                tags[len(selected)] = tag
                selected.append(doubt)
        return selected, tags

    async def _tag(self, goal: JudgedDraft, doubt: Doubt, number: int) -> str:
        """The tag of a doubt: the book's words with the sentences around them, the text between, then the draft."""
        place = ChapterId(doubt.source.uri.removeprefix("manuscript/"))
        position = goal.book.places.get(place)
        where = f'title="{in_attribute(doubt.source.title)}"' if position is None else f'chapter="{position}"'
        book = doubt.source.text
        if position is not None:
            text = (await goal.book.view.chapter_texts((place,)))[place]
            reach = _AROUND["zh" if goal.book.view.language.startswith("zh") else "en"]
            book = text[max(0, doubt.source.start - reach) : doubt.source.end + reach]
        between = await self._between(goal, doubt, position or 0)
        plain = f"<statement>{escaped(one_line(doubt.draft.text))}</statement>"
        statement = statement_tag(doubt.pair.statement) if doubt.pair else plain
        lines = (f"<book {where}>{escaped(one_line(book))}</book>", *between, statement)
        return "\n".join((f'<doubt id="d{number + 1}">', *lines, "</doubt>"))

    async def _between(self, goal: JudgedDraft, doubt: Doubt, position: int) -> list[str]:
        """Later statements of the book about the same, most similar to the draft's words by rule."""
        if doubt.pair is None or not position:
            return []
        start = doubt.pair.statement.start
        fitting = [each for each in goal.evidence if each.draft == start and each.position > position][:_BETWEEN]
        texts = await goal.book.view.chapter_texts(tuple({each.chapter: None for each in fitting}))
        in_order = sorted(fitting, key=lambda each: (each.position, each.start))
        words = ((each.position, texts[each.chapter][each.start : each.end]) for each in in_order)
        return [f'<between chapter="{at}">{escaped(one_line(text))}</between>' for at, text in words]

    async def _readings(self, goal: JudgedDraft, tags: Mapping[int, str], angles: set[Angle]) -> dict[int, Reading]:
        """The readable answers by the number of their doubt. Raises ModelError, SettingsError."""
        in_order = [angle for angle in self._words if angle in angles]
        messages = self._prompts.get(TASK).fill(
            {
                "language": goal.book.view.language,
                "subtypes": "\n".join(f"{angle}: {', '.join(BY_ANGLE[angle])}" for angle in in_order),
                "doubts": Fenced("\n".join(tags.values())),
                "title": goal.title,
                "draft": goal.text,
            }
        )
        request = with_tools(ModelRequest(messages, purpose=TASK), Readings, self._model.endpoint)
        answer = await self._model.structured(request, Readings)
        numbers = {f"d{number + 1}": number for number in tags}
        return {numbers[doubt]: each for each in answer.readings if (doubt := each.doubt.strip().lower()) in numbers}

    async def _seen_again(
        self, goal: JudgedDraft, doubts: Sequence[Doubt], times: range
    ) -> tuple[Sequence[Doubt], Sequence[Doubt]]:
        """The doubts left after weak ones with another readable verdict are dropped, and the strong ones always judged
        contradictions.

        Each question has another order. A doubt without a pair or a readable verdict counts as confirmed; if the model
        fails, all do, and none as always confirmed.
        """
        seen, agreed = list(doubts), [each for each in doubts if each.strong]
        for time in times:
            pairs = tuple(each.pair for each in seen if each.pair and (not each.strong or each in agreed))
            if not pairs:
                break
            shown = Pairs(pairs[::-1] if time % 2 == 0 else (*pairs[1::2], *pairs[::2]))
            try:
                clashing, unread = judged_pairs([await self._judged_again(goal, shown, time)], shown)
            except FlowCabalError:
                return seen, [each for each in agreed if each.pair is None]
            keys = {each.key for each in clashing}
            agreed = [each for each in agreed if each.pair is None or each.pair.key in keys]
            open_ = keys | {each.key for each in shown.all if each.statement.id in unread}
            seen = [each for each in seen if each.strong or each.pair is None or each.pair.key in open_]
        return seen, agreed

    async def _judged_again(self, goal: JudgedDraft, pairs: Pairs, time: int) -> Claims:
        checker = Checker({}, self._model, self._prompts, self._counter)
        messages = await checker.messages(goal, (), pairs)
        request = with_tools(ModelRequest(messages, purpose="monitor.check"), Claims, self._model.endpoint)
        return await self._model.structured(request, Claims, sample=time)


def _explains(reading: Reading | None, texts: VerbatimText) -> bool:
    """True for an innocent reading that quotes words of the texts."""
    if reading is None or reading.verdict in ("contradiction", "unsure"):
        return False
    return texts.find(reading.reading_quote) is not None


def _finding(doubt: Doubt, reading: Reading | None) -> CheckFinding:
    """The finding of a doubt with the explanation of the second question; an innocent reading makes it doubtful."""
    subtype = (reading and reading.subtype) or doubt.subtype
    angle = doubt.angle or angle_of("", subtype, doubt.angles)
    confidence = doubt.confidence
    if reading is not None:
        confidence = reading.confidence if reading.verdict == "contradiction" else min(reading.confidence, 0.5)
    return CheckFinding(
        angle,
        subtype_of(subtype, angle),
        clean((reading and reading.explanation) or doubt.explanation).strip(),
        _narrowed(doubt.draft, reading.draft_quote if reading else ""),
        _narrowed(doubt.source, reading.source_quote if reading else ""),
        confidence,
        question=clean(reading.question).strip() if reading else "",
    )


def _doubtful(finding: CheckFinding) -> CheckFinding:
    return replace(finding, confidence=min(finding.confidence, _UNSURE))


def _narrowed(whole: Quotation, quote: str) -> Quotation:
    """The words within the quotation that a model quotes; the whole if it does not contain them."""
    text = VerbatimText(whole.text)
    span = text.find(quote) if quote else None
    if span is None:
        return whole
    return replace(whole, text=text.words(span), start=whole.start + span.start, end=whole.start + span.end)
