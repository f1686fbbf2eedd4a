"""State with two values per key: the working one, and the last stable one that prompts see while a key is rewritten."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal

from flowcabal_tui.domain.value_class import dataclass


@dataclass(frozen=True, slots=True)
class StateEffect:
    """A change of the state, recorded together with its node.

    write: a final value, sets both; working: a draft, sets the working value only; start: the keys become pending, and
    prompts see the stable value; complete: sets both values and ends pending; without a value the working one becomes
    stable; fail: ends pending, the working value returns to the stable one.
    """

    kind: Literal["write", "working", "start", "complete", "fail"]
    updates: Mapping[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateEntry:
    """The stored state of one key. A value that was never set is None in `stable` or `working` with its flag False."""

    key: str
    working: Any = None
    stable: Any = None
    has_working: bool = False
    has_stable: bool = False
    pending: bool = False


class DualState:
    """Values are copied on their way in and out, so callers cannot change them."""

    def __init__(self, entries: Iterable[StateEntry] = (), *, durable: bool = False) -> None:
        """`durable`: effects are stored with the run's log; otherwise they are replayed from it."""
        self.durable = durable
        self.generation = 0
        """Counts the effects; never goes back."""
        self._working: dict[str, Any] = {}
        self._stable: dict[str, Any] = {}
        self._pending: set[str] = set()
        self.put(entries)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> DualState:
        """A state in memory in which every value is stable."""
        return cls(StateEntry(key, value, value, True, True) for key, value in values.items())

    @property
    def pending(self) -> frozenset[str]:
        """Keys that are being rewritten."""
        return frozenset(self._pending)

    def view(self, *, prompt: bool = False) -> dict[str, Any]:
        """All values, copied; for a prompt, pending keys show their stable value, or nothing when there is none."""
        if not prompt or not self._pending:
            return copy.deepcopy(self._working)
        settled = {key: value for key, value in self._working.items() if key not in self._pending}
        stable = {key: self._stable[key] for key in self._pending if key in self._stable}
        return copy.deepcopy(settled | stable)

    def read(self, keys: Iterable[str] | None = None, *, prompt: bool = False) -> dict[str, Any]:
        """The values of some keys, or of all; missing keys are left out."""
        known = self.view(prompt=prompt)
        return known if keys is None else {key: known[key] for key in keys if key in known}

    def entries(self, keys: Iterable[str]) -> tuple[StateEntry, ...]:
        """The entries of these keys."""
        return tuple(self._entry(key) for key in dict.fromkeys(keys))

    def put(self, entries: Iterable[StateEntry]) -> None:
        """Restores keys from `entries`."""
        for entry in entries:
            for values, has, value in (
                (self._working, entry.has_working, entry.working),
                (self._stable, entry.has_stable, entry.stable),
            ):
                values.pop(entry.key, None)
                if has:
                    values[entry.key] = copy.deepcopy(value)
            (self._pending.add if entry.pending else self._pending.discard)(entry.key)

    def apply(self, effect: StateEffect) -> None:
        """Changes the state."""
        self.generation += 1
        updates = copy.deepcopy(dict(effect.updates))
        keys = (*updates, *effect.keys)
        match effect.kind:
            case "working":
                self._working |= updates
            case "write" | "complete":
                self._working |= updates
                self._stable |= copy.deepcopy(updates)
                if effect.kind == "complete":
                    self._pending -= set(keys)
                    self._settle(set(effect.keys) - set(updates))
            case "start":
                self._pending |= set(keys)
            case "fail":
                self._pending -= set(keys)
                self._fall_back(keys)

    def _settle(self, keys: Iterable[str]) -> None:
        for key in keys:
            if key in self._working:
                self._stable[key] = copy.deepcopy(self._working[key])

    def _fall_back(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._working.pop(key, None)
            if key in self._stable:
                self._working[key] = copy.deepcopy(self._stable[key])

    def _entry(self, key: str) -> StateEntry:
        return StateEntry(
            key,
            copy.deepcopy(self._working.get(key)),
            copy.deepcopy(self._stable.get(key)),
            key in self._working,
            key in self._stable,
            key in self._pending,
        )
