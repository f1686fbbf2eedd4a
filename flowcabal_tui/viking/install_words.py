"""The plan and the progress of an installation in words, for the command line and the screen."""

from __future__ import annotations

from flowcabal_tui.locale import _
from flowcabal_tui.viking.installed import LICENCE, VERSION
from flowcabal_tui.viking.installer import FETCHED_MEGABYTES, INSTALLED_MEGABYTES, PACKAGES, InstallPlan, Progress


def plan_rows(plan: InstallPlan) -> tuple[tuple[str, str], ...]:
    """Names and values of everything to know before anything is fetched."""
    size = _("about {fetched} MB in {n} packages; about {installed:,} MB on the disk, {free:,} MB are free")
    unknown = _("not known; depends on the configuration of {tool}").format(tool=plan.tool)
    sources = _(", ").join(plan.sources) or unknown
    return (
        (_("program"), f"openviking {VERSION}"),
        (
            _("licence"),
            _("{licence}: a separate program, used over HTTP only").format(licence=LICENCE),
        ),
        (
            _("size"),
            size.format(fetched=FETCHED_MEGABYTES, n=PACKAGES, installed=INSTALLED_MEGABYTES, free=plan.free_megabytes),
        ),
        (_("from"), _("{sources}, by {tool} with your own settings").format(sources=sources, tool=plan.tool)),
        (_("to"), str(plan.folder)),
        *([(_("note"), _("files from an earlier attempt are used"))] if plan.continues else []),
    )


def progress_words(progress: Progress) -> str:
    """The progress on one line."""
    words = {
        "environment": _("making the environment"),
        "fetching": _("fetching"),
        "installing": _("installing"),
        "proving": _("starting it once"),
    }[progress.step]
    if not progress.total:
        return words
    return _("{step}: {done} of {total} packages").format(step=words, done=progress.done, total=progress.total)
