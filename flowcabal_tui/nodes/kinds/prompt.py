"""`prompt`: a call of a language model, checked by the Monitor, and decided by a person in case of doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Final

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Attempt, Decision, Evaluation, Retry
from flowcabal_tui.domain.workflow import Block, InquiryBlock, PromptParams, TextBlock
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Rejected

MODEL_ATTEMPTS: Final = 3
"""The first attempt and two retries with feedback, as in v4. A person may request more."""
MODEL_RETRIES: Final = MODEL_ATTEMPTS
"""Maximum calls of these retries: if an answer with single paragraphs cannot be placed, one further call requests the
whole text, and later retries do not request single paragraphs."""
SHORTENINGS: Final = 3
"""Number of times that a prompt that is too long for the model is shortened."""


class Prompt(NodeKind):
    """Three layers make the prompt: the user's blocks, the Context agent's injection, upstream outputs."""

    name: ClassVar[str] = "prompt"
    params: ClassVar[type[PromptParams]] = PromptParams
    bounded: ClassVar[bool] = True

    def blocks(self, params: PromptParams) -> tuple[Block, ...]:
        return (*params.system, *params.prompt)

    def model_calls(self, params: PromptParams) -> tuple[PromptParams, ...]:
        return (params,)

    def output_schema(self, params: PromptParams) -> dict[str, Any]:
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    def fingerprint(self, context: NodeContext, params: PromptParams) -> Any:
        """None when context is injected: then the key covers the whole prompt, and `run` looks for an outcome."""
        return context.models.identity(params)

    async def run(self, context: NodeContext, params: PromptParams) -> Attempt:
        space: int | None = None
        for tries in range(1, SHORTENINGS + 2):
            request, injection = await self._request(context, params, space)
            if (settled := await context.models.outcome(request, params)) is not None:
                return settled
            try:
                return await self._until_settled(context, params, request, injection)
            except ModelError as error:
                used = injection.receipt.used if injection else 0
                if error.fault is not ModelFault.CONTEXT_LENGTH or not used or tries > SHORTENINGS:
                    raise
                # Where the error named the window, the Context agent knows it now.
                space = None if error.window is not None and space is None else used // 2
        raise AssertionError("unreachable")

    async def _request(
        self, context: NodeContext, params: PromptParams, space: int | None
    ) -> tuple[ModelRequest, Injection | None]:
        """The request, with a context of at most `space` tokens if a larger one was too long for the model."""
        inquiries = [block.question for block in self.blocks(params) if isinstance(block, InquiryBlock)]
        unanswered = [(question, "") for question in inquiries]
        fitting = _filled(context, params)
        if space is not None:
            fitting = fitting.model_copy(update={"context_tokens": space})
        injection = await context.models.inject(fitting, context.resolve(params.prompt, unanswered), inquiries)
        if injection and space is not None:
            words = _("The prompt was too long for the model: the context was shortened to {n} tokens.")
            notes = (*injection.receipt.notes, words.format(n=f"{space:,}"))
            injection = replace(injection, receipt=replace(injection.receipt, notes=notes))
        answers = injection.inquiries if injection else ()
        system, prompt = context.resolve(params.system, answers), context.resolve(params.prompt, answers)
        message = Message("user", prompt)
        if injection:
            prompt = injection.applied_to(prompt)
            system = "\n".join(part for part in (injection.system_prefix, system) if part)
            message = context.placed(prompt, injection)
        request = ModelRequest(
            messages=(*((Message("system", system),) if system else ()), message),
            purpose=f"node:{context.node.id}",
            max_tokens=params.max_tokens,
            temperature=params.temperature,
            parameters=params.sampling,
        )
        return request, injection

    async def _until_settled(
        self, context: NodeContext, params: PromptParams, request: ModelRequest, injection: Injection | None
    ) -> Attempt:
        attempts: list[Attempt] = []
        evaluations: dict[int, Evaluation | None] = {}
        retry: Retry | None = None
        tries_left, mends = MODEL_ATTEMPTS, True
        while True:
            number = len(attempts) + 1
            attempt = await context.models.generate(request, params, injection, number=number, retry=retry)
            attempts.append(attempt)
            mends = mends and not (retry and retry.paragraphs and not attempt.paragraphs)
            evaluation = evaluations[number] = await context.models.evaluate(params, attempt)
            tries_left -= 1
            if evaluation and evaluation.verdict == "retry" and tries_left > 0:
                retry = context.models.retry(attempt, evaluation, mend=mends)
                continue
            doubt = await context.models.doubt(_filled(context, params), injection, attempt)
            if (reason := _why_ask(params, attempt, evaluation, doubt)) is None:
                return await context.models.settle(request, params, attempt)
            decision = await context.ask("review", reason, attempts=attempts, required=params.review == "always")
            match decision.kind:
                case "approve":
                    return await context.models.settle(request, params, _chosen(attempts, decision))
                case "edit":
                    edited = await context.edited(decision.text, number + 1)
                    return await context.models.settle(request, params, edited)
                case "retry" | "mend":
                    shown = _chosen(attempts, decision)
                    judged = evaluations.get(shown.number)
                    retry = context.models.retry(shown, judged, decision.note, mend=decision.kind == "mend")
                case "reject":
                    raise Rejected


def _filled(context: NodeContext, params: PromptParams) -> PromptParams:
    """The params with the system's text blocks filled in as they are sent; they may contain pages of the book."""
    system = (
        TextBlock(text=context.resolve((each,))) if isinstance(each, TextBlock) else each for each in params.system
    )
    return params.model_copy(update={"system": tuple(system)})


def _chosen(attempts: list[Attempt], decision: Decision) -> Attempt:
    return next((attempt for attempt in attempts if attempt.number == decision.attempt), attempts[-1])


def cut_words(attempt: Attempt) -> str:
    """Why the text may be incomplete; "" when the model ended it."""
    match attempt.finish:
        case "length":
            return _("The model stopped at its length limit: the text may be cut off.")
        case "time":
            return _(
                "The model was stopped at its time limit: the text may be cut off. Raise answer_timeout if it is slow."
            )
    return ""


def _why_ask(params: PromptParams, attempt: Attempt, evaluation: Evaluation | None, doubt: str) -> str | None:
    """The reason why the writer must see this attempt; None if there is none."""
    if cut := cut_words(attempt):
        return cut
    if doubt:
        return doubt
    if evaluation and evaluation.verdict != "approve" and params.review != "never":
        return evaluation.reason
    if params.review == "always":
        return _("This step always waits for your approval.")
    return None


KIND = Prompt()
