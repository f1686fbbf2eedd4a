from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.context import Scene
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.runs.scene_form import scene_notice
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

RECEIPT = books.receipt(books.EN)
START = books.EN.texts[0].index(books.EN.source_quote)
END = START + len(books.EN.source_quote)


def host() -> tuple[Host, ReceiptPane]:
    pane = ReceiptPane()
    return Host(pane), pane


def screen_text(app: Host) -> str:
    """The rows, with one blank between words."""
    return "\n".join(" ".join(row.split()) for row in shown(app))


async def test_total_bars_sources_by_class_and_notes_are_shown() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 30)) as pilot:
        pane.show(RECEIPT, "Draft")
        await pilot.pause()
        screen = screen_text(app)
        assert "Draft 2,310 of 25,000 tokens" in screen
        assert "the knowledge server was not asked" in screen
        assert "previous chapters" in screen
        assert "█▓▒▒▒▞▞▞···" in screen, "one bar, a class beside the other"
        assert "answers" not in screen, "a class of which nothing went in has no bar"
        assert "outline 420 always included" in screen
        assert "The Ferry summary 200 previous chapter" in screen
        rows = screen.splitlines()
        first = next(n for n, row in enumerate(rows) if row.startswith("Empty City"))
        assert rows.index("▒ previous chapters 810") < first


async def test_the_scene_is_shown_with_whose_word_it_is_and_asked_for_by_a_key() -> None:
    app, pane = host()
    intent = replace(RECEIPT.intent, where="the quay", by=(("where", "writer"), ("kind", "model")))
    async with app.run_test(size=(120, 30)) as pilot:
        pane.show(replace(RECEIPT, intent=intent), "Draft")
        await pilot.pause()
        screen = screen_text(app)
        assert f"who: {books.EN.hero}\nwhere: the quay (set by you)\nkind" in screen
        assert "kind of scene: dialogue (by the agents' model)" in screen
        await pilot.press("tab", "e")
        (asked,) = app.posted(ReceiptPane)
        assert isinstance(asked, ReceiptPane.SceneRequested) and asked.receipt.intent == intent


async def test_what_is_not_there_yet_makes_the_total_an_at_most() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 30)) as pilot:
        pane.show(books.receipt(books.EN, books.POLISH), "Polish")
        await pilot.pause()
        assert "at most 2,310 of 25,000 tokens" in screen_text(app)
        assert "not written yet: output of plan" in screen_text(app)


async def test_enter_opens_the_source_at_the_characters_that_went_in() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 30)) as pilot:
        pane.show(RECEIPT, "Draft")
        await pilot.press("tab", "enter", "j", "j", "j", "j", "enter")
        assert app.posted(ReceiptPane) == [
            ReceiptPane.SourceOpened("meta/outline", -1, -1),
            ReceiptPane.SourceOpened("manuscript/chapter-1", START, END),
        ]


async def test_what_was_left_out_is_folded_under_its_count() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 30)) as pilot:
        pane.show(RECEIPT, "Draft")
        await pilot.press("tab")
        assert "[+] left out: 2" in screen_text(app)
        assert "class budget used up" not in screen_text(app)
        await pilot.press("G", "enter", "j", "enter")
        await pilot.pause()
        assert "earlier places 800 class budget used up" in screen_text(app)
        assert app.posted(ReceiptPane) == [ReceiptPane.SourceOpened("manuscript/chapter-2#0", -1, -1)]


async def test_c_compares_with_the_receipt_before_of_the_same_node() -> None:
    app, pane = host()
    changed = replace(
        RECEIPT, used=2_000, sources=(replace(RECEIPT.sources[0], level="L1"), *RECEIPT.sources[2:], RECEIPT.sources[1])
    )
    new = replace(RECEIPT.sources[1], uri="profiles/characters/joss", title="Joss")
    async with app.run_test(size=(90, 34)) as pilot:
        pane.show(RECEIPT, "Draft")
        await pilot.press("tab", "c")
        assert "compared" not in screen_text(app)
        pane.show(replace(changed, sources=(*changed.sources[:-1], new)), "Draft")
        await pilot.press("c")
        await pilot.pause()
        screen = screen_text(app)
        assert "compared with the previous receipt (2,310 tokens)" in screen
        assert "~ outline full text > summary" in screen
        assert "+ Joss" in screen
        assert "- Mara" in screen
        await pilot.press("c")
        await pilot.pause()
        assert "- Mara" not in screen_text(app)


async def test_an_earlier_receipt_can_be_given_and_one_that_is_the_same_is_said_to_be() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 34)) as pilot:
        pane.show(RECEIPT, "Draft", RECEIPT)
        await pilot.press("tab", "c")
        await pilot.pause()
        assert [item.message for item in app._notifications] == ["It is the same as the previous receipt."]
        assert "compared" not in screen_text(app)
        pane.show(RECEIPT, "Draft", replace(RECEIPT, sources=RECEIPT.sources[:-1]))
        await pilot.press("c")
        await pilot.pause()
        assert "+ Rain" in screen_text(app)


