"""Language models behind the OpenAI protocol: one client, recorded and replayed."""
