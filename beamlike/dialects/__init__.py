"""Other systems' windows by name, in their own words: Kafka Streams, Flink, Apex, Akka.

    from beamlike.dialects import kafka

    visits = (
        kafka.group_by_key()
        .windowed_by(kafka.SessionWindows.of_inactivity_gap_and_grace("5 minutes", "1 minute"))
        .count()
    )
    driver = visits.driver()
    rows = driver.pipe_input("joe", "open app", timestamp=0)

None of them has an engine of its own. A dialect says what it means as a `WindowingStrategy` and a
combine function, which the machine of this package runs; ``.strategy`` of every result shows it,
and its parts can be given to whatever groups in this package. What a dialect adds is a mapping at
the edge: how its elements and watermarks become events of the machine, and how panes and drops
become its rows. So far that edge is there in memory, where each dialect is fed as the test harness
of its system is.

Read in this order: `rows` (what comes out, for all dialects), `stages` (one stage in memory, and
what comes out of one element), `folds` (combine functions that they need), then the dialects:
`kafka` with `kafka_driver` and `kafka_store`, `flink` with `flink_words` and `flink_harness`,
`apex` with `apex_words`, and `akka`.

What is a mapping at the edge
    * Closed bounds ``[first, last]`` (Kafka): a session of ``gap + 1 ms`` that ends at ``e`` has
      its last element at ``e - gap - 1``. The timestamp of a row follows from its window.
    * A changelog with tombstones (Kafka): retracting panes, each withdrawn one a tombstone.
    * Rows that wait for a commit (Kafka's record cache): the rows of single records, of which the
      last for each window is kept.
    * A store that still shows closed sessions (Kafka): a view of what came out, by which nothing
      is grouped.
    * A record that is answered and not stored (KIP-94): a drop that is aggregated alone.
    * A watermark that includes its own instant (Flink), or that leaves out the end of a window
      (Apex): ours is one millisecond after, or before.
    * Stream time (Kafka): a watermark that each record moves before it is judged.
    * Processing time (Flink, Akka): elements stamped with their arrival, and the clock as
      watermark. Asking only from time to time whether a session is over (Akka), or at the end of a
      batch (Apex): a watermark that moves only then.
    * Elements in none of their windows (Flink's late output): those with as many drops as windows.
    * Elements that are judged by themselves, by another convention of the watermark (Apex): judged
      before the machine sees them.
    * Windows that end without a word (Flink with a count, Apex): the pane with which a window of
      ours expires is left out.

What is a knob of the model
    ``late_check`` says what must not be over for an element to be taken: ``merged``, the window
    after merging, is Flink's and Kafka's. ``Sessions(merge_touching=True)`` joins sessions of which
    one begins as the other ends (Flink). ``unchanged="omit"`` leaves out panes with the value of
    the one before (Apex). The trigger, the accumulation and the allowed lateness are Beam's.

What needs a concept that the model does not have
    * A hook after each firing, for what a pane leaves behind: evictors that run after the function
      or measure a distance (Flink).
    * Drops by a bound of a pane as effects of the machine (Akka): here the edge sees them, because
      in memory it can look into the state.
    * Triggers in event time and by data (Flink's continuous and delta triggers), and since the
      latest element (Flink's timeout).
    * Firings in a rhythm of the window's own, whether anything is new or not, and conditions that
      count over all keys of a window (Apex).
    * A rate for each key (Kafka's ``suppress`` by time).
    * Windows of length 0 (Flink's custom assigners).

What is not reproduced
    A session is never found again once it is closed, however long a store keeps it; a result that
    is final comes once; a session closes at the same instant whatever was cached, and whatever the
    phase of a timer. Where a system loses data or counts it twice, the cases in
    ``tests/conformance/dialects`` say so, and their test says what comes out here.
"""
