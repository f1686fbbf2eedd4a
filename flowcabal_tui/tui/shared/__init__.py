"""Parts that several subjects share: the table of actions, lists, texts to read, questions to the writer."""
