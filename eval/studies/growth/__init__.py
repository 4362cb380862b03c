"""Growth: what retrieval loses as unrelated sessions are added to a store."""
