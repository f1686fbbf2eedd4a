"""A passage rewritten with an instruction: a proposal, never a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flowcabal_tui.domain.errors import ModelError, ModelFault, WorkflowError
from flowcabal_tui.domain.ids import CommandId
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.prompt_parts import labelled
from flowcabal_tui.domain.prompt_text import chapter_values, fill
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Blocks, PromptParams, TextBlock
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.project.services.surroundings import surrounded
from flowcabal_tui.protocol.book import RewriteProposed, RewriteSelection

if TYPE_CHECKING:
    from flowcabal_tui.project.parts import Parts

REWRITE = "rewrite"


async def rewrite(parts: Parts, command: CommandId, asked: RewriteSelection) -> RewriteProposed:
    """Asks the user's model through the project's `rewrite` template. Raises ModelError or WorkflowError."""
    workflow = await parts.store.workflows.get(REWRITE)
    chapter = await parts.store.book.chapter(asked.chapter)
    project = parts.base.settings.project
    values = {
        "input": {"selection": asked.text, "instruction": asked.instruction},
        "chapter": chapter_values(chapter, project.language),
        "project": {"name": project.name, "language": project.language},
    }
    _kind, params = kind_and_params(workflow.nodes[0])
    if not isinstance(params, PromptParams):
        raise WorkflowError(_("The first node of {name} is not a prompt.").format(name=workflow.reference))
    system, prompt = (_text(blocks, values, project.language) for blocks in (params.system, params.prompt))
    system, prompt = await surrounded(parts, workflow, params, asked, system, prompt)
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
    after = _fitted(asked.text, clean(answer.text))
    wish = clean(asked.instruction)
    return RewriteProposed(command, asked.chapter, asked.start, asked.end, asked.text, after, clean(answer.model), wish)


def _fitted(before: str, after: str) -> str:
    """The new passage between the white space, such as a line break, that the old one began and ended with."""
    words = before.strip()
    at = before.index(words) if words else len(before)
    return before[:at] + after.strip() + before[at + len(words) :]


def _text(blocks: Blocks, values: Mapping[str, Any], language: str) -> str:
    texts = (block for block in blocks if isinstance(block, TextBlock))
    return "".join(labelled(each.part, fill(each.text, values, lambda _node: None), language) for each in texts)
