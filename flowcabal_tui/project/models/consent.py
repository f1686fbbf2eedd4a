"""Permission to send texts of a project to an embedding model: asked once, answered by the user of this machine.

The cost of vectors follows the rule for all background work (`memory_gate.py`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.locale import _
from flowcabal_tui.project.words import money
from flowcabal_tui.settings import paths
from flowcabal_tui.system.files import write_whole

FOLDER: Final = "embeddings"
"""In the user's state folder: the answer is the user's, and a copied project brings none along."""
Answer = Literal["yes", "no"]


class EmbeddingsNotAgreed(RunError):
    """Texts would be sent to an embedding model without permission."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class EmbeddingQuote:
    """The estimated price of indexing the book: texts, tokens, and their cost (None: the price is not known)."""

    embedder: str
    texts: int
    tokens: int
    cost: Decimal | None
    currency: str = ""

    @property
    def words(self) -> str:
        """The quote in words, one sentence per line."""
        price = _("price unknown")
        if self.cost is not None:
            price = _("about {sum}").format(sum=money(self.cost, self.currency))
        return "\n".join(
            (
                _("To search by meaning, the texts of the book are sent to {model}.").format(model=self.embedder),
                _("About {texts:,} texts, {tokens:,} tokens, {price}.").format(
                    texts=self.texts, tokens=self.tokens, price=price
                ),
                _("Later, only new texts are sent, by your rule for background work."),
                _("If you say no, search uses words only and nothing is sent."),
            )
        )


class EmbeddingConsent:
    """The answer for one project at one place, with one embedder. Raises OSError when it cannot be written."""

    def __init__(self, project: str, folder: Path) -> None:
        self._file = paths.state_folder() / FOLDER / f"{digest_of([project, str(folder.resolve())])[:24]}.json"
        self._folder = folder

    def answer(self, embedder: str) -> Answer | None:
        """The stored answer for this embedder; None when there is none, or one for another embedder."""
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        given = known.get("answer") if isinstance(known, dict) and known.get("embedder") == embedder else None
        return given if given in ("yes", "no") else None

    def put(self, embedder: str, answer: Answer) -> None:
        """Stores an answer."""
        text = json.dumps({"folder": str(self._folder), "embedder": embedder, "answer": answer}, ensure_ascii=False)
        write_whole(self._file, f"{text}\n".encode())


def not_agreed(embedder: str) -> EmbeddingsNotAgreed:
    """The error raised instead of sending."""
    return EmbeddingsNotAgreed(
        _("Texts for search by meaning are waiting for your answer."),
        _("They would be sent to {model}. Nothing was sent.").format(model=embedder),
        _("Answer on the screen with R, or on the command line with --embeddings yes or no."),
    )
