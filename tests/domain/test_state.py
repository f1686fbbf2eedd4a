from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from flowcabal_tui.domain.state import DualState, StateEffect

KEYS = st.sampled_from(["hp", "心情", "bag"])
VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=2))
UPDATES = st.dictionaries(KEYS, VALUES, min_size=1, max_size=3)
KINDS = st.sampled_from(["write", "working", "start", "complete", "fail"])
EFFECTS = st.builds(StateEffect, KINDS, UPDATES | st.just({}), st.lists(KEYS, max_size=2).map(tuple))


def test_prompts_see_the_stable_value_while_a_key_is_rewritten():
    state = DualState.of({"a": 1, "b": 1})
    state.apply(StateEffect("start", keys=("a",)))
    state.apply(StateEffect("working", {"a": 5, "b": 6}))
    assert state.view(prompt=True) == {"a": 1, "b": 6} and state.view() == {"a": 5, "b": 6}
    state.apply(StateEffect("complete", {"a": 7}))
    assert state.view(prompt=True) == {"a": 7, "b": 6} and state.pending == frozenset()


def test_completing_ends_only_its_own_keys():
    state = DualState.of({"a": 1, "b": 1})
    state.apply(StateEffect("start", keys=("a", "b")))
    state.apply(StateEffect("complete", {"a": 2}))
    assert state.pending == {"b"}


def test_a_draft_can_be_settled_as_it_is():
    state = DualState.of({"a": 1})
    for effect in (StateEffect("start", keys=("a",)), StateEffect("working", {"a": 2})):
        state.apply(effect)
    state.apply(StateEffect("complete", keys=("a",)))
    state.apply(StateEffect("start", keys=("a",)))
    assert state.view(prompt=True) == {"a": 2}


def test_failing_falls_back_and_forgets_what_was_never_stable():
    state = DualState.of({"a": 1})
    state.apply(StateEffect("start", keys=("a", "new")))
    state.apply(StateEffect("working", {"a": 2, "new": 3}))
    assert state.view(prompt=True) == {"a": 1}
    state.apply(StateEffect("fail", keys=("a", "new")))
    assert state.view() == {"a": 1} and state.pending == frozenset()


def test_a_write_is_settled_even_while_the_key_is_rewritten():
    state = DualState.of({"a": 1})
    state.apply(StateEffect("start", keys=("a",)))
    state.apply(StateEffect("write", {"a": 3}))
    assert state.view(prompt=True) == {"a": 3} and state.pending == {"a"}


def test_reading_keys_leaves_out_those_that_are_not_there():
    state = DualState.of({"a": 1, "b": 2})
    assert state.read(["a", "zz"]) == {"a": 1} and state.read(prompt=True) == {"a": 1, "b": 2}


def test_nobody_can_change_a_value_from_outside():
    given_value: dict[str, Any] = {"bag": ["gold"]}
    state = DualState.of(given_value)
    given_value["bag"].append("mine")
    state.view()["bag"].append("mine")
    state.apply(StateEffect("start", keys=("bag",)))
    state.view(prompt=True)["bag"].append("mine")
    update: dict[str, Any] = {"bag": ["silver"]}
    state.apply(StateEffect("complete", update))
    update["bag"].append("mine")
    state.apply(StateEffect("start", keys=("bag",)))
    state.entries(["bag"])[0].working.append("mine")
    assert state.view() == state.view(prompt=True) == {"bag": ["silver"]}


@given(st.lists(EFFECTS, max_size=8), EFFECTS)
def test_what_an_effect_changed_can_be_put_back_and_written_down(before, effect):
    state = DualState()
    for one in before:
        state.apply(one)
    keys = (*effect.updates, *effect.keys)
    old, told = (state.view(), state.view(prompt=True), state.pending), state.entries(keys)
    rest = state.entries(["hp", "心情", "bag"])
    state.apply(effect)
    copied = DualState(state.entries(["hp", "心情", "bag"]))
    assert (copied.view(), copied.view(prompt=True)) == (state.view(), state.view(prompt=True))
    state.put(told)
    assert (state.view(), state.view(prompt=True), state.pending) == old
    assert state.entries(["hp", "心情", "bag"]) == rest


class TwoStates(RuleBasedStateMachine):
    """Against a model that keeps two dictionaries and a set."""

    def __init__(self) -> None:
        super().__init__()
        self.state = DualState()
        self.working: dict[str, Any] = {}
        self.stable: dict[str, Any] = {}
        self.pending: set[str] = set()
        self.effects = 0

    def tell(self, kind: Any, updates: dict[str, Any], keys: tuple[str, ...] = ()) -> None:
        self.state.apply(StateEffect(kind, updates, keys))
        self.effects += 1

    @rule(updates=UPDATES)
    def write(self, updates):
        self.tell("write", updates)
        self.working |= copy.deepcopy(updates)
        self.stable |= copy.deepcopy(updates)

    @rule(updates=UPDATES)
    def draft(self, updates):
        self.tell("working", updates)
        self.working |= copy.deepcopy(updates)

    @rule(key=KEYS)
    def start(self, key):
        self.tell("start", {}, (key,))
        self.pending.add(key)

    @rule(key=KEYS, value=VALUES)
    def complete(self, key, value):
        self.tell("complete", {key: value})
        self.working[key] = self.stable[key] = value
        self.pending.discard(key)

    @rule(key=KEYS)
    def settle(self, key):
        self.tell("complete", {}, (key,))
        if key in self.working:
            self.stable[key] = self.working[key]
        self.pending.discard(key)

    @rule(key=KEYS)
    def fail(self, key):
        self.tell("fail", {}, (key,))
        self.working.pop(key, None)
        if key in self.stable:
            self.working[key] = self.stable[key]
        self.pending.discard(key)

    @invariant()
    def it_shows_the_same(self):
        assert self.state.view() == self.working
        settled = {key: value for key, value in self.working.items() if key not in self.pending}
        stable = {key: self.stable[key] for key in self.pending if key in self.stable}
        assert self.state.view(prompt=True) == settled | stable
        assert self.state.pending == self.pending and self.state.generation == self.effects


TwoStates.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
test_against_a_model = TwoStates.TestCase
