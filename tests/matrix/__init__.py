"""Every type of Spark with its edges, as key and as value of every aggregate, beside Spark's own
``groupBy``. What comes of it is the table of the page on types, and the test holds it."""
