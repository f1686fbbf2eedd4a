"""What is made of kept text: overviews, names, records, profiles, arcs."""
