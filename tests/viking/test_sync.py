"""The book in a real OpenViking: put, read back, find, replace, remove; nothing is written twice."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.viking import layout, search
from flowcabal_tui.viking.client import FileWrite, KnowledgeMissing
from flowcabal_tui.viking.manifest import Head
from flowcabal_tui.viking.sync import KnowledgeSync
from tests.viking.fakes import Running
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.viking, pytest.mark.asyncio(loop_scope="session")]

RIVER = Chapter(ChapterId("c-river"), 1, "渡口", volume="卷一")
RAIN = Chapter(ChapterId("c-rain"), 2, "The Rain", volume="Part One")
RIVER_TEXT = ("阿青把船系在渡口的老柳树下，回头望见对岸灯火。" * 20 + "\n") * 6
RAIN_TEXT = ("Marsh walked home through the rain and said nothing. " * 30 + "\n") * 4
_numbers = itertools.count()


def head(root: str) -> Head:
    return Head(root, "zh", "fake")


@pytest.fixture
def root() -> str:
    return layout.project_uri(f"p{next(_numbers)}", "试书")


@pytest.fixture
def sync(running: Running, root: str, tmp_path: Path) -> KnowledgeSync:
    return KnowledgeSync(running.client, head(root), tmp_path, running.server.workspace)


async def read_scenes(running: Running, root: str, chapter: Chapter) -> str:
    uri = f"{root}/{layout.chapter_path(chapter)}"
    names = sorted(entry.uri for entry in await running.client.ls(uri) if "/scene-" in entry.uri)
    return "".join([await running.client.read(name) for name in names])


async def test_a_chapter_is_read_back_in_all_three_levels(running: Running, root: str, sync: KnowledgeSync) -> None:
    for chapter, text in ((RIVER, RIVER_TEXT), (RAIN, RAIN_TEXT)):
        assert await sync.put_chapter(chapter, text, f"L0 of {chapter.title}", f"L1 of {chapter.title}")
        uri = f"{root}/{layout.chapter_path(chapter)}"
        assert await running.client.abstract(uri) == f"L0 of {chapter.title}"
        assert await running.client.overview(uri) == f"L1 of {chapter.title}"
        assert await read_scenes(running, root, chapter) == text


async def test_find_names_chapter_level_and_place(sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "阿青在渡口系船，看见对岸的灯火。")
    await sync.put_chapter(RAIN, RAIN_TEXT, "Marsh goes home", "Marsh walks home in the rain, silent.")
    hits = await sync.find("阿青把船系在渡口的老柳树下", limit=20)
    assert hits[0].chapter == RIVER.id
    assert {hit.level for hit in hits} >= {"L2"}
    scene = next(hit for hit in hits if hit.level == "L2" and hit.chapter == RAIN.id)
    assert RAIN_TEXT[scene.start : scene.end].startswith("Marsh walked")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    directories = [hit.uri for hit in hits if hit.level != "L2"]
    assert len(directories) == len(set(directories)) == 2


async def test_nothing_from_the_target_chapter_on_is_found(sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "阿青在渡口。")
    await sync.put_chapter(RAIN, RAIN_TEXT, "Marsh goes home", "Marsh walks home.")
    await sync.put_resource("profiles/characters/marsh", "Marsh", "Marsh, tired", "He is tired.", "He.", position=2)
    before = await sync.find("Marsh walked home through the rain", before_position=2, limit=20)
    assert before
    assert {hit.chapter for hit in before} == {RIVER.id}
    sync.set_positions({RAIN.id: 1, RIVER.id: 2})
    moved = await sync.find("Marsh walked home through the rain", before_position=2, limit=20)
    assert {hit.chapter for hit in moved} == {RAIN.id}
    assert await sync.find("Marsh", before_position=1) == ()


@pytest.mark.parametrize("most", [1, 100])
async def test_an_arc_may_be_cut_by_the_position(
    sync: KnowledgeSync, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_TARGETS", most)
    early, late = (replace(RAIN, id=ChapterId(f"c{n}"), position=n) for n in (4, 5))
    for chapter in (RIVER, early, late):
        await sync.put_chapter(chapter, RAIN_TEXT, "Marsh goes home", "Marsh walks home.")
    assert {hit.chapter for hit in await sync.find("Marsh", before_position=5, limit=20)} == {
        RIVER.id,
        early.id,
    }


@pytest.mark.parametrize("text", ["", "\n \n", "半个字\ud800。"])
async def test_an_odd_text_without_title_and_summaries_is_taken(sync: KnowledgeSync, text: str) -> None:
    untitled = Chapter(ChapterId("c-odd"), 1, "")
    assert await sync.put_chapter(untitled, text, "", "")
    assert not await sync.put_chapter(untitled, text, "", "")


async def test_the_same_content_again_is_not_sent(running: Running, root: str, tmp_path: Path) -> None:
    for _restart in range(2):
        sync = KnowledgeSync(running.client, head(root), tmp_path, running.server.workspace)
        embedded = len(running.model.embedded)
        written = await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    assert not written
    assert len(running.model.embedded) == embedded


async def test_a_changed_summary_sends_the_summary_only(running: Running, sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    embedded = len(running.model.embedded)
    assert await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "another L1")
    assert [text.splitlines()[-1] for text in running.model.embedded[embedded:]] == ["L0", "another L1"]


async def test_nothing_stays_of_a_longer_earlier_version(
    running: Running, root: str, sync: KnowledgeSync, tmp_path: Path
) -> None:
    secret = "被删去的秘密藏在佛像之后。" * 40
    await sync.put_chapter(RIVER, RIVER_TEXT + secret, "L0", "L1")
    assert await read_scenes(running, root, RIVER) == RIVER_TEXT + secret
    (tmp_path / "manifest.jsonl").unlink()
    forgetful = KnowledgeSync(running.client, head(root), tmp_path, running.server.workspace)
    assert await forgetful.put_chapter(RIVER, "短。\n", "L0 short", "L1 short")
    assert await read_scenes(running, root, RIVER) == "短。\n"
    uri = f"{root}/{layout.chapter_path(RIVER)}"
    found = await running.client.find("被删去的秘密藏在佛像之后", level=2, target_uri=f"{uri}/", limit=20)
    assert [hit.uri for hit in found] == [f"{uri}/scene-001.md"]
    assert await running.client.abstract(uri) == "L0 short"


async def test_a_renamed_chapter_leaves_its_old_place(running: Running, root: str, sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    renamed = replace(RIVER, title="江边", volume="卷二")
    await sync.put_chapter(renamed, RIVER_TEXT, "L0", "L1")
    with pytest.raises(KnowledgeMissing):
        await running.client.ls(f"{root}/{layout.chapter_path(RIVER)}")
    assert await read_scenes(running, root, renamed) == RIVER_TEXT


async def test_removing_is_safe_to_repeat_and_calls_no_chat_model(
    running: Running, root: str, sync: KnowledgeSync
) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    await sync.put_chapter(RAIN, RAIN_TEXT, "rain L0", "rain L1")
    for _repeat in range(2):
        await sync.remove(layout.chapter_subject(RIVER.id))
    assert {hit.chapter for hit in await sync.find("阿青把船系在渡口", limit=20)} == {RAIN.id}
    async with asyncio.timeout(PATIENCE):
        while await running.client.waiting():  # noqa: ASYNC110 - the server has nothing to wait on
            await asyncio.sleep(0.05)
    assert await running.client.abstract(f"{root}/{layout.chapter_path(RAIN)}") == "rain L0"
    assert running.model.chats == []


async def test_resources_of_every_kind_have_levels_too(running: Running, root: str, sync: KnowledgeSync) -> None:
    await sync.put_resource("meta/style-guide", "style-guide", "简洁", "短句，白描。", "全书用短句。")
    uri, name = "entities/characters/e1", "阿青"
    await sync.put_resource(uri, name, "船家女", "渡口船家之女。", "年十七。", subject="entity/e1")
    assert await running.client.overview(f"{root}/{layout.resource_path(uri, name)}") == "渡口船家之女。"
    await sync.remove("entity/e1")
    assert {hit.uri.split("/")[0] for hit in await sync.find("阿青", before_position=1)} == {"meta"}


async def test_what_the_embedder_refused_is_not_taken_for_written(
    running: Running, root: str, sync: KnowledgeSync
) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    running.model.broken = True
    try:
        with pytest.raises(KnowledgeError):
            await sync.put_chapter(RIVER, "换了一稿。\n", "new L0", "new L1")
    finally:
        running.model.broken = False
    assert await sync.find("阿青") == ()
    assert await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    assert await read_scenes(running, root, RIVER) == RIVER_TEXT


async def test_a_server_elsewhere_gets_the_l1_as_a_plain_file(running: Running, root: str, tmp_path: Path) -> None:
    sync = KnowledgeSync(running.client, head(root), tmp_path)
    await sync.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "灯火与老柳树")
    uri = f"{root}/{layout.chapter_path(RIVER)}"
    assert await running.client.read(f"{uri}/overview.md") == "灯火与老柳树"
    assert (await sync.find("灯火与老柳树"))[0].level == "L1"


async def test_writers_of_one_chapter_at_once_wait_for_each_other(running: Running, root: str, tmp_path: Path) -> None:
    syncs = [KnowledgeSync(running.client, head(root), tmp_path / str(n)) for n in range(3)]
    await asyncio.gather(*(one.put_chapter(RIVER, RIVER_TEXT, "L0", "L1") for one in syncs))
    assert await read_scenes(running, root, RIVER) == RIVER_TEXT


async def test_repair_tells_what_must_be_put_again(running: Running, root: str, sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    await sync.put_chapter(RAIN, RAIN_TEXT, "L0", "L1")
    await running.client.rm(f"{root}/{layout.chapter_path(RAIN)}")
    assert await sync.repair(thorough=False) == (layout.chapter_subject(RAIN.id),)
    assert await sync.put_chapter(RAIN, RAIN_TEXT, "L0", "L1")
    assert await sync.repair(thorough=False) == ()


async def test_what_lacks_vectors_is_put_again(running: Running, root: str, sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, "灯火。\n", "L0", "L1")
    uri = f"{root}/{layout.chapter_path(RIVER)}"
    running.model.broken = True
    try:
        with pytest.raises(KnowledgeError):
            await running.client.batch_write(uri, [FileWrite(f"{uri}/scene-002.md", "老柳树下的旧船")], wait=True)
    finally:
        running.model.broken = False
    assert not (await running.client.check_consistency(uri)).ok
    assert await sync.repair(thorough=True) == (layout.chapter_subject(RIVER.id),)
    assert await sync.put_chapter(RIVER, "灯火。\n", "L0", "L1")
    assert (await running.client.check_consistency(uri)).ok
    assert await sync.repair(thorough=True) == ()


async def test_what_nobody_has_put_is_taken_out(running: Running, root: str, sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    stray = f"{root}/profiles/characters/stray"
    await running.client.mkdir(stray, "a stray")
    await running.client.batch_write(stray, [FileWrite(f"{stray}/scene-001.md", "流浪者")], wait=True)
    assert await sync.repair(thorough=False) == ()
    with pytest.raises(KnowledgeMissing):
        await running.client.ls(stray)
    assert await read_scenes(running, root, RIVER) == RIVER_TEXT


async def test_a_book_of_another_name_leaves_nothing_behind(running: Running, root: str, tmp_path: Path) -> None:
    before = KnowledgeSync(running.client, head(f"{root}-before"), tmp_path)
    await before.put_chapter(RIVER, RIVER_TEXT, "L0", "L1")
    after = KnowledgeSync(running.client, head(root), tmp_path)
    assert after.sources() == {}
    await after.repair(thorough=False)
    with pytest.raises(KnowledgeMissing):
        await running.client.ls(f"{root}-before")


async def test_a_summary_that_is_near_brings_the_scenes_of_its_chapter(sync: KnowledgeSync) -> None:
    told = "阿青把船系在渡口的老柳树下，回头望见对岸灯火。"
    for number in range(2, 9):
        chapter = replace(RAIN, id=ChapterId(f"c{number}"), position=number)
        await sync.put_chapter(chapter, f"阿青望见渡口的灯火，走了{number}里。" * 9, "", "")
    await sync.put_chapter(RIVER, "Nothing is here.\n", told * 4, told * 9)
    found = await sync.find(told, limit=8)
    assert found[0].chapter == RIVER.id and found[0].level != "L2"
    scene = next(hit for hit in found if hit.chapter == RIVER.id and hit.level == "L2")
    assert all(hit.score >= scene.score or hit.chapter != RIVER.id for hit in found)
    elsewhere = await sync.find(told, limit=8, scope="manuscript/Part-One")
    assert RIVER.id not in {hit.chapter for hit in elsewhere} and len(elsewhere) == 8


async def test_a_search_can_be_kept_to_a_part_of_the_book(running: Running, root: str, sync: KnowledgeSync) -> None:
    await sync.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "阿青在渡口。")
    await sync.put_resource(
        "profiles/emotional-arcs/aqing", "阿青", "阿青的悲喜", "阿青先喜后悲。", "阿青哭了。", position=1
    )
    await sync.put_resource("summaries/arcs/one", "卷一", "阿青渡河", "卷一：阿青渡河。", "", position=1)
    assert {hit.subject for hit in await sync.find("阿青", scope="profiles")} == {"profiles/emotional-arcs/aqing"}
    assert {hit.subject for hit in await sync.find("阿青", scope="summaries/arcs")} == {"summaries/arcs/one"}
    assert {hit.chapter for hit in await sync.find("阿青", scope="manuscript")} == {RIVER.id}
    assert await sync.find("阿青", 1, scope="profiles") == ()
    tagged = await running.client.find(
        "阿青", level=2, target_uri=root, limit=9, tags=["scope=profiles", "language=zh"]
    )
    assert {hit.uri.split("/")[-3] for hit in tagged} == {"emotional-arcs"}


async def test_a_search_in_a_part_of_the_book_needs_no_tags(running: Running, root: str, sync: KnowledgeSync) -> None:
    """The server embeds a new directory's L0 by itself, sometimes after its tags were set: then it has none."""
    await sync.put_resource("profiles/emotional-arcs/aqing", "阿青", "阿青的悲喜", "阿青先喜后悲。", "", position=1)
    await running.client.set_tags(f"{root}/profiles", ["other=tags"])
    assert {hit.subject for hit in await sync.find("阿青", scope="profiles")} == {"profiles/emotional-arcs/aqing"}


