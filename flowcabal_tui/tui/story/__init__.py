"""What the story screens say of entities and records, and what they make of typed words. Pure."""
