"""Each option of the public API, with where it is shown that it has an effect or is refused."""
