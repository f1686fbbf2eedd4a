"""The tools of VelvetFlow's planner, with the schemas and the answers that were recorded of it.

The names and the schemas of the tools and the wording of their answers are VelvetFlow's (LICENSE.velvetflow.txt).
"""
