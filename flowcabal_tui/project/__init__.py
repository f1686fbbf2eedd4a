"""A project: a folder with a novel in it. `Project` is the one facade for the screen and the command line."""

from flowcabal_tui.project.create import create_demo, create_project
from flowcabal_tui.project.project import Project

__all__ = ["Project", "create_demo", "create_project"]
