"""Other systems' windows with their own APIs: Kafka Streams, Flink, Apex, Akka.

    from beamlike.dialects import kafka

    visits = (
        kafka.group_by_key()
        .windowed_by(kafka.SessionWindows.of_inactivity_gap_and_grace("5 minutes", "1 minute"))
        .count()
    )
    rows = visits.driver().pipe_input("joe", "open app", timestamp=0)
    frame = visits.on_dataframe(clicks, key="user", timestamp="at")

None of them has an engine of its own. A dialect is a `WindowingStrategy` and a
combine function, which the machine of this package runs; ``.strategy`` of every result shows it,
and its parts can be given to whatever groups in this package. What a dialect adds is a mapping at
the edge: how its elements and watermarks become events of the machine, and how panes and drops
become its rows. That edge is there twice: in memory, where each dialect is fed element by element
as the test harness of its system is, and over a DataFrame, streaming or bounded, where
``on_dataframe`` of every result gives the rows as columns.

Read in this order: `stages` (what comes out, for all dialects, checks of what users pass, and one
stage in memory), `folds` (combine functions that they need), `frames` (what all of them share over
a DataFrame), then the dialects. Kafka Streams: `kafka`, with `kafka_words` (its sessions, and when
results come out), `kafka_store`, `kafka_table` and `kafka_driver`. Flink: `flink`, with
`flink_triggers`, `flink_words` (windows and evictors) and `flink_operator`. Apex: `apex`, with
`apex_accumulations`, `apex_operator` and `apex_run`. Akka: `akka`.

How each choice of these systems is written with a strategy of this package, what is a mapping at
the edge, and what differs on Spark: the page "Other systems' windows" of the documentation.
"""
