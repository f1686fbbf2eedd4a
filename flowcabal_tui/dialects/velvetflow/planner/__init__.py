"""The tools of VelvetFlow's planner, with its recorded schemas and answers.

The names and the schemas of the tools and the wording of their answers are VelvetFlow's (LICENSE.velvetflow.txt).
"""
