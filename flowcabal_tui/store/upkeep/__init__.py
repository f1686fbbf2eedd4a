"""Care of the file as a whole: purging, repair, copies."""
