"""Who and what has a name: found by rule in Chinese and English."""
