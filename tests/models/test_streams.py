"""Bytes and texts that may be cut anywhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.text import clean
from flowcabal_tui.models.cleaning import PENDING_LIMIT, StreamCleaner, whole_characters
from flowcabal_tui.models.openai import InlineThoughts
from flowcabal_tui.models.transport import LINE_LIMIT, UNREAD_LIMIT, EventReader, Inflow

ESCAPES = ["\x1b", "[31m", "]", "52;c;", "\x07", "\\", "P", "\x9b", "\x9c", "0", "m", "\u202e"]
PIECES = st.lists(st.sampled_from([*ESCAPES, "雨", "a", " ", "\r", "\n", "\ud83d", "\ude00"]), max_size=40)


@given(PIECES)
def test_the_cleaned_pieces_are_the_cleaned_whole(pieces: list[str]) -> None:
    cleaner = StreamCleaner()
    streamed = "".join([cleaner.feed(piece) for piece in pieces]) + cleaner.end()
    assert streamed == clean(whole_characters("".join(pieces)))


def test_an_escape_sequence_without_end_does_not_hold_back_the_text() -> None:
    cleaner = StreamCleaner()
    shown = cleaner.feed("\x1b]0;") + cleaner.feed("雨" * (2 * PENDING_LIMIT))
    assert shown.count("雨") == 2 * PENDING_LIMIT
    assert "\x1b" not in shown


def test_plain_text_is_never_held_back() -> None:
    cleaner = StreamCleaner()
    assert [cleaner.feed(piece) for piece in ("夜", "色 ", "\n")] == ["夜", "色 ", "\n"]


THOUGHTS = [
    ("\n<think>\n想一想 </b>\n</think>\n\n雨。<think>", "雨。<think>", "\n想一想 </b>\n"),
    ("<think></think>雨", "雨", ""),
    ("<thin ice>", "<thin ice>", ""),
    ("  雨 <think>x</think>", "  雨 <think>x</think>", ""),
    ("<think>想", "", "想"),
]


@pytest.mark.parametrize(("said", "text", "thought"), THOUGHTS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_thoughts_at_the_beginning_are_parted_from_the_text(said: str, text: str, thought: str, size: int) -> None:
    thoughts = InlineThoughts()
    parts = [thoughts.feed(said[start : start + size]) for start in range(0, len(said), size)]
    assert ("".join(part[0] for part in parts), "".join(part[1] for part in parts)) == (text, thought)


STREAM = ": hello\r\nevent: a\r\ndata: 夜色\r\n\r\ndata:x\ndata: y\n\n\ndata: 灯\r\rdata: last".encode()
EVENTS = [("", None), ("a", "夜色"), ("", "x\ny"), ("", "灯"), ("", "last")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_events_are_the_same_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    reader = EventReader()
    events: list[tuple[str, str | None]] = []
    for start, end in pairwise(edges):
        reader.feed(STREAM[start:end], events)
    assert events + reader.end() == EVENTS


def test_a_line_without_end_is_refused() -> None:
    reader = EventReader()
    reader.feed(b"x" * LINE_LIMIT, [])
    with pytest.raises(ValueError, match="line without end"):
        reader.feed(b"x", [])


def test_an_event_without_end_is_refused_although_its_lines_are_short() -> None:
    reader, events = EventReader(), list[tuple[str, str | None]]()
    line = b"data: " + b"x" * 1000 + b"\n"
    for _event in range(3):  # the limit is that of one event
        reader.feed(line * (LINE_LIMIT // 2 // len(line)) + b"\n", events)
    assert len(events) == 3
    reader.feed(line * (LINE_LIMIT // 2 // len(line)), events)
    with pytest.raises(ValueError, match="event without end"):
        reader.feed(line * (LINE_LIMIT // len(line)), events)
    assert len(events) == 3


def test_what_came_before_broken_utf8_is_not_lost() -> None:
    events: list[tuple[str, str | None]] = []
    with pytest.raises(ValueError, match="utf-8"):
        EventReader().feed(b"data: 1\n\ndata: \xff\n\ndata: 3\n\n", events)
    assert events == [("", "1")]


async def test_what_nobody_takes_is_not_read_without_end_and_nothing_of_it_is_lost() -> None:
    piece, sent = b"x" * (UNREAD_LIMIT // 4), 0

    async def body() -> AsyncGenerator[bytes, None]:
        nonlocal sent
        for _turn in range(40):
            await asyncio.sleep(0)
            sent += 1
            yield piece

    inflow = Inflow(gather=False)
    reading = asyncio.create_task(inflow.read(body()))
    reading.add_done_callback(inflow.wake)
    for _turn in range(200):
        await asyncio.sleep(0)
    assert sent == 5
    taken = 0
    while not reading.done() or inflow.size:
        await inflow.wait()
        taken += len(inflow.take())
    assert taken == 40 * len(piece)


def test_importing_the_models_loads_no_http_library() -> None:
    program = (
        "import sys, flowcabal_tui.models.registry, flowcabal_tui.models.discover, flowcabal_tui.models.tokens;"
        "sys.exit(','.join({'httpx', 'httpcore', 'h11'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