async def test_the_receipts_of_two_chapters_are_compared_though_other_nodes_were_looked_at_between() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 34)) as pilot:
        pane.show(replace(RECEIPT, sources=RECEIPT.sources[:-1], used=1_900), "Draft, chapter 2")
        pane.show(books.receipt(books.EN, books.POLISH), "Polish, chapter 3")
        pane.show(RECEIPT, "Draft, chapter 3")
        await pilot.press("tab", "c")
        await pilot.pause()
        screen = screen_text(app)
        assert "compared with the previous receipt (Draft, chapter 2, 1,900 tokens)" in screen
        assert "+ Rain" in screen


async def test_what_is_cut_in_a_row_is_told_in_full_below_the_list() -> None:
    app, pane = host()
    async with app.run_test(size=(46, 34)) as pilot:
        long = replace(RECEIPT.sources[0], title="Empty City", reason="沈月上次见到魏长河的那一夜，在空城的渡口等船")
        pane.show(replace(RECEIPT, sources=(long,)), "Draft")
        await pilot.press("tab")
        await pilot.pause()
        (row,) = (row for row in shown(app) if "Empty City" in row and "420" in row)
        assert "…" in row
        assert "沈月上次见到魏长河的那一夜，在空城的渡口等船" in "".join(screen_text(app).split())


async def test_a_reason_is_left_out_after_the_level_and_cut_at_its_end() -> None:
    app, pane = host()
    async with app.run_test(size=(48, 34)) as pilot:
        long = replace(
            RECEIPT.sources[0], level="L1", title="What the Clerk Kept", reason="named in the outline, twice"
        )
        pane.show(replace(RECEIPT, sources=(long,)), "Draft")
        await pilot.pause()
        (row,) = (row for row in shown(app) if "What the" in row and "420" in row)
        assert "420 named in the outline" in row, row


async def test_slash_goes_to_a_row_and_n_to_the_next() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 30)) as pilot:
        pane.show(RECEIPT, "Draft")
        await pilot.press("tab", "slash", *"previous", "enter", "n", "enter")
        assert app.posted(ReceiptPane) == [ReceiptPane.SourceOpened("manuscript/chapter-2", -1, -1, "L1")]


async def test_hostile_text_is_shown_as_words() -> None:
    app, pane = host()
    nasty = replace(RECEIPT.sources[0], title=HOSTILE, reason=HOSTILE + "雨" * 1_000_000)
    dropped = replace(RECEIPT.dropped[0], title=HOSTILE, rule=HOSTILE)
    async with app.run_test(size=(120, 30)) as pilot:
        pane.show(replace(RECEIPT, sources=(nasty,), dropped=(dropped,), pending=(HOSTILE,), notes=(HOSTILE,)), HOSTILE)
        await pilot.press("tab", "u")
        await pilot.pause()
        screen = screen_text(app)
        assert screen.count("[/] [b]bold[/b] red") >= 6
        assert "\x1b" not in screen
        assert "\u202e" not in screen


async def test_another_receipt_of_any_run_node_or_chapter_can_be_chosen_to_compare_with() -> None:
    app, pane = host()
    other = replace(RECEIPT, node=books.POLISH, chapter=books.chapter_id(2), sources=RECEIPT.sources[:2], used=600)
    async with app.run_test(size=(90, 34)) as pilot:
        pane.show(RECEIPT, "Draft, chapter 4")
        pane.focus_list()
        await pilot.press("o")
        assert app.posted(ReceiptPane) == [ReceiptPane.OtherRequested(RECEIPT)]
        pane.compare_with(other, "Polish, chapter 2")
        await pilot.pause()
        screen = screen_text(app)
        assert "compared with the previous receipt (Polish, chapter 2, 600 tokens)" in screen
        assert "previous chapters 0 > 810" in screen
        assert "+ Empty City" in screen


async def test_brackets_go_from_class_to_class_and_b_gives_the_room_of_the_bar_to_the_list() -> None:
    app, pane = host()
    many = tuple(replace(RECEIPT.sources[4], uri=f"manuscript/chapter-{n}", title=f"Place {n}") for n in range(300))
    async with app.run_test(size=(80, 21)) as pilot:
        pane.show(replace(RECEIPT, sources=(*RECEIPT.sources[:4], *many)), "Draft")
        pane.focus_list()
        await pilot.press("right_square_bracket", "right_square_bracket", "right_square_bracket", "enter")
        await pilot.press("right_square_bracket", "enter", "left_square_bracket", "enter")
        opened = [message.uri for message in app.posted(ReceiptPane)]
        assert opened == ["manuscript/chapter-0", "meta/outline", "manuscript/chapter-0"]
        before = sum("Place" in row for row in shown(app))
        await pilot.press("b")
        await pilot.pause()
        assert sum("Place" in row for row in shown(app)) == before + 2


def test_the_notice_of_a_scene_says_what_became_of_it() -> None:
    assert (
        scene_notice((Scene(where="the quay"), ("who",)))
        == "Kept for the chapter: it takes precedence over rule and model."
    )
    assert scene_notice((Scene(), ("who", "kind"))) == "Reset: it is read from the texts again."
    assert scene_notice((Scene(), ())) == ""


async def test_a_narrow_pane_leaves_out_the_reason_and_names_the_sources() -> None:
    app, pane = host()
    async with app.run_test(size=(28, 34)) as pilot:
        pane.show(RECEIPT, "Draft")
        await pilot.pause()
        rows = screen_text(app).splitlines()
        assert "▒ previous chapters 810" in rows
        assert "The Ferry 200" in rows
