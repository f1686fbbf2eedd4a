"""Vectors out of words."""

from __future__ import annotations

import asyncio
import hashlib
import math
import subprocess
import sys

import pytest

from flowcabal_tui.models.lexical import LexicalEmbedder


def likeness(one: str, other: str) -> float:
    embedder = LexicalEmbedder()
    return sum(a * b for a, b in zip(embedder.vector(one), embedder.vector(other), strict=True))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("少年推开茶馆的门", "他推开了茶馆的门，走进去", "将军在城下大败敌军"),
        ("林黛玉葬花", "黛玉在园中葬花，落泪不止", "宝玉读书到深夜"),
        ("she crossed the river", "crossing the river by boat", "a loud market in the sun"),
        ("The lighthouse keeper's lamp", "a lamp the LIGHTHOUSE keeper lit", "bread and cheese for supper"),
    ],
)
def test_shared_words_bring_texts_together(text: str, near: str, far: str) -> None:
    assert likeness(text, near) > likeness(text, far) + 0.2


async def test_vectors_have_the_size_and_length_they_should() -> None:
    embedder = LexicalEmbedder(256)
    vectors = await embedder.embed(["夜色", "rain", "夜色" * 5000, ""])
    assert [len(vector) for vector in vectors] == [256] * 4
    assert [round(math.hypot(*vector), 6) for vector in vectors] == [1, 1, 1, 0]
    assert embedder.identity == "lexical-256-v1"


def test_the_vector_of_a_text_is_the_same_in_every_process() -> None:
    program = (
        "import hashlib; from flowcabal_tui.models.lexical import LexicalEmbedder;"
        "print(hashlib.sha256(repr(LexicalEmbedder().vector('夜色 rain 长街')).encode()).hexdigest())"
    )
    there = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    here = hashlib.sha256(repr(LexicalEmbedder().vector("夜色 rain 长街")).encode()).hexdigest()
    assert there.stdout.strip() == here


async def test_long_texts_leave_the_loop_free() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await LexicalEmbedder().embed(["夜色落在长街上" * 4000])
    ticking.cancel()
    assert ticks > 3
