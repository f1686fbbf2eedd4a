"""What is loaded is set apart from the search for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from flowcabal_tui.domain.garbage import begin_loading, end_loading


@pytest.fixture(autouse=True)
def the_search_as_it_was() -> Iterator[None]:
    threshold = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)
    gc.enable()


def test_what_was_made_while_loading_is_not_searched_afterwards() -> None:
    gc.unfreeze()
    begin_loading()
    assert not gc.isenabled()
    end_loading()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1000


def test_nothing_is_set_apart_when_nothing_was_being_loaded() -> None:
    gc.unfreeze()
    end_loading()
    assert gc.get_freeze_count() == 0
