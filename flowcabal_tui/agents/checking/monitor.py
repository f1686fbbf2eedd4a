"""The Monitor checks facts from several angles at once; it never judges the quality of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.answer_tools import with_tools
from flowcabal_tui.agents.checking.checker import GROUPS, NAMES_TOKENS, Checker, part_of, questions_of, sources_at_most
from flowcabal_tui.agents.checking.defence import DOUBTS_TOKENS, SURE, Defence, Settled
from flowcabal_tui.agents.checking.draft_statements import statements_in
from flowcabal_tui.agents.checking.evidence.search import Helper, evidence_for, in_thread
from flowcabal_tui.agents.checking.judged import JudgedDraft, Judgement, problem_words
from flowcabal_tui.agents.checking.outcome import checks_of, merged, missing_words, of_parts
from flowcabal_tui.agents.context.gather import BookInputs, read_book
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.parts import LEAST, SHRINKS, is_too_long, parts_at_most, pieces, space_of, tokens_of
from flowcabal_tui.agents.ports import MemoryPort, RulesPort
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.agents.shapes.claims import Claims, Readings
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import (
    FlowCabalError,
    HelperFailed,
    ModelError,
    ModelFault,
    SettingsError,
    SpendingNotAgreed,
)
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.run import ANGLES, Angle, AngleCheck, CheckFinding, Evaluation
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.locale import _, ngettext

ATTEMPTS: Final = 3
_SWITCHED_OFF: Final = frozenset({ModelFault.NOT_CONFIGURED, ModelFault.NOT_CONFIRMED})


class Monitor:
    """Evaluates drafts against the book before their chapter. A failing model never fails the node."""

    def __init__(
        self,
        memory: MemoryPort,
        model: Callable[[], PaidOnce],
        counter: TokenCounter,
        prompts: PromptLibrary | None = None,
        helper: Helper = in_thread,
        rules: RulesPort | None = None,
    ) -> None:
        """`helper` runs the long search for passages of the chapters. `rules` check without a model."""
        self._memory, self._model, self._helper, self._rules = memory, model, helper, rules
        self._counter, self._prompts = CountedTokens(counter), prompts or PromptLibrary()

    async def evaluate(
        self,
        node: Node,
        params: PromptParams,
        draft: str,
        chapter: ChapterId | None,
        generation: Generation,
        attempt: int,
    ) -> Evaluation:
        """Checks one attempt: one verdict, with the findings of every angle. A draft is identified by its chapter, or
        else by its node."""
        view, uri = await self._memory.view(chapter, generation), f"draft/{node.id}"
        by_rule = await self._rules.check(view, draft, uri, node.title) if self._rules else ()
        try:
            model = self._model()
        except ModelError as error:
            checks = tuple(AngleCheck(angle, "not checked", error.title) for angle in params.angles)
            return _verdict(checks, attempt, by_rule, switched_off=error.fault in _SWITCHED_OFF)
        checks = await self._check(params.angles, await read_book(view), uri, node.title, draft, model)
        return _verdict(checks, attempt, by_rule)

    def question_tokens(self, endpoint: Endpoint, draft: int, questions: int = len(GROUPS)) -> int:
        """The highest number of tokens of one question in the check of a draft of `draft` tokens, with its tools.

        The draft itself is not counted. 0 for prompts that cannot be read.
        """
        frame = self._frame_tokens(endpoint)
        return frame + part_of(GROUPS[0], questions, sources_at_most(draft)) if frame else 0

    def _frame_tokens(self, endpoint: Endpoint) -> int:
        """The highest number of tokens of a question without draft and sources; 0 for prompts that cannot be read."""
        try:
            words = [self._prompts.text("monitor.check"), *(self._prompts.part(f"monitor.{each}") for each in ANGLES)]
        except SettingsError:
            return 0
        question = ModelRequest((Message("user", "\n".join(words)),))
        return NAMES_TOKENS + tokens_of(with_tools(question, Claims, endpoint), Claims, self._counter, endpoint)

    def defence_tokens(self, endpoint: Endpoint) -> int:
        """The highest number of tokens of a question about the doubts that a check leaves; the draft is not counted."""
        return self._defence_tokens(endpoint, "") + DOUBTS_TOKENS

    def _defence_tokens(self, endpoint: Endpoint, draft: str) -> int:
        try:
            question = ModelRequest((Message("user", self._prompts.text("monitor.defence") + draft),))
        except SettingsError:
            return 0
        return tokens_of(with_tools(question, Readings, endpoint), Readings, self._counter, endpoint)

    def parts_at_most(self, endpoint: Endpoint, draft: int) -> int:
        """The most parts in which a draft of `draft` tokens is checked; sources leave it two thirds of the space."""
        space = space_of(endpoint)
        frame = self._frame_tokens(endpoint)
        return parts_at_most(draft, 0, None if space is None else max(LEAST, 2 * (space - frame) // 3))

    async def check_text(
        self,
        text: str,
        uri: str,
        title: str,
        chapter: ChapterId | None,
        generation: Generation,
        angles: Sequence[Angle] = ANGLES,
    ) -> tuple[AngleCheck, ...]:
        """Checks a kept text from these angles; the result is only advice. Raises ModelError without a model."""
        book = await read_book(await self._memory.view(chapter, generation))
        return await self._check(angles, book, uri, title, text, self._model())

    async def _check(
        self, angles: Sequence[Angle], book: BookInputs, uri: str, title: str, text: str, model: PaidOnce
    ) -> tuple[AngleCheck, ...]:
        if (target := book.view.target) is not None:
            title = chapter_label(target.position, target.title, book.view.language)
        try:
            evidence = tuple(await evidence_for(book, text, self._helper))
        except HelperFailed as error:
            return tuple(_failed(angle, error) for angle in angles)
        statements = statements_in(text, book.view.language)
        goal = JudgedDraft(uri, title, text, book, await book.view.waived(), evidence=evidence, statements=statements)
        words: dict[Angle, str] = {}
        checks: list[AngleCheck] = []
        for angle in angles:
            try:
                words[angle] = self._prompts.part(f"monitor.{angle}")
            except SettingsError as error:
                checks.append(_failed(angle, error))
        groups = await questions_of(tuple(words), goal, self._counter) if words else ()
        tokens = sources_at_most(self._counter.count(text), book.view.language)
        judged: list[Judgement] = []
        for together in groups:  # in turn: the draft of the second is read from the provider's cache
            part = part_of(together, len(groups), tokens)
            judged += await self._look({angle: words[angle] for angle in together}, goal, model, part)
        checks += await self._settled(judged, words, model)
        of_angle = {angle: [check for check in checks if check.angle == angle] for angle in angles}
        return merged([of_parts(each) for each in of_angle.values()])

    async def _settled(
        self, judged: Sequence[Judgement], words: Mapping[Angle, str], model: PaidOnce
    ) -> list[AngleCheck]:
        """The checks after the search for innocent readings, part by part of the draft."""
        parts: dict[tuple[int, int], Settled] = {}
        checks: list[AngleCheck] = []
        for each in judged:
            goal, settled = each.goal, Settled()
            if goal is not None and not each.is_empty:
                key = (goal.start, len(goal.text))
                if key not in parts:
                    doubts = [doubt for other in judged if other.covers(key) for doubt in other.doubts]
                    space = space_of(model.endpoint)
                    left = DOUBTS_TOKENS if space is None else space - self._defence_tokens(model.endpoint, goal.text)
                    defence = Defence(words, model, self._prompts, self._counter, left)
                    parts[key] = await defence.settle(goal, doubts) if doubts else Settled()
                settled = parts[key]
            checks += checks_of(each, settled)
        return checks

    async def _look(
        self, angles: Mapping[Angle, str], goal: JudgedDraft, model: PaidOnce, tokens: int
    ) -> list[Judgement]:
        """The judgements of these angles; a draft that does not fit the model's window is read in parts."""
        for shrink in SHRINKS:
            try:
                return await self._read(angles, goal, model if shrink == 1 else self._model(), tokens, shrink)
            except SpendingNotAgreed:
                raise  # it is asked when the user has answered
            except FlowCabalError as error:
                if not (isinstance(error, ModelError) and is_too_long(error)) or shrink == SHRINKS[-1]:
                    return [Judgement(tuple(angles), None, problem=problem_words(error))]
        raise AssertionError("unreachable")

    async def _read(
        self, angles: Mapping[Angle, str], goal: JudgedDraft, model: PaidOnce, tokens: int, shrink: float
    ) -> list[Judgement]:
        sources, drafts = self._fitting(angles, goal, model.endpoint, tokens, shrink)
        checker = Checker(angles, model, self._prompts, self._counter, sources)
        return [await checker.pursue(part) for part in drafts]

    def _fitting(
        self, angles: Mapping[Angle, str], goal: JudgedDraft, endpoint: Endpoint, tokens: int, shrink: float
    ) -> tuple[int, list[JudgedDraft]]:
        """Tokens for the sources, at most `tokens`, and the draft or its parts, which have two thirds of the space."""
        space = space_of(endpoint)
        if space is None and shrink == 1:
            return tokens, [goal]
        length = self._counter.count(goal.text)
        words = Message("user", "\n".join((self._prompts.text("monitor.check"), *angles.values())))
        frame = NAMES_TOKENS // 4 + tokens_of(
            with_tools(ModelRequest((words,)), Claims, endpoint), Claims, self._counter, endpoint
        )
        whole = (tokens + length if space is None else max(0, space - frame)) * shrink
        sources = int(min(tokens, max(whole - length, whole / 3)))
        size = max(LEAST, int(whole) - sources)
        if length <= size:
            return sources, [goal]
        drafts, at = [], 0
        for piece in pieces(goal.text, size, self._counter):
            drafts.append(replace(goal, text=piece, start=at))
            at += len(piece)
        return sources, drafts


