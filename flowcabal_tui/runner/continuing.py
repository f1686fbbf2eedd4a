"""Continues a text that was cut off: the request, its key, and the seam between the two parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.text import digest, digest_of, han_count

_TAIL: Final = 120
"""Characters of the end that the instruction repeats, and within which a repetition is searched for."""
_REPEATED: Final = 6
"""Characters from which the beginning of a continuation counts as a repetition of the end before it."""
_WISH: Final = (
    "Your text was cut off. Continue it exactly from where it stops, in the middle of a sentence if need be. Repeat "
    "nothing, explain nothing, and write only what follows. It ends with:\n"
)
_WISH_ZH: Final = (
    "你的文字中断了。请从中断处接着往下写，哪怕是在句子中间；不要重复已写的内容，不要解释，只写后续文字。"
    "中断处的末尾是：\n"
)


def continued(request: ModelRequest, so_far: str) -> ModelRequest:
    """The request with the text so far as the model's turn, and an instruction to continue from its end.

    Some models of either wire format refuse a request that ends in the model's turn (a prefill), so the user's turn is
    last.
    """
    wish = (_WISH_ZH if han_count(so_far) else _WISH) + so_far[-_TAIL:]
    return replace(request, messages=(*request.messages, Message("assistant", so_far), Message("user", wish)))


def continued_key(key: Digest, so_far: str) -> Digest:
    """The key of a continued text, different from the key of a text written in one go."""
    return digest_of([key, "continued", digest(so_far)])


class ContinuationSeam:
    """Passes on a continuation, without the words that repeat the end of the text before it."""

    def __init__(self, before: str) -> None:
        self._tail = before[-_TAIL:]
        self._pending = ""

    def take(self, piece: str) -> str:
        """Returns the text that can be passed on; holds back a beginning that may be a repetition until that is
        decided.
        """
        if not self._tail:
            return piece
        self._pending += piece
        return "" if self._pending in self._tail else self.end()

    def end(self) -> str:
        """Returns the text that was held back, once the stream has ended."""
        tail, pending = self._tail, self._pending
        self._tail = self._pending = ""
        most = min(len(tail), len(pending))
        repeated = next((n for n in range(most, _REPEATED - 1, -1) if tail.endswith(pending[:n])), 0)
        return pending[repeated:]
