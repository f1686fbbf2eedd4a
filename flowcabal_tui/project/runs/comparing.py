"""Comparisons of candidates: shown without their origin, decided by the writer, reopened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flowcabal_tui.agents.comparing.alignment import beats_in, missing_beats, rows_of
from flowcabal_tui.agents.comparing.sources import paragraph_sources
from flowcabal_tui.domain.comparison import (
    FEWEST,
    LETTERS,
    Candidate,
    Comparison,
    ComparisonId,
    ComparisonSummary,
    ComparisonTarget,
    SiftMark,
    Taken,
    Verdict,
    comparison_id,
    in_order,
    results,
)
from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.run import AngleCheck, Decision, DecisionKind
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.domain.versions import CurrentOutput
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs.candidate_sources import CandidateSources, Source, TargetSources, checks_by_candidate
from flowcabal_tui.project.runs.manager import RunManager
from flowcabal_tui.project.runs.versions import OutputVersions, containers
from flowcabal_tui.project.words import check_words
from flowcabal_tui.protocol.comparisons import ComparisonChanged, DecideComparison
from flowcabal_tui.store.file.connection import Work
from flowcabal_tui.store.runs.comparisons import StoredPart
from flowcabal_tui.store.runs.current_outputs import Mark, OutputChange, forgetting_outcomes


class Comparisons:
    """Makes and decides comparisons. Lives on the engine's loop."""

    def __init__(
        self, base: ProjectBase, sources: CandidateSources, versions: OutputVersions, manager: RunManager
    ) -> None:
        self._store, self._emit = base.store, base.emit
        self.sources, self._versions, self._manager = sources, versions, manager

    async def comparison(self, target: ComparisonTarget) -> Comparison:
        """The candidates in display order, with hidden origin. Raises RunError for fewer than two."""
        return await self.shown(await self.sources.of(target))

    async def shown(self, sources: TargetSources) -> Comparison:
        """The comparison of sources that are already read."""
        identity = comparison_id(sources.target, sources.digests)
        row = await self._store.comparisons.begin(identity, sources.target, sources.title, sources.digests)
        verdict = None if sources.is_waiting else row.verdict
        plan = await self.sources.plan(sources)
        beats = beats_in(plan)
        found = checks_by_candidate(sources.candidates, await self._store.comparisons.checks(identity))
        by_name, order = {each.digest: each for each in sources.candidates}, in_order(row.seed, sources.digests)
        candidates = [
            Candidate(
                name,
                by_name[name].text,
                await self.sources.maker(sources, by_name[name]) if verdict else None,
                _marks(beats, by_name[name], found[name], order),
                tuple(check.angle for check in found[name] if check.outcome != "not checked"),
                tuple(check_words(check) for check in found[name] if check.outcome == "not checked"),
            )
            for name in order
        ]
        rows = rows_of(beats, [each.text for each in candidates])
        return Comparison(
            identity,
            sources.target,
            sources.title,
            row.seed,
            tuple(candidates),
            rows,
            verdict,
            sources.is_waiting,
            await self._can_grow(sources),
        )

    async def _can_grow(self, sources: TargetSources) -> bool:
        node = sources.target.node
        if "/" in node:
            return False
        return sources.question is not None or await self.sources.prompt(sources.run, node) is not None

    async def find(self, identity: ComparisonId) -> ComparisonTarget:
        """The target of a comparison that was opened before. Raises UnknownName."""
        row = await self._store.comparisons.get(identity)
        if row is None:
            known = [each.summary.id for each in await self._store.comparisons.all()]
            raise UnknownName(
                _("There is no comparison {name}.").format(name=identity),
                _("Available: {names}").format(names=_(", ").join(known[:20]) or _("none")),
            )
        return row.summary.target

    async def summaries(self, workflow: str = "", node: NodeId | None = None) -> tuple[ComparisonSummary, ...]:
        """Waiting questions with candidates first, then comparisons that were opened, the newest first."""
        waiting = []
        for question in await self._store.runs.open_questions():
            texts = {choice.text for choice in question.choices if choice.text}
            if question.kind == "choice" and len(texts) >= FEWEST:
                sources = await self.sources.of(ComparisonTarget(question.id))
                identity = comparison_id(sources.target, sources.digests)
                waiting.append(
                    ComparisonSummary(
                        identity,
                        sources.target,
                        sources.title,
                        len(sources.digests),
                        "open",
                        "",
                        question.asked_at,
                    )
                )
        known = {each.id for each in waiting}
        rows = [row.summary for row in await self._store.comparisons.all() if row.summary.id not in known]
        return tuple(
            each
            for each in (*waiting, *rows)
            if (not workflow or each.target.workflow == workflow) and (node is None or each.target.node == node)
        )

    # the writer's word

    async def decide(self, command: DecideComparison) -> ComparisonId:
        """Stores the decision and carries it out in one transaction. Raises RunError; then nothing was changed."""
        sources = await self.sources.of(command.target)
        verdict = _checked(command.verdict, sources)
        identity = comparison_id(sources.target, sources.digests)
        row = await self._store.comparisons.begin(identity, sources.target, sources.title, sources.digests)
        text = verdict.text if verdict.kind == "composed" else ""
        if verdict.picks and not text:
            text = sources.candidate(verdict.picks[0]).text
        if sources.question is not None and not sources.is_waiting:
            await self._require_last_round(sources)
        before = await self._current(sources.target)
        again = row.verdict is not None and before is not None and await self._text_digest(before) == row.after
        kept = row.before if again else before.digest if before else Digest("")
        parts = await self._parts(sources, verdict, text, command.taken)
        used = tuple(dict.fromkeys(part.candidate for part in parts))
        outcomes = results(sources.digests, verdict, used)
        makers = {each.digest: await self.sources.maker(sources, each) for each in sources.candidates}
        after = digest(text) if text else Digest("")
        word = self._store.comparisons.deciding(
            identity,
            replace(verdict, text=""),
            kept,
            after,
            {name: (result, makers[name]) for name, result in outcomes.items()},
            parts,
        )
        await self._carry_out(sources, verdict, text, word)
        self._emit(ComparisonChanged(identity))
        return identity

    async def _parts(
        self, sources: TargetSources, verdict: Verdict, text: str, taken: Sequence[Taken]
    ) -> list[StoredPart]:
        texts = {each.digest: each.text for each in sources.candidates}
        if verdict.kind != "composed":
            texts = {name: texts[name] for name in verdict.picks[:1]}
        makers = {name: await self.sources.maker(sources, sources.candidate(name)) for name in texts}
        return [
            StoredPart(
                each.paragraph, each.taken.candidate, each.taken.paragraph, each.changed, makers[each.taken.candidate]
            )
            for each in paragraph_sources(text, texts, taken)
            if each is not None
        ]

    async def _carry_out(self, sources: TargetSources, verdict: Verdict, text: str, word: Work) -> None:
        target = sources.target
        if sources.is_waiting:
            kinds: dict[str, DecisionKind] = {"none": "reject", "composed": "edit"}
            number = sources.candidate(verdict.picks[0]).number if verdict.picks else 0
            answer = Decision(
                kinds.get(verdict.kind, "choose"), number, text=text if verdict.kind == "composed" else ""
            )
            await self._manager.decide(target.question, answer, word)
        elif verdict.kind == "none":
            await self._store.current_outputs.write(target.workflow, {}, word)
        elif sources.question is not None:
            await self._write_again(sources, text, word)
        elif verdict.kind == "composed":
            output = Output(clean(text))
            await self._versions.write(target.workflow, target.node, target.chapter, output, beside=(word,))
        else:
            pick = verdict.picks[0]
            await self._versions.select(target.workflow, target.node, target.chapter, pick, beside=(word,))

    async def _write_again(self, sources: TargetSources, text: str, word: Work) -> None:
        """Another choice after the question was answered: the output of the step with another pick."""
        target, current = sources.target, await self._current(sources.target)
        value: dict[str, Any] = {"round": _round(sources), "lineage": []}
        if current is not None and current.form == "json":
            value = dict(Output(await self._store.journal.text(current.digest), "json").value)
        lines = [
            {**line, "picked": line.get("digest") == digest(text)} if line.get("round") == value["round"] else line
            for line in value.get("lineage", ())
            if isinstance(line, dict)
        ]
        output = Output.of({**value, "text": text, "lineage": lines})
        await self._versions.write(target.workflow, target.node, target.chapter, output, beside=(word,))

    async def _require_last_round(self, sources: TargetSources) -> None:
        current = await self._current(sources.target)
        if current is None or current.form != "json":
            return
        value = Output(await self._store.journal.text(current.digest), "json").value
        if isinstance(value, dict) and value.get("round", 0) > _round(sources):
            raise RunError(
                _("A later round builds on this choice."),
                _("Nothing was changed."),
                _("Compare the candidates of the last round, or run the step again."),
            )

    async def _current(self, target: ComparisonTarget) -> CurrentOutput | None:
        return (await self._store.current_outputs.all(target.workflow, target.chapter)).get(target.node)

    async def _text_digest(self, output: CurrentOutput) -> Digest:
        """The digest of an output's text for people."""
        if output.form == "text":
            return output.digest
        return digest(Output(await self._store.journal.text(output.digest), output.form).text)

    async def take_back(self, identity: ComparisonId) -> None:
        """Reopens a comparison. Raises RunError if nothing is decided, or if another text was chosen since."""
        target = await self.find(identity)
        row = await self._store.comparisons.get(identity)
        if row is None or row.verdict is None:
            raise RunError(_("No choice was made there."), _("Nothing was changed."))
        current = await self._current(target)
        if row.after and current is not None and await self._text_digest(current) not in (row.after, row.before):
            raise RunError(_("Another text has been chosen for the step since."), _("Nothing was changed."))
        parts = [self._store.comparisons.taking_back(identity)]
        if target.question:
            parts.append(await self._forgetting_answer(target))
        if row.before and row.after and current is not None and current.digest != row.before:
            await self._versions.select(target.workflow, target.node, target.chapter, row.before, beside=parts)
        else:
            own: tuple[Mark, ...] = ()
            if not row.before and current is not None:
                own = ((target.node, target.node, "output"),)
            await self._store.current_outputs.write(target.workflow, {target.chapter: OutputChange(marks=own)}, *parts)
        self._emit(ComparisonChanged(identity))

    async def _forgetting_answer(self, target: ComparisonTarget) -> Work:
        """Cancels the run that continues with the answer, and starts one that asks again with the same candidates."""
        question = await self._store.runs.question(target.question)
        if await self._manager.goes_on(question.run):
            await self._manager.cancel(question.run, None)
        history = await self._store.journal.history(question.run)
        payloads = [each.payload for each in history if each.kind == "asked"]
        keys = {Digest(each["under"]) for each in payloads if each["question"]["id"] == question.id and "under" in each}
        for path in (*containers(target.node), target.node):
            keys |= await self._store.versions.keys(target.workflow, target.chapter, path, None)
        return forgetting_outcomes(keys)


