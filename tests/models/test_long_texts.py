"""Embedding models that take short texts only."""

from __future__ import annotations

import math
import random

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.models.embeddings import InputLimit, joined
from flowcabal_tui.models.registry import make_embedder
from tests.faultserver import FaultServer
from tests.models.conftest import Waits

TEXT = "".join(f"This is sentence number {n}, which ends here. " for n in range(60))


async def embedded(server: FaultServer, texts: list[str]) -> list[list[float]]:
    endpoint = Endpoint(model="minilm", base_url=f"{server.url}/v1", dimensions=16)
    embedder = make_embedder(endpoint, None, rng=random.Random(1), sleep=Waits())
    try:
        return await embedder.embed(texts)
    finally:
        await embedder.aclose()


async def test_a_text_that_is_too_long_is_sent_in_whole_sentences_and_the_limit_is_learned(server: FaultServer) -> None:
    server.longest_input = 900
    vectors = await embedded(server, ["short", TEXT, "also short"])
    assert len(vectors) == 3
    assert all(math.isclose(sum(n * n for n in vector), 1.0, rel_tol=1e-6) for vector in vectors)
    sent = [text for entry in server.log if entry["outcome"] == "status 200" for text in entry["body"]["input"]]
    assert all(text.rstrip().endswith((".", "short")) for text in sent)
    assert "".join(text for text in sent if "short" not in text) == TEXT
    refused = [entry for entry in server.log if entry["outcome"] == "status 500"]
    assert 1 <= len(refused) <= 3


async def test_a_limit_that_is_known_costs_no_further_refusal(server: FaultServer) -> None:
    server.longest_input = 900
    endpoint = Endpoint(model="minilm", base_url=f"{server.url}/v1", dimensions=16)
    embedder = make_embedder(endpoint, None, rng=random.Random(1), sleep=Waits())
    await embedder.embed([TEXT])
    before = len(server.log)
    await embedder.embed([TEXT[:2_000], TEXT])
    await embedder.aclose()
    assert {entry["outcome"] for entry in server.log[before:]} == {"status 200"}


async def test_a_refusal_that_no_cut_cures_ends(server: FaultServer) -> None:
    server.longest_input = 1
    with pytest.raises(ModelError) as caught:
        await embedded(server, [TEXT])
    assert caught.value.fault is ModelFault.CONTEXT_LENGTH


def test_a_limit_that_the_server_names_is_taken_with_a_margin() -> None:
    limit = InputLimit("m")
    words = "This model's maximum context length is 512 tokens, however you requested 700"
    assert limit.learn(ModelError(ModelFault.CONTEXT_LENGTH, words), [TEXT])
    assert limit.tokens == int(512 * 0.8)
    assert not limit.learn(ModelError(ModelFault.SERVER, words), [TEXT])


def test_a_sentence_that_is_too_long_alone_is_cut_within_and_nothing_is_lost() -> None:
    limit = InputLimit("m")
    limit.tokens = 50
    for text in ("夜" * 400, "夜色。" * 200, "word " * 300):
        pieces = limit.pieces(text)
        assert len(pieces) > 1 and "".join(pieces) == text


def test_the_vector_of_pieces_is_their_weighted_mean_of_length_one() -> None:
    assert joined([[3.0, 4.0]], [7]) == [3.0, 4.0]
    assert joined([[1.0, 0.0], [0.0, 1.0]], [3, 4]) == [0.6, 0.8]
