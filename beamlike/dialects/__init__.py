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

Read in this order: `rows` (what comes out, for all dialects), `arguments` (checks of what users
pass), `stages` (one stage in memory, and what comes out of one element), `folds` (combine functions
that they need), `frames` (what all of them share over a DataFrame), then the dialects. Kafka
Streams: `kafka`, with `kafka_windows`, `kafka_table`, `kafka_store`, `kafka_suppress` and
`kafka_driver`. Flink: `flink`, with `flink_triggers`, `flink_evictors`, `flink_words` and
`flink_operator`. Apex: `apex`, with `apex_options`, `apex_accumulations`, `apex_operator` and
`apex_run`. Akka: `akka`.

What a dialect decides, and how this package writes it
    ========================================  ====================================================
    what                                      how it is written
    ========================================  ====================================================
    sessions a gap apart are one, shown with  ``Sessions(gap, merge_touching=True)``
    half-open bounds (Flink, Spark)
    the same with closed bounds (Kafka,       ``Sessions(gap + 1 ms)``; first and last element are
    Akka)                                     ``start`` and ``end - gap - 1 ms``
    a gap of its own for each element         ``Sessions(gap_of)``, with ``window_input``
    who is late                               ``late_check="merged"`` (Flink, Kafka),
                                              ``"element"`` (Apex), ``"assigned"`` (Beam)
    how long after its end a window waits     ``allowed_lateness``: Kafka's grace, Flink's and
                                              Apex's lateness
    what is late comes out as rows            ``output="all"``, or `Stream.everything`
    the watermark is the greatest time        ``watermark="0 s"``; Flink's and Apex's delays are
    so far (Kafka), or trails it              longer ones
    the watermark is the clock                ``idle_after`` and ``idle="advance"`` over times of
                                              arrival
    one result as a window closes (Kafka      ``trigger=Never()``, or ``AfterWatermark()`` where
    on close, Akka)                           nothing may be late
    a result for each update (Kafka)          ``trigger=Repeatedly(AfterCount(1))`` with
                                              ``accumulation="retracting"``
    tombstones and values (Kafka)             ``render="changelog"``
    values that are withdrawn (Apex)          ``render="retractions"``
    at the end, then for each late element    ``trigger=AfterWatermark(late=AfterCount(1))``
    (Flink)
    purging (Flink)                           ``accumulation="discarding"``
    continuous, with or without news          ``EveryEventTime``, ``EveryProcessingTime``; Apex's
    (Flink, Apex)                             times are such, counted from a firing
    every so many elements (Apex), a          ``EveryCount``, ``AfterDelta``, ``AfterSilence``
    distance, a timeout (Flink)
    an evictor that runs after (Flink)        `CombineFn.after_pane`
    only updated panes (Apex)                 ``unchanged="omit"``
    no more than so many elements             ``Sessions(gap, max_elements=n)`` opens the next
                                              session; dropping them (Akka) is a combine function
                                              such as `CombineFn.compact` is for
    ========================================  ====================================================

What is a mapping at the edge
    * Closed bounds ``[first, last]`` (Kafka), and the timestamp of a row, which follows from its
      window.
    * A changelog with tombstones (Kafka): retracting panes, each withdrawn one a tombstone.
    * Rows that wait for a commit (Kafka's record cache), or for stream time (``suppress``): the
      rows of single records, of which the last for each window is kept.
    * A store that still shows closed sessions (Kafka): a view of what came out, which is not
      used for grouping.
    * A record that is answered and not stored (KIP-94): a drop that is aggregated alone.
    * A watermark that includes its own instant (Flink), or that leaves out the end of a window
      (Apex): ours is one millisecond after, or before.
    * Stream time (Kafka): a watermark that each record moves before it is checked.
    * Processing time (Flink, Akka): elements stamped with their arrival, and the clock as
      watermark. Checking only from time to time whether a session is over (Akka), or at the end
      of a batch (Apex): a watermark that moves only then.
    * Elements in none of their windows (Flink's late output): those with as many drops as windows;
      and in memory those between windows, once the watermark and the lateness have passed them.
    * Elements for which a session has no room (Akka): the edge sees them, in memory by looking into
      the state, over a DataFrame in what the session emits.
    * Elements that are late by their own time, by another convention of the watermark (Apex):
      checked before the machine gets them.
    * Conditions of all keys of a window (Apex): one group that holds all keys.
    * Firings by time when a batch ends (Apex): a clock that moves only then. The watermark of two
      streams (Apex): one that moves when both have.
    * Windows that end without a pane (Flink with a count, Apex): the last pane of a window of
      ours is left out.

What is otherwise on Spark
    * The elements of a key in one micro-batch are one bundle: a trigger is checked once for them.
      So a table of Kafka has one change of each session for each micro-batch, as behind a record
      cache that is flushed there.
    * The watermark is of all partitions, and moves at the end of a micro-batch. Kafka's stream time
      is of one task and includes the record itself.
    * What is kept is in the query's state, and ends with it: open sessions can be read
      (``kafka.open_store``), closed ones cannot.
    * An element between sliding windows is in no row, late or not. Flink emits late ones.
    * Refused there: what stream time holds back, old values, KIP-94's answers (Kafka); inherited
      windows and conditions of all keys (Apex); checking only from time to time (Akka).

What is not reproduced
    A session is never found again once it is closed, however long a store or a record cache shows
    it; a result that is final comes once; a session closes at the same instant whatever was
    cached, and whatever the phase of a timer. Where a system loses data or counts it twice, the
    cases in ``tests/conformance/dialects`` show it, and their test has the output here.
"""
