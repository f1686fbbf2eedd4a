"""Candidates of one step: the alignment of their paragraphs with the plan, the origin of a result's paragraphs, and its
seams.
"""
