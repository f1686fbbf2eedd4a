"""Retries: the request contains the previous attempt as the model's turn, followed by the feedback on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import CUT, Message, ModelRequest
from flowcabal_tui.domain.prompt_parts import fenced
from flowcabal_tui.domain.run import Attempt, Evaluation, Retry
from flowcabal_tui.domain.text import digest_of, han_count
from flowcabal_tui.nodes.mending import any_paragraph, concerned, paragraphs

_BEGINNING: Final = 24
"""Characters quoted from a paragraph to identify it for the model."""
_CUT: Final = (
    "上面的文字达到篇幅上限，没有写完。",
    "Your text reached the limit of its length before it was finished.",
)
_STOPPED: Final = (
    "上面的文字没有写完就停止了。",
    "Your text was stopped before it was finished.",
)
_WHOLE: Final = (
    "请据此重写全文：消除上述问题，其余内容、次序、篇幅与措辞保持不变。只输出全文，不要解释。",
    "Write the whole text again with these problems corrected. Keep everything else as it is: events, order, length "
    "and wording. Answer with the text only.",
)
_SHORTER: Final = (
    "请重写全文，压缩篇幅，务必写到结尾，并消除上述其他问题。只输出全文，不要解释。",
    "Write the whole text again, short enough to be finished, with any other problem above corrected. Answer with the "
    "text only.",
)
_MEND: Final = (
    "只有下列段落可以改动：",
    "Only these paragraphs of your text may change:",
)
_FORM: Final = (
    "只输出需要改动的段落，每段写全，按下面的格式，不要输出其他内容：",
    "Answer only with the paragraphs that have to change, each one complete, in this form:",
)
_NEW: Final = ("改好的段落", "the new paragraph")


def retry_of(
    attempt: Attempt, evaluation: Evaluation | None, found: str, note: str, *, mend: bool = False
) -> Retry | None:
    """The feedback for a further attempt; None when there is none, so that the attempt is a new sample.

    `found` are the findings of a check in words. With `mend`, only some paragraphs may change if that suffices: those
    that the findings quote, or any of them for a note.
    """
    note = note.strip()
    cut = attempt.finish in CUT
    why = _words(_STOPPED if attempt.finish == "time" else _CUT, attempt.text) if cut else ""
    feedback = "\n\n".join(filter(None, (why, found, note)))
    if not feedback:
        return None
    if not mend or cut:
        return Retry(attempt, feedback)
    return Retry(attempt, feedback, any_paragraph(attempt.text) if note else _quoted(attempt, evaluation))


def _quoted(attempt: Attempt, evaluation: Evaluation | None) -> tuple[int, ...]:
    return concerned(attempt.text, evaluation.findings) if evaluation else ()


def retried(request: ModelRequest, retry: Retry | None) -> ModelRequest:
    """The request with the attempt as the model's turn, ending in the instruction to rewrite it or to fix paragraphs of
    it.
    """
    if retry is None:
        return request
    text = retry.attempt.text
    parts = [fenced("feedback", retry.feedback, "zh" if is_chinese(text) else "en")]
    whole = _words(_SHORTER if retry.attempt.finish in CUT else _WHOLE, text)
    parts.append(_mend(text, retry.paragraphs) if retry.paragraphs else whole)
    turns = Message("assistant", text), Message("user", "\n\n".join(parts))
    return replace(request, messages=(*request.messages, *turns))


def _mend(text: str, numbers: tuple[int, ...]) -> str:
    """The instruction to change single paragraphs: each by its number and first words, then the form of the answer."""
    old = paragraphs(text)
    listed = [f"{n}. “{old[n - 1].strip()[:_BEGINNING]}…”" for n in numbers]
    form = f'<paragraph n="{numbers[0]}">\n{_words(_NEW, text)}\n</paragraph>'
    return "\n".join((_words(_MEND, text), *listed, "", _words(_FORM, text), form))


def mended_key(answer: Digest) -> Digest:
    """The key of a text made by inserting the answer stored under the given key."""
    return digest_of([answer, "mended"])


def stopped_key(answer: Digest) -> Digest:
    """The key of a text that was stopped at its time limit; a new run asks for the answer again."""
    return digest_of([answer, "stopped"])


def is_chinese(text: str) -> bool:
    """True when most of the text is written in Chinese."""
    return han_count(text) * 2 > len(text.strip())


def _words(both: tuple[str, str], text: str) -> str:
    chinese, english = both
    return chinese if is_chinese(text) else english
