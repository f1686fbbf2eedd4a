"""Content keys: equal inputs have equal keys, so nothing is paid for twice.

A key covers the kind and its version, the resolved prompt (which holds the injected context and the
upstream outputs), the model, the parameters that change the text, and the sample's index. Time, attempt
numbers, concurrency and display names stay out.
"""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Endpoint, Message, ModelRequest
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.nodes.base import NodeKind


def request_key(kind: NodeKind, request: ModelRequest, endpoint: Endpoint) -> Digest:
    """The key of a request, whatever the sample."""
    return digest_of(
        [
            kind.name,
            kind.version,
            endpoint.identity,
            endpoint.temperature if request.temperature is None else request.temperature,
            request.max_tokens or endpoint.max_output,
            [[name, value] for name, value in request.parameters],
            [[message.role, message.content] for message in request.messages],
        ]
    )


def sample_key(request: Digest, sample: int) -> Digest:
    """The key of the n-th sample (from 0) of a request."""
    return digest_of([request, sample])


def outcome_key(request: Digest, params: PromptParams) -> Digest:
    """Under which the output that stood for a request is remembered; the rules that let it stand are part of it."""
    return digest_of([request, "outcome", params.review, sorted(params.angles)])


def with_feedback(request: ModelRequest, feedback: str) -> ModelRequest:
    """The same request with what was wrong with the attempt before it."""
    if not feedback:
        return request
    *others, last = request.messages
    told = f"{last.content}\n\n<feedback>\n{feedback}\n</feedback>"
    return replace(request, messages=(*others, Message(last.role, told)))
