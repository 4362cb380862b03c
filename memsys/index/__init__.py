"""Vector and lexical search, and the terms they share."""
