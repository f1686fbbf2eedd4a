"""Counts by a vocabulary: only where its file is on disk and is the right one; nothing fetches it by itself."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from tiktoken_ext import openai_public

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.model_calls import Message, ModelRequest, Usage
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.models.vocabularies import KNOWN, Vocabulary, fetch, load, on_disk, vocabulary_of
from tests.faultserver import FaultServer

WORDS = [*(bytes([each]) for each in range(256)), b"th", b"the", b" the", "林".encode()[:2], "林".encode()]
BODY = b"\n".join(base64.b64encode(word) + b" " + str(rank).encode() for rank, word in enumerate(WORDS)) + b"\n"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """A vocabulary of 261 tokens, made here: there is no network."""
    monkeypatch.setenv("FLOWCABAL_DATA_DIR", str(tmp_path))
    made = Vocabulary("tiny", hashlib.sha256(BODY).hexdigest(), r" ?\p{L}+|\s+|[^\s\p{L}]+")
    made.file.parent.mkdir(parents=True)
    made.file.write_bytes(BODY)
    return made


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-4.1", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("deepseek-chat", None),
        ("claude-sonnet-4-5", None),
        ("my-gpt-4", None),
    ],
)
def test_a_model_is_counted_by_the_vocabulary_that_tiktoken_gives_it(model: str, name: str | None) -> None:
    found = vocabulary_of(model)
    assert (found.name if found else None) == name


def test_addresses_digests_and_patterns_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def ranks(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.append((url, expected_hash))
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", ranks)
    for name, each in KNOWN.items():
        assert openai_public.ENCODING_CONSTRUCTORS[name]()["pat_str"] == each.pattern
        assert asked[-1] == (each.url, each.digest)


def test_a_vocabulary_on_disk_counts_exactly(tiny: Vocabulary) -> None:
    exact = load(tiny)
    assert exact is not None
    counter = TokenEstimator("gpt-4o", exact=exact)
    assert [counter.count(text) for text in ("the", " the", "the the", "林", "", "  ")] == [1, 1, 2, 1, 0, 0]
    assert counter.counted_by == "tiny"
    counter.learn(ModelRequest((Message("user", "the " * 200),), "t"), Usage(9_999, 1))
    assert counter.count("the") == 1  # what is counted needs no correction
    assert counter.truncate("the the. the the. the", 4) == "the the."


def test_what_is_not_the_vocabulary_is_not_used(tiny: Vocabulary) -> None:
    tiny.file.write_bytes(BODY + b"dGhl 999\n")
    assert load(tiny) is None
    tiny.file.unlink()
    assert load(tiny) is None and not on_disk(tiny)


async def test_it_is_fetched_only_when_asked_and_kept_only_when_right(tiny: Vocabulary, server: FaultServer) -> None:
    tiny.file.unlink()
    assert load(tiny) is None and server.asked == []
    server.looks_take_faults = True
    server.push({"body": "<html>no</html>"}, {"status": 404}, {"body": BODY.decode()})
    for _try in range(2):
        with pytest.raises(SettingsError, match="could not be fetched"):
            await fetch(tiny, server.url + "/tiny")
        assert not on_disk(tiny)
    await fetch(tiny, server.url + "/tiny")
    assert load(tiny) is not None
