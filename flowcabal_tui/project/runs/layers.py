"""Divides a request into layers: the text of the blocks, the context, and the additions of a retry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.model_calls import ModelRequest, SentRequest
from flowcabal_tui.domain.versions import SentLayer, VersionTrace
from flowcabal_tui.domain.workflow import Block, Blocks, InquiryBlock, PromptParams, TextBlock
from flowcabal_tui.locale import _
from flowcabal_tui.models.registry import sent_messages


def layers_of(
    first: ModelRequest, request: ModelRequest, params: PromptParams, injection: Injection | None
) -> tuple[SentLayer, ...]:
    """The layers of `request` in the order of its text; `first` is the request before any retry."""
    layers: list[SentLayer] = []
    for number, message in enumerate(request.messages):
        base = first.messages[number] if number < len(first.messages) else None
        own = base.content if base and base.role == message.role and message.content.startswith(base.content) else ""
        template = template_text(params.system if message.role == "system" else params.prompt)
        layers += _parts(number + 1, message.role, own, template, injection)
        if rest := message.content[len(own) :]:
            layers.append(SentLayer(number + 1, message.role, "retry", "", rest))
    return tuple(layers)


def _parts(turn: int, role: str, text: str, template: str, injection: Injection | None) -> Iterator[SentLayer]:
    """The text of the blocks and the Context agent's additions, in the order of the prompt."""
    put_in = (injection.system_prefix, injection.user_suffix) if injection else ()
    found = sorted((text.find(part), part) for part in put_in if part and part in text)
    at = 0
    for start, part in found:
        if start >= at:
            if text[at:start].strip():
                yield SentLayer(turn, role, "blocks", template, text[at:start])
            yield SentLayer(turn, role, "context", "", part)
            at = start + len(part)
    if text[at:].strip():
        yield SentLayer(turn, role, "blocks", template, text[at:])


def template_text(blocks: Blocks) -> str:
    """The blocks of a prompt as the writer sees them."""
    return "\n".join(map(_words, blocks))


def _words(block: Block) -> str:
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, InquiryBlock):
        return _("[asks] {question}").format(question=block.question)
    words = _("[frozen output of {node}]") if block.frozen is not None else _("[output of {node}]")
    return words.format(node=block.node)


def kept_trace(kept: SentRequest, made_again: VersionTrace | None) -> VersionTrace:
    """The messages of a stored request, each with its template if it is known."""
    templates: dict[str, str] = {}
    for layer in made_again.layers if made_again else ():
        if layer.template:
            templates.setdefault(layer.role, layer.template)
    messages = sent_messages(kept.body)
    users = [number for number, message in enumerate(messages) if message.role != "system"]
    layers = tuple(
        SentLayer(
            number + 1,
            message.role,
            "blocks" if message.role == "system" or number == users[0] else "retry",
            templates.get(message.role, "") if message.role == "system" or number == users[0] else "",
            message.content,
        )
        for number, message in enumerate(messages)
    )
    trace = made_again or VersionTrace((), False)
    return replace(trace, messages=messages, exact=False, layers=layers, kept=True)
