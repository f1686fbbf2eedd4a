"""Parts shared by several subjects: the table of actions, lists, texts to read, questions to the writer."""
