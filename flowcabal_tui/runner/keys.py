"""Content keys: equal inputs have equal keys, so nothing is paid for twice.

A key covers the kind and its version, the resolved prompt (which holds the injected context and the
upstream outputs), the model, the parameters that change the text, and the sample's index. Time, attempt
numbers, concurrency and display names stay out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.endpoints import Endpoint, sent_parameters
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.text import digest, digest_of
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.plan import PlannedNode
from flowcabal_tui.runner.scope import Frame


def request_key(kind: NodeKind, request: ModelRequest, endpoint: Endpoint, among: int = 0) -> Digest:
    """The key of a request, independent of the sample; `among` distinguishes equal requests of one workflow."""
    key = digest_of(
        [
            kind.name,
            kind.version,
            endpoint.identity,
            endpoint.temperature if request.temperature is None else request.temperature,
            request.max_tokens or endpoint.max_output,
            [[name, value] for name, value in sent_parameters(endpoint, request)],
            [[message.role, message.content] for message in request.messages],
        ]
    )
    return digest_of([key, "among", among]) if among else key


def sample_key(request: Digest, sample: int) -> Digest:
    """The key of the n-th sample (from 0) of a request."""
    return digest_of([request, sample])


def outcome_key(request: Digest, params: PromptParams) -> Digest:
    """The key under which a request's accepted output is remembered; the rules that accept it are part of the key."""
    return digest_of([request, "outcome", params.review, sorted(params.angles)])


def with_feedback(request: ModelRequest, feedback: str) -> ModelRequest:
    """The request extended by the feedback on the previous attempt."""
    if not feedback:
        return request
    *others, last = request.messages
    text = f"{last.content}\n\n<feedback>\n{feedback}\n</feedback>"
    return replace(request, messages=(*others, Message(last.role, text)))


def node_key(frame: Frame, step: PlannedNode, fingerprint: Any) -> Digest:
    """The key of a node from digests alone: no text is read.

    It covers kind, version and parameters, the joins of blocks, the outputs that it reads, in declared order, all other
    values that bindings can name, the state if it is named, and the fingerprint of the kind.
    """
    outputs = frame.outputs
    inputs = [
        output.digest if (output := outputs.get(source) or frame.output(source)) else ""
        for source in (*step.needs, *step.outer)
    ]
    state = digest_of(frame.state.view(prompt=True)) if step.reads_state else ""
    fingerprinted = digest_of(fingerprint) if fingerprint else ""
    workflow = frame.workflow
    joined = [f"join:{workflow.skip_empty}:{workflow.join}"] if workflow.join or workflow.skip_empty else []
    return digest("\0".join((step.digest, frame.digest, state, fingerprinted, *joined, *inputs)))
