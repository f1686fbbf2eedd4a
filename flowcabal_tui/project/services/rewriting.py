"""Rewrites a passage by an instruction or against findings; the result is a proposal, never a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from flowcabal_tui.agents.checking.feedback import finding_lines
from flowcabal_tui.agents.checking.rules.corrections import corrected
from flowcabal_tui.domain.errors import ModelError, ModelFault, RunError, WorkflowError
from flowcabal_tui.domain.ids import CommandId, Generation, OutputId
from flowcabal_tui.domain.model_calls import Answer, Message, ModelRequest
from flowcabal_tui.domain.origin import Rewrite
from flowcabal_tui.domain.prompt_parts import labelled
from flowcabal_tui.domain.prompt_text import chapter_values, fill
from flowcabal_tui.domain.proposals import Finding, Proposal
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite, pieces, with_changes
from flowcabal_tui.domain.run import CheckFinding, Quotation, Quote
from flowcabal_tui.domain.text import clean, clean_line, han_count
from flowcabal_tui.domain.workflow import Blocks, PromptParams, TextBlock, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import output_bound, with_margin
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.project.book.following import AFTER_KEEP, following
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.runs.tally import Calls, Tally
from flowcabal_tui.project.services.surroundings import AROUND, CONTEXT_TOKENS, surrounded
from flowcabal_tui.project.story.edits import place_of
from flowcabal_tui.protocol.book import BookChanged, OutputPersisted, RewriteProposed, RewriteSelection, TakeRewrite
from flowcabal_tui.store.book.edits import NewText
from flowcabal_tui.store.rows.rewrites import accept

REWRITE = "rewrite"
_MEND: Final = {
    False: "Correct these places and leave everything else as it is.",
    True: "改正以上各处，其余一字不动。",
}
"""The instruction after the findings, in English (False) or Chinese (True)."""
_NOTE: Final = 80
"""Characters of the instruction in the note of a version."""


async def rewrite(parts: Parts, command: CommandId, selection: RewriteSelection) -> RewriteProposed:
    """Asks the user's model through the project's `rewrite` template, piece by piece of a long passage.

    If rules can fix all findings of a piece, no model is called for it.

    Each answer is stored at once, so that it is not paid for twice; after a failure, the remaining pieces stay
    unchanged. Raises ModelError, WorkflowError, ChapterLocked, or RunError for an empty request.
    """
    await parts.store.revision.require_unlocked(selection.chapter)
    found = await _findings(parts, selection)
    findings = tuple(each.id for each in found)
    proposed = ProposedRewrite(
        selection.chapter, selection.start, selection.text, "", "", clean(selection.instruction), findings
    )
    texts = [selection.text[start:end] for start, end in pieces(selection.text)]
    for number, piece in enumerate(_pieces(selection, found)):
        if piece is None:
            continue
        if isinstance(piece, str):
            texts[number] = piece
            proposed = replace(proposed, after="".join(texts))
            proposed = replace(proposed, id=await parts.store.rewrites.propose(proposed))
            continue
        try:
            answer = await _answer(parts, piece)
        except ModelError as error:
            if proposed.id:
                parts.base.emit(_proposed(command, proposed))
                error.detail = f"{error.detail} " + _("The part rewritten so far is kept as a proposal.")
            raise
        texts[number] = _fitted(piece.text, clean(answer.text))
        proposed = replace(proposed, after="".join(texts), model=clean(answer.model))
        proposed = replace(proposed, id=await parts.store.rewrites.propose(proposed))
    if not proposed.id:
        raise RunError(_("None of these findings is in the passage."), _("Nothing was sent."))
    return _proposed(command, proposed)


def _proposed(command: CommandId, proposed: ProposedRewrite) -> RewriteProposed:
    end = proposed.start + len(proposed.before)
    place = (proposed.chapter, proposed.start, end, proposed.before, proposed.after)
    return RewriteProposed(command, *place, proposed.model, proposed.instruction, proposed.id)


async def _findings(parts: Parts, selection: RewriteSelection) -> Sequence[Proposal]:
    """The findings to fix. Raises RunError where neither a finding nor an instruction is given."""
    if not selection.findings and not selection.instruction.strip():
        raise RunError(_("How should it be rewritten?"), _("Nothing was sent."), _("Give an instruction or findings."))
    return await parts.store.proposals.get(selection.findings) if selection.findings else ()


def _pieces(selection: RewriteSelection, found: Sequence[Proposal]) -> list[RewriteSelection | str | None]:
    """The request for each piece of the passage, its new text if rules can fix all its findings, or None if it has none
    of the findings."""
    asks: list[RewriteSelection | str | None] = []
    for start, end in pieces(selection.text):
        text = selection.text[start:end]
        here = [each for each in found if each.quotation and each.quotation in text]
        known = None if selection.instruction.strip() else _by_rule(text, here)
        if known is not None:
            asks.append(known)
            continue
        request = "\n\n".join(filter(None, (_feedback(here), clean(selection.instruction))))
        piece = replace(
            selection, start=selection.start + start, end=selection.start + end, text=text, instruction=request
        )
        asks.append(piece if text.strip() and (here or not found) else None)
    return asks


def _by_rule(text: str, found: Sequence[Proposal]) -> str | None:
    """The text with all of these findings fixed by their rules; None if one of them needs a model."""
    after: str | None = text if found else None
    for each in found:
        after = corrected(each.origin.maker, after, each.quotation) if after and each.origin.by == "rule" else None
    return after


def _feedback(found: Sequence[Proposal]) -> str:
    """The findings as feedback for a retry; "" for none."""
    checks = []
    for each in found:
        finding = each.difference.after
        if isinstance(finding, Finding):
            draft = Quotation(each.quotation, "", 0, len(each.quotation))
            checks.append(
                CheckFinding("rules", finding.subtype, finding.explanation, draft, finding.source, finding.confidence)
            )
    notes = finding_lines(checks)
    return f"{notes}\n{_MEND[any(han_count(each.quotation) for each in found)]}" if notes else ""


async def take(parts: Parts, command: TakeRewrite) -> Generation:
    """Writes the accepted paragraphs as one version with the model as author; `RevertChange` undoes it.

    Raises VersionConflict when the passage was changed since, RunError, ChapterLocked; then nothing was changed.
    """
    store = parts.store
    row = await store.rewrites.proposed(command.rewrite)
    changes = row.changes
    chosen = range(len(changes)) if command.changes is None else command.changes
    if row.state != "waiting" or not chosen or not all(0 <= each < len(changes) for each in chosen):
        raise RunError(_("There is nothing to accept in this rewrite."), _("Nothing was changed."))
    if await store.drafts.of(row.chapter) is not None:
        raise RunError(_("The chapter has unsaved text."), _("Nothing was changed."), _("Save it first."))
    chapter, text = await store.book.chapter(row.chapter), await store.book.text(row.chapter)
    start, now = place_of(text, row.before, row.start), parts.base.clock()
    after = with_changes(row.before, changes, chosen)
    accepted = [
        Rewrite(row.chapter, text, start + each.start, start + each.end, each.after, row.model, row.instruction, now)
        for each in (changes[number] for number in chosen)
        if each.after and row.model  # text that a rule corrected is not by a model
    ]
    new = NewText(row.chapter, text[:start] + after + text[start + len(row.before) :], chapter.version)
    wish = clean_line(row.instruction)[:_NOTE]
    note = _("rewritten: {instruction}").format(instruction=wish) if wish else _("rewritten against findings")
    note = note if row.model else _("corrected by a rule")
    generation = await store.edits.write(
        [new], note, following(AFTER_KEEP), lambda connection: accept(connection, accepted, row.id)
    )
    version = (await store.book.chapter(row.chapter)).version
    parts.base.emit(OutputPersisted(OutputId(""), row.chapter, version, True))
    parts.base.emit(BookChanged(row.chapter))
    parts.base.work.wake()
    return generation


async def quote_rewrite(parts: Parts, selection: RewriteSelection) -> Quote:
    """The price of a rewrite. Raises ModelError without a model, WorkflowError."""
    asks = [
        each for each in _pieces(selection, await _findings(parts, selection)) if isinstance(each, RewriteSelection)
    ]
    if not asks:
        return Tally().quote()
    _workflow, params = await _template(parts)
    models, tally = parts.base.models, Tally()
    endpoint = models.booked(params.role).endpoint
    blocks = (*params.system, *params.prompt)
    words = "".join(block.text for block in blocks if isinstance(block, TextBlock))
    context = (params.context_tokens or CONTEXT_TOKENS) if params.context else 0
    counter = models.counter
    for piece in asks:
        around = counter.count(piece.text) * 2 * AROUND // max(1, len(piece.text))
        passage = counter.count(piece.text)
        sent = counter.count(words) + passage + counter.count(piece.instruction) + around
        most = with_margin(counter, sent + context)
        limit = output_bound(endpoint, params.max_tokens, most)
        tries = 1 + endpoint.retries
        likely = Calls(1, sent + context // 2, min(passage, limit))
        tally.call("writing", endpoint, likely, Calls(tries, most, limit, params.max_tokens))
    return tally.quote()


async def _template(parts: Parts) -> tuple[Workflow, PromptParams]:
    workflow = await parts.store.workflows.get(REWRITE)
    _kind, params = kind_and_params(workflow.nodes[0])
    if not isinstance(params, PromptParams):
        raise WorkflowError(_("The first node of {name} is not a prompt.").format(name=workflow.reference))
    return workflow, params


async def _answer(parts: Parts, selection: RewriteSelection) -> Answer:
    """The answer for one piece. Raises ModelError, also for an answer that was cut off."""
    workflow, params = await _template(parts)
    chapter = await parts.store.book.chapter(selection.chapter)
    project = parts.base.settings.project
    values = {
        "input": {"selection": selection.text, "instruction": selection.instruction},
        "chapter": chapter_values(chapter, project.language),
        "project": {"name": project.name, "language": project.language},
    }
    system, prompt = (_text(blocks, values, project.language) for blocks in (params.system, params.prompt))
    system, prompt = await surrounded(parts, workflow, params, selection, system, prompt)
    messages = (*((Message("system", system),) if system else ()), Message("user", prompt))
    request = ModelRequest(messages, "rewrite", params.max_tokens, params.temperature)
    answer = await parts.base.models.booked(params.role).answer(request)
    if answer.finish == "length":
        raise ModelError(
            ModelFault.TRUNCATED,
            _("The model stopped at its length limit: the passage would be cut off."),
            _("Nothing was changed."),
            _("Choose a shorter passage, or raise max_tokens in the workflow {name}.").format(name=workflow.id),
            partial=answer.text,
        )
    return answer


def _fitted(before: str, after: str) -> str:
    """The new passage with the leading and trailing white space of the old one."""
    words = before.strip()
    at = before.index(words) if words else len(before)
    return before[:at] + after.strip() + before[at + len(words) :]


def _text(blocks: Blocks, values: Mapping[str, Any], language: str) -> str:
    texts = (block for block in blocks if isinstance(block, TextBlock))
    return "".join(labelled(each.part, fill(each.text, values, lambda _node: None), language) for each in texts)
