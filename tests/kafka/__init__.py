"""A real broker of Kafka, and pipelines that read from it and write to it."""