def _failed(angle: Angle, error: FlowCabalError) -> AngleCheck:
    return AngleCheck(angle, "not checked", problem_words(error))


def _verdict(
    checks: tuple[AngleCheck, ...], attempt: int, by_rule: tuple[AngleCheck, ...] = (), *, switched_off: bool = False
) -> Evaluation:
    """The verdict: the model's findings decide; findings of the rules are added and decide nothing."""
    evaluation = _judged(checks, attempt, switched_off=switched_off)
    return replace(evaluation, checks=(*_further(by_rule, evaluation.findings), *checks))


def _further(by_rule: tuple[AngleCheck, ...], by_model: Sequence[CheckFinding]) -> tuple[AngleCheck, ...]:
    """The checks by rule, without findings that a model made at the same two places."""
    further: list[AngleCheck] = []
    for check in by_rule:
        kept = tuple(each for each in check.findings if not any(_same_places(each, known) for known in by_model))
        is_empty = check.outcome == "found" and not kept
        further.append(replace(check, outcome="passed" if is_empty else check.outcome, findings=kept))
    return tuple(further)


def _same_places(one: CheckFinding, other: CheckFinding) -> bool:
    return all(
        a.uri == b.uri and a.start < b.end and b.start < a.end
        for a, b in ((one.draft, other.draft), (one.source, other.source))
    )


def _judged(checks: tuple[AngleCheck, ...], attempt: int, *, switched_off: bool) -> Evaluation:
    findings = [finding for check in checks for finding in check.findings]
    unchecked = [check for check in checks if check.outcome == "not checked"]
    missing = missing_words(unchecked)
    if findings:
        surest = max(finding.confidence for finding in findings)
        found = len(findings)
        reason = ngettext("{n} contradiction found.", "{n} contradictions found.", found).format(n=found)
        return Evaluation("retry" if surest >= SURE and attempt < ATTEMPTS else "ask", reason, surest, checks)
    if unchecked and len(unchecked) == len(checks):
        return Evaluation(
            "approve" if switched_off else "ask", _("Not checked. {why}").format(why=missing), 0.0, checks
        )
    reason = _("No contradiction found.")
    if unchecked:
        reason = _("No contradiction found; not checked: {why}").format(why=missing)
    half = len(unchecked) * 2 >= max(1, len(checks))
    return Evaluation("ask" if half else "approve", reason, 1.0 - len(unchecked) / max(1, len(checks)), checks)
