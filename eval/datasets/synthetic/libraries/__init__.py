"""Answers of `llm=grammar` to the prompts of real libraries."""
