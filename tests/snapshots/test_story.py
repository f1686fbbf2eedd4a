"""Pictures of names, who stands around, promises, the timeline and what holds."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import RecordId, Relation
from flowcabal_tui.tui.story.ego import EgoScreen
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.story.proposals import ProposalsScreen
from flowcabal_tui.tui.story.records import RecordsScreen
from tests.snapshots.test_graph import BOTH, EVERY_SIZE, on_top
from tests.snapshots.test_shell import app
from tests.tui.fake_books import NOW
from tests.tui.fake_story import HERO
from tests.tui.fakes import FakeProject

NAMES = {
    "en": (
        "Ada",
        "Brother Cole",
        "Dinah of the Salt Road",
        "Ewan",
        "The Bell-Ringer",
        "Fay",
        "Gale",
        "Hob",
        "Iris",
        "Jon",
    ),
    "zh": ("阿大", "柯师兄", "盐路上的狄娘", "伊万", "敲钟人", "小菲", "盖老", "霍二", "鸢尾", "阿荣"),
}
KINDS = {
    "en": ("mother of", "serves", "friend of", "sworn enemy of", "taught"),
    "zh": ("母亲", "侍奉", "朋友", "死敌", "师父"),
}


def crowded(language: str) -> FakeProject:
    """The hero with twelve around: ten relations of every kind, and two who only occur with them."""
    project = FakeProject(language)
    others = [Entity(EntityId(f"e{n}"), "character", name) for n, name in enumerate(NAMES[language])]
    project.people += others
    pairs = [(HERO, other.id) if n % 3 else (other.id, HERO) for n, other in enumerate(others)]
    relations = [
        Relation(RecordId(f"n{n}"), *pair, KINDS[language][n % 5], directed=n % 5 != 2) for n, pair in enumerate(pairs)
    ]
    back = Relation(RecordId("back"), others[1].id, HERO, KINDS[language][3])
    project.records = replace(project.records, relations=(*relations, back))
    return project


@EVERY_SIZE
@BOTH
def test_names(snap_compare, size, language):
    page = EntitiesScreen(FakeProject(language))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page))


@EVERY_SIZE
@BOTH
def test_twelve_stand_around(snap_compare, size, language):
    page = EgoScreen(crowded(language), HERO)
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page))


@EVERY_SIZE
@BOTH
def test_the_timeline(snap_compare, size, language):
    page = RecordsScreen(FakeProject(language), "timeline")
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page))


@EVERY_SIZE
@BOTH
def test_proposals(snap_compare, size, language):
    project = FakeProject(language)
    project.proposal_list.fill()
    page = ProposalsScreen(project)
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page), press=["space", "j"])


@EVERY_SIZE
@BOTH
def test_findings(snap_compare, size, language):
    project = FakeProject(language)
    project.findings.fill()
    page = FindingsScreen(project, lambda: NOW)
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page), press=["space", "j"])


@EVERY_SIZE
@BOTH
def test_impact(snap_compare, size, language):
    project = FakeProject(language)
    name = project.people[0].name
    page = ImpactScreen(project, Rename(name, "薇拉" if language == "zh" else "Vera"))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page), press=["j", "space", "j"])


@BOTH
def test_promises(snap_compare, language):
    page = RecordsScreen(FakeProject(language))
    assert snap_compare(app(language), terminal_size=(80, 24), run_before=on_top(page))


@BOTH
def test_what_holds(snap_compare, language):
    page = RecordsScreen(FakeProject(language), "facts", position=2)
    assert snap_compare(app(language), terminal_size=(80, 24), run_before=on_top(page))
