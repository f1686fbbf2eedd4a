"""Queues events for a client: bounded, thread-safe, with adjacent pieces of text joined."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.protocol.base import CommandDone, CommandFailed, Event, Resync
from flowcabal_tui.protocol.conversations import AnswerStreaming
from flowcabal_tui.protocol.runs import NodeStreaming, NodeThinking

LIMIT: Final = 5_000
"""Events that may wait for a reader; a reader that falls further behind gets `Resync`, and keeps its answers."""
PIECE: Final = 32_000
"""Characters: a longer piece is not joined to, since every joining copies it."""


class EventFeed:
    """Published by the engine, drained by one reader.

    Text is sent for one node at a time (`watch`), or for all (`everything`); it is never lost, since it can be read
    again from the journal.
    """

    def __init__(self, *, everything: bool = False) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._everything = everything
        self._watched: tuple[RunId | None, NodeId | None] = (None, None)

    def watch(self, run: RunId | None, node: NodeId | None) -> None:
        """Selects the only node whose text is sent from now on."""
        with self._lock:
            self._watched = (run, node)

    def publish(self, event: Event) -> None:
        """Adds an event; joins a piece of text to a queued one before it."""
        with self._lock:
            if isinstance(event, NodeStreaming | NodeThinking):
                is_watched = self._everything or self._watched == (event.run, event.node)
                if not is_watched:
                    return
            if self._is_joined(event):
                return
            if len(self._events) >= LIMIT:
                answers = [each for each in self._events if isinstance(each, CommandDone | CommandFailed)]
                self._events = [Resync(), *answers[-LIMIT // 2 :]]
            self._events.append(event)

    def _is_joined(self, event: Event) -> bool:
        """Appends a piece of text to the last event if it follows that; returns False for any other event."""
        last = self._events[-1] if self._events else None
        match last, event:
            case NodeStreaming(), NodeStreaming():
                ends = last.run, last.node, last.attempt, last.offset + len(last.chunk)
                follows = ends == (event.run, event.node, event.attempt, event.offset)
            case NodeThinking(), NodeThinking():
                follows = (last.run, last.node, last.attempt) == (event.run, event.node, event.attempt)
            case AnswerStreaming(), AnswerStreaming():
                end = last.conversation, last.turn, last.offset + len(last.chunk)
                follows = end == (event.conversation, event.turn, event.offset)
            case _:
                return False
        if follows and len(last.chunk) <= PIECE:
            self._events[-1] = replace(last, chunk=last.chunk + event.chunk)
            return True
        return False

    def take(self) -> tuple[Event, ...]:
        """All events since the last call, in order."""
        with self._lock:
            events, self._events = self._events, []
        return tuple(events)
