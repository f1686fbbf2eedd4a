"""Every command into a project and every event out of it (docs/architecture.md), one module for each subject.

In the process they are frozen values; `messages.py` has the tables of all, and their JSON form.
"""