def _checked(verdict: Verdict, sources: TargetSources) -> Verdict:
    """The verdict as it is kept. Raises RunError for one that names no candidate or says nothing."""
    picks = tuple(dict.fromkeys(verdict.picks))
    for name in picks:
        sources.candidate(name)
    text = clean(verdict.text)
    wanted = {"chosen": len(picks) == 1, "tie": len(picks) > 1, "none": not picks, "composed": bool(text.strip())}
    if not wanted[verdict.kind]:
        words = {
            "chosen": _("Choose one candidate."),
            "tie": _("A tie needs at least two candidates."),
            "none": _("Do not name a candidate when none is good enough."),
            "composed": _("The composed text is empty."),
        }
        raise RunError(words[verdict.kind], _("Nothing was changed."))
    return Verdict(verdict.kind, picks, text if verdict.kind == "composed" else "")


def _round(sources: TargetSources) -> int:
    """The round of an evolution to which a question belongs, by the path of its candidates."""
    prefix = f"{sources.target.node}/"
    rounds = [
        int(part)
        for each in sources.candidates
        if each.node.startswith(prefix) and (part := each.node.removeprefix(prefix).split("/")[0]).isdecimal()
    ]
    return max(rounds, default=1)


def _marks(
    beats: Sequence[str], source: Source, checks: Sequence[AngleCheck], order: Sequence[Digest]
) -> tuple[SiftMark, ...]:
    found = [SiftMark("contradiction", each.explanation, each) for check in checks for each in check.findings]
    words = _("No words of this beat of the plan were found: {beat}")
    missing = [SiftMark("beat", words.format(beat=beats[n])) for n in missing_beats(beats, source.text)]
    own = [SiftMark("sifted", source.note)] if source.note else []
    if source.like in order:
        letter = LETTERS[order.index(source.like)]
        own.append(SiftMark("sifted", _("almost identical to {letter}").format(letter=letter)))
    return (*own, *found, *missing)