async def test_two_books_on_one_server_do_not_mix(running: Running, root: str, tmp_path: Path) -> None:
    one, other = (KnowledgeSync(running.client, head(f"{root}-{n}"), tmp_path / str(n)) for n in (1, 2))
    await one.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "阿青在渡口。")
    await other.put_chapter(RIVER, RAIN_TEXT, "Marsh", "Marsh walks home.")
    assert await one.find("Marsh walked home through the rain", scope="manuscript")
    hit = next(hit for hit in await one.find("Marsh walked home through the rain") if hit.level == "L2")
    assert RIVER_TEXT[hit.start : hit.end].startswith("阿青")
    await other.clear()
    assert await one.repair(thorough=True) == ()


async def test_a_pack_brings_tree_vectors_and_tags_elsewhere(running: Running, root: str, tmp_path: Path) -> None:
    sync = KnowledgeSync(running.client, head(root), tmp_path / "one", running.server.workspace)
    await sync.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "阿青在渡口系船。", source="s1")
    await sync.put_resource("profiles/characters/e1", "阿青", "船家女", "渡口船家之女。", "", position=1)
    pack = tmp_path / "book.pack"
    await sync.export_pack(pack)
    moved = KnowledgeSync(running.client, head(f"{root}-moved"), tmp_path / "two", running.server.workspace)
    await moved.put_chapter(RAIN, RAIN_TEXT, "rain", "rain")
    embedded = len(running.model.embedded)
    await sync.clear()
    await moved.import_pack(pack)
    assert moved.sources() == {layout.chapter_subject(RIVER.id): "s1", "profiles/characters/e1": ""}
    assert not await moved.put_chapter(RIVER, RIVER_TEXT, "阿青渡河", "阿青在渡口系船。")
    assert await moved.repair(thorough=True) == ()
    assert not [text for text in running.model.embedded[embedded:] if "阿青" in text]
    for level in (0, 1, 2):
        tagged = await running.client.find(
            "阿青", level=level, target_uri=f"{root}-moved", limit=9, tags=["scope=manuscript"]
        )
        assert tagged, level
    assert await read_scenes(running, f"{root}-moved", RIVER) == RIVER_TEXT


async def test_a_pack_with_other_vectors_is_refused(running: Running, root: str, tmp_path: Path) -> None:
    other = KnowledgeSync(running.client, Head(root, "zh", "another embedder"), tmp_path / "one")
    await other.put_chapter(RIVER, "灯火。\n", "L0", "L1")
    pack = tmp_path / "book.pack"
    await other.export_pack(pack)
    sync = KnowledgeSync(running.client, head(root), tmp_path / "two")
    with pytest.raises(KnowledgeError, match="does not belong"):
        await sync.import_pack(pack)
    assert await read_scenes(running, root, RIVER) == "灯火。\n"
    pack.write_bytes(pack.read_bytes()[:500])
    with pytest.raises(KnowledgeError, match="does not belong"):
        await other.import_pack(pack)
    assert await read_scenes(running, root, RIVER) == "灯火。\n"
