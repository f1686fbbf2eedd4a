"""What several subjects of the screen share: the table of actions, lists, texts to read, questions to the writer."""
