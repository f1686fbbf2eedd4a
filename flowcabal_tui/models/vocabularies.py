"""Counts tokens by a model's own vocabulary (`tiktoken`), if its file is on disk. Nothing is fetched automatically.

Addresses, digests and patterns are those of `tiktoken_ext.openai_public` (tiktoken, MIT). The ranks are read here,
because that module downloads a missing file.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.settings.paths import data_folder
from flowcabal_tui.system.files import write_whole

if TYPE_CHECKING:
    from tiktoken import Encoding

HOST: Final = "openaipublic.blob.core.windows.net"
FETCH_SECONDS: Final = 120.0
LARGEST: Final = 16 * 2**20
_FOLDER: Final = "vocabularies"
_O200K: Final = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_CL100K: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary by name: its address, the digest of its file, and the pattern that splits a text before it."""

    name: str
    digest: str
    pattern: str
    megabytes: float = 0.0

    @property
    def url(self) -> str:
        return f"https://{HOST}/encodings/{self.name}.tiktoken"

    @property
    def file(self) -> Path:
        """The path of its file, which may not exist."""
        return data_folder() / _FOLDER / f"{self.name}.tiktoken"


KNOWN: Final[Mapping[str, Vocabulary]] = {
    each.name: each
    for each in (
        Vocabulary("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", _O200K, 3.6),
        Vocabulary("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", _CL100K, 1.7),
    )
}
_MODELS: Final = (
    (re.compile(r"(?:^|/)(?:chatgpt-4o|gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|o[134](?:-|$))", re.IGNORECASE), "o200k_base"),
    (re.compile(r"(?:^|/)(?:gpt-4(?:-|$)|gpt-3\.5|gpt-35)", re.IGNORECASE), "cl100k_base"),
)


def vocabulary_of(model: str, known: Mapping[str, Vocabulary] = KNOWN) -> Vocabulary | None:
    """The vocabulary of a model; None for one that `tiktoken` does not know."""
    return next((known[name] for pattern, name in _MODELS if name in known and pattern.search(model)), None)


def on_disk(vocabulary: Vocabulary) -> bool:
    """True when its file exists."""
    return vocabulary.file.is_file()


class ExactTokens:
    """Counts by a vocabulary. Made by `load`."""

    def __init__(self, name: str, encoding: Encoding) -> None:
        self.name, self._encoding = name, encoding

    def count(self, text: str) -> int:
        """Tokens of `text`; words like <|endoftext|> count as text."""
        return len(self._encoding.encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))


def load(vocabulary: Vocabulary) -> ExactTokens | None:
    """Reads a vocabulary; None if its file is missing or invalid, or tiktoken is not installed.

    Takes up to a second: call it in a thread.
    """
    try:
        return _loaded(vocabulary, vocabulary.file.stat().st_mtime_ns)
    except (OSError, ValueError, ImportError):
        return None


@cache
def _loaded(vocabulary: Vocabulary, _changed: int) -> ExactTokens:
    from tiktoken import Encoding

    with vocabulary.file.open("rb") as file:
        body = file.read(LARGEST + 1)
    _require(vocabulary, body)
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in body.splitlines() if line)}
    encoding = Encoding(vocabulary.name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})
    return ExactTokens(vocabulary.name, encoding)


def _require(vocabulary: Vocabulary, body: bytes) -> None:
    """Raises ValueError for other bytes than those of the vocabulary."""
    if len(body) > LARGEST or hashlib.sha256(body).hexdigest() != vocabulary.digest:
        raise ValueError(vocabulary.name)


async def fetch(vocabulary: Vocabulary, url: str = "") -> None:
    """Fetches a vocabulary at the user's request and stores it. Raises SettingsError; then nothing is changed."""
    import httpx

    body = bytearray()
    try:
        async with (
            asyncio.timeout(FETCH_SECONDS),
            httpx.AsyncClient(follow_redirects=False) as client,
            client.stream("GET", url or vocabulary.url) as response,
        ):
            response.raise_for_status()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LARGEST:
                    break
        _require(vocabulary, bytes(body))
        await asyncio.to_thread(write_whole, vocabulary.file, bytes(body))
    except (httpx.HTTPError, TimeoutError, OSError, ValueError) as error:
        raise SettingsError(
            _("The vocabulary {name} could not be fetched.").format(name=vocabulary.name),
            f"{HOST}: {type(error).__name__}: {error}"[:300],
            _("Tokens are estimated as before."),
        ) from None
