"""What the model of `llm=grammar` answers to the prompts of real libraries, each in a file."""
