"""The benchmark harness: commands, and the packages that they share."""
