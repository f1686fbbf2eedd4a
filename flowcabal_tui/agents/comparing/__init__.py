"""Candidates of one step: how their paragraphs meet the plan, where those of a result come from, and its seams."""
