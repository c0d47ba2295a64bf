"""How a fitted model answers: embedding, completion, labels."""
