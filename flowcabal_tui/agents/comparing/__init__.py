"""Candidates of one step: their paragraphs beside the plan, the origins of a result's paragraphs, its seams."""
