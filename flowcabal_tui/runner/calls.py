"""One model call for an attempt of a node: its request, its key, and the resulting attempt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import CUT, Finished, ModelRequest
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.prompt_parts import without_copied_escapes
from flowcabal_tui.domain.run import Attempt, Retry
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import PromptParams
from flowcabal_tui.nodes.mending import mended
from flowcabal_tui.runner.continuing import continued, continued_key
from flowcabal_tui.runner.retries import mended_key, retried, stopped_key


@dataclass(frozen=True, slots=True)
class NodeCall:
    """A model call. `request` is the request of the node, `key` its content key, `so_far` the text that the answer
    continues.
    """

    model: ModelPort
    params: PromptParams
    request: ModelRequest
    number: int
    retry: Retry | None = None
    receipt: Receipt | None = None
    key: Digest = Digest("")
    so_far: str = ""

    @property
    def mends(self) -> bool:
        """True when the call asks only for some paragraphs of the previous attempt."""
        return self.retry is not None and bool(self.retry.paragraphs)

    @property
    def retried_request(self) -> ModelRequest:
        """The request with the turns of the retry."""
        return retried(self.request, self.retry)

    @property
    def sent(self) -> ModelRequest:
        """The request as sent, including the text to continue."""
        return continued(self.retried_request, self.so_far) if self.so_far else self.retried_request

    @property
    def full_key(self) -> Digest:
        """The key of the request as sent."""
        return continued_key(self.key, self.so_far) if self.so_far else self.key

    @property
    def given(self) -> dict[str, object]:
        """The log's payload for the start of the attempt."""
        given: dict[str, object] = {}
        if self.retry is not None:
            given = {"feedback": self.retry.feedback, "of": self.retry.attempt.number}
            given |= {"paragraphs": self.retry.paragraphs} if self.mends else {}
        return given | ({"receipt": to_plain(self.receipt)} if self.receipt else {})

    def of_whole(self) -> NodeCall:
        """The same retry, but for the whole text."""
        return replace(self, retry=replace(self.retry, paragraphs=()), key=Digest("")) if self.retry else self

    def completed(self, attempt: Attempt) -> Attempt:
        """The attempt with its receipt, its feedback and the attempt before it."""
        retry = self.retry
        if retry is None:
            return replace(attempt, receipt=self.receipt)
        of, paragraphs = retry.attempt.number, retry.paragraphs
        return replace(attempt, receipt=self.receipt, feedback=retry.feedback, of=of, paragraphs=paragraphs)

    def ended(self, text: str, finished: Finished, seconds: float) -> Attempt:
        """The attempt made from the answer. If the answer has single paragraphs that cannot be placed, the attempt
        keeps `key`.
        """
        key, whole = self.full_key, None
        text = without_copied_escapes(text, "\n".join(each.content for each in self.retried_request.messages))
        if self.retry is not None and self.mends and finished.finish not in CUT:
            whole = mended(self.retry.attempt.text, text, self.retry.paragraphs)
        if whole is not None:
            key, text = mended_key(key), whole
        elif finished.finish == "time" and not self.mends:
            key = stopped_key(key)
        model = finished.model or self.model.endpoint.model
        return Attempt(
            number=self.number,
            text=text,
            digest=digest(text),
            key=key,
            model=model,
            finish=finished.finish,
            usage=finished.usage,
            seconds=seconds,
        )
