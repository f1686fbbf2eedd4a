"""Finds names of people, places and things by rule, in Chinese and English."""
