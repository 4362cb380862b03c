"""Rankings as retrieval research measures them: tables, curves, and rankings of others scored."""
