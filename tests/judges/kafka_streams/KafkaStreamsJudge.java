import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.api.*;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Plays cases of Kafka Streams on Kafka Streams, by its TopologyTestDriver.
 *
 * <pre>KafkaStreamsJudge OUT.json FILE...</pre>
 */
@SuppressWarnings({"unchecked", "rawtypes"})
public final class KafkaStreamsJudge {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ByteArrayOutputStream LOG = new ByteArrayOutputStream();
  private static final String STORE = "judged";
  private static final Named NAME = Named.as("aggregate");

  /** What the log says of a record whose window is closed. */
  private static final Pattern EXPIRED =
      Pattern.compile("expired window.*window=\\[(-?\\d+),(-?\\d+)[\\])]");

  /** A retention that no case reaches, where a case does not say how long its store keeps. */
  private static final long LONG_MS = 100_000_000L;

  private KafkaStreamsJudge() {}

  private static final class Unsupported extends RuntimeException {
    Unsupported(String reason) {
      super(reason);
    }
  }

  private static String text(JsonNode node) {
    return node == null || node.isNull() ? null : node.isTextual() ? node.asText() : node.toString();
  }

  private static Duration duration(long millis) {
    return Duration.ofMillis(millis);
  }

  private static ArrayNode bounds(Window window) {
    return JSON.createArrayNode().add(window.start()).add(window.end());
  }

  // -- the topology of a case ----------------------------------------------------------------

  private static final class Run {
    private final JsonNode spec;
    private final String emit;
    private final String aggregate;
    private final boolean caches;
    private final ArrayNode rows = JSON.createArrayNode();
    private final List<JsonNode> batch = new ArrayList<>();
    private final List<Integer> stepsOfBatch = new ArrayList<>();
    private TopologyTestDriver driver;
    private int step;
    private double dropsSoFar;

    Run(JsonNode spec) {
      this.spec = spec;
      this.emit = spec.path("emit").asText("on_update");
      this.aggregate = spec.get("aggregate").asText();
      this.caches = spec.path("store").path("kind").asText().equals("cached");
    }

    private Materialized materialized(boolean numbers, long least) {
      JsonNode store = spec.path("store");
      Materialized materialized =
          Materialized.as(STORE)
              .withKeySerde((Serde) Serdes.String())
              .withValueSerde(numbers ? (Serde) Serdes.Long() : (Serde) Serdes.String());
      materialized = caches ? materialized.withCachingEnabled() : materialized.withCachingDisabled();
      if (store.path("kind").asText().equals("in_memory")) {
        materialized = materialized.withStoreType(Materialized.StoreType.IN_MEMORY);
      }
      if (store.hasNonNull("retention_ms")) {
        return materialized.withRetention(duration(Math.max(least, store.get("retention_ms").asLong())));
      }
      return store.has("kind") ? materialized : materialized.withRetention(duration(LONG_MS));
    }

    private Topology topology(Properties properties) {
      StreamsBuilder builder = new StreamsBuilder();
      Consumed consumed = Consumed.with(Serdes.String(), Serdes.String());
      KStream<String, String> stream = builder.stream("in1", consumed);
      if (emit.equals("cached_update")) {
        stream = stream.processValues(Unpack::new);
      }
      Grouped grouping = Grouped.with(Serdes.String(), Serdes.String());
      KGroupedStream<String, String> grouped = stream.groupByKey(grouping);
      EmitStrategy strategy =
          emit.equals("on_close") ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate();
      KTable table;
      if (!spec.get("window").get("type").asText().equals("session")) {
        table = overTimeWindows(grouped, strategy);
      } else if (aggregate.equals("signed0")) {
        if (emit.equals("on_close")) {
          throw new Unsupported("cogrouped sessions have no emit strategy");
        }
        Aggregator<String, String, String> append = (key, value, total) -> total + value;
        KGroupedStream<String, String> other =
            builder.<String, String>stream("in2", consumed).groupByKey(grouping);
        table =
            grouped
                .cogroup(append)
                .cogroup(other, append)
                .windowedBy(sessions())
                .aggregate(
                    () -> "0", (key, one, two) -> one + "+" + two, NAME, materialized(false, 0));
      } else {
        table = overSessions(grouped.windowedBy(sessions()).emitStrategy(strategy));
      }
      if (emit.equals("suppress_until_close")) {
        table = table.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()));
      }
      table.toStream().process(Capture::new);
      return builder.build(properties);
    }

    private SessionWindows sessions() {
      long gap = spec.get("window").get("gap_ms").asLong();
      long grace = spec.path("grace_ms").asLong();
      return SessionWindows.ofInactivityGapAndGrace(duration(gap), duration(grace));
    }

    private KTable overSessions(SessionWindowedKStream<String, String> windowed) {
      return aggregate.equals("count")
          ? windowed.count(NAME, materialized(true, 0))
          : windowed.reduce(reducer(), NAME, materialized(false, 0));
    }

    private KTable overTimeWindows(KGroupedStream<String, String> grouped, EmitStrategy strategy) {
      JsonNode window = spec.get("window");
      Duration grace = duration(spec.path("grace_ms").asLong());
      TimeWindowedKStream<String, String> windowed;
      long least = grace.toMillis();
      switch (window.get("type").asText()) {
        case "tumbling", "sliding" -> {
          Duration size = duration(window.get("size_ms").asLong());
          least += size.toMillis();
          TimeWindows windows = TimeWindows.ofSizeAndGrace(size, grace);
          windowed =
              grouped.windowedBy(
                  window.has("slide_ms")
                      ? windows.advanceBy(duration(window.get("slide_ms").asLong()))
                      : windows);
        }
        case "by_record" -> {
          Duration difference = duration(window.get("difference_ms").asLong());
          least += 2 * difference.toMillis();
          windowed =
              grouped.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(difference, grace));
        }
        default -> throw new Unsupported("windows of the type " + window.get("type").asText());
      }
      windowed = windowed.emitStrategy(strategy);
      return aggregate.equals("count")
          ? windowed.count(NAME, materialized(true, least))
          : windowed.reduce(reducer(), NAME, materialized(false, least));
    }

    private Reducer<String> reducer() {
      if (!aggregate.startsWith("reduce:")) {
        throw new Unsupported("the aggregate " + aggregate);
      }
      String between = aggregate.substring("reduce:".length());
      return (one, two) -> one + between + two;
    }

    /** Writes down each row of the table. */
    private final class Capture extends ContextualProcessor<Object, Object, Void, Void> {
      @Override
      public void process(Record<Object, Object> record) {
        Windowed<String> key = (Windowed<String>) record.key();
        ObjectNode row = row(record.value() == null ? "tombstone" : "value", key.key(), record.timestamp());
        row.set("value", JSON.valueToTree(record.value()));
  row.set("window", bounds(key.window()));
        rows.add(row);
      }
    }

    /** Unpacks the records of a batch: the driver commits, and flushes caches, after each input. */
    private final class Unpack implements FixedKeyProcessor<String, String, String> {
      private FixedKeyProcessorContext<String, String> context;

      @Override
      public void init(FixedKeyProcessorContext<String, String> context) {
        this.context = context;
      }

      @Override
      public void process(FixedKeyRecord<String, String> record) {
        int flushed = step;
        for (int index = 0; index < batch.size(); index++) {
          JsonNode element = batch.get(index);
          step = stepsOfBatch.get(index);
          context.forward(
              InternalFixedKeyRecordFactory.create(
                  new Record<>(
                      text(element.get("key")),
                      text(element.get("value")),
                      element.get("ts_ms").asLong())));
          noteDrops(element);
        }
        step = flushed;
      }
    }

    private ObjectNode row(String kind, String key, long timestamp) {
      ObjectNode row = JSON.createObjectNode().put("step", step).put("kind", kind).put("key", key);
      row.putNull("value").putNull("window");
      return row.put("ts_ms", timestamp);
    }

    private void noteDrops(JsonNode element) {
      double drops =
          driver.metrics().entrySet().stream()
              .filter(metric -> metric.getKey().name().equals("dropped-records-total"))
              .mapToDouble(metric -> ((Number) metric.getValue().metricValue()).doubleValue())
              .sum();
      Matcher windows = EXPIRED.matcher(LOG.toString());
      LOG.reset();
      for (; dropsSoFar < drops; dropsSoFar++) {
        ObjectNode row = row("dropped", text(element.get("key")), element.get("ts_ms").asLong());
        row.set("value", element.get("value"));
        if (windows.find()) {
          ArrayNode bounds = row.putArray("window");
          bounds.add(Long.parseLong(windows.group(1))).add(Long.parseLong(windows.group(2)));
          row.put("reason", "expired_window");
        } else {
          row.put("reason", element.hasNonNull("key") ? "expired_segment" : "null_key");
        }
        rows.add(row);
      }
    }

    void play(ObjectNode answer) throws IOException {
      Path folder = Files.createTempDirectory("judge");
      Properties properties = properties(folder);
      try (TopologyTestDriver driver = new TopologyTestDriver(topology(properties), properties)) {
        this.driver = driver;
        Map<Integer, TestInputTopic<String, String>> topics = new HashMap<>();
        for (int number = 1; number <= (aggregate.equals("signed0") ? 2 : 1); number++) {
          topics.put(
              number,
              driver.createInputTopic(
                  "in" + number, new StringSerializer(), new StringSerializer()));
        }
        TreeSet<String> keys = new TreeSet<>();
        for (step = 0; step < spec.get("steps").size(); step++) {
          JsonNode what = spec.get("steps").get(step);
          if (what.has("elements")) {
            for (JsonNode element : what.get("elements")) {
              if (element.hasNonNull("key")) {
                keys.add(text(element.get("key")));
              }
              arrive(topics, element);
            }
          } else if (what.has("flush_cache")) {
            topics.get(1).pipeInput("batch", "batch", 0L);
            batch.clear();
            stepsOfBatch.clear();
          } else {
            throw new Unsupported("the step " + what.fieldNames().next() + " in the test driver");
          }
        }
        answer.set("rows", rows);
        if (spec.has("expect_state")) {
          showState(keys, answer.putArray("state"));
        }
      } finally {
        delete(folder);
      }
    }

    private void arrive(Map<Integer, TestInputTopic<String, String>> topics, JsonNode element) {
      if (emit.equals("cached_update")) {
        batch.add(element);
        stepsOfBatch.add(step);
        return;
      }
      topics
          .get(element.path("stream").asInt(1))
          .pipeInput(
              text(element.get("key")), text(element.get("value")), element.get("ts_ms").asLong());
      noteDrops(element);
    }

    private void showState(TreeSet<String> keys, ArrayNode state) {
      SessionStore<String, Object> store = driver.getSessionStore(STORE);
      for (String key : keys) {
        try (KeyValueIterator<Windowed<String>, Object> sessions = store.fetch(key)) {
          sessions.forEachRemaining(
              session -> {
                ObjectNode shown = state.addObject().put("key", key);
                shown.set("window", bounds(session.key.window()));
                shown.set("value", JSON.valueToTree(session.value));
              });
        }
      }
    }
  }

  private static Properties properties(Path folder) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "judge");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    // Results on close are held back by the wall clock; cases have only stream time.
    properties.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, 0L);
    return properties;
  }

  private static void delete(Path folder) throws IOException {
    try (var paths = Files.walk(folder)) {
      paths.sorted((one, other) -> other.compareTo(one)).map(Path::toFile).forEach(File::delete);
    }
  }

  // -- questions -----------------------------------------------------------------------------

  /** What a session store answers after puts and removals. */
  private static void askStore(JsonNode spec, ArrayNode answers) throws IOException {
    Topology topology = new Topology();
    List<Consumer<SessionStore<String, Long>>> operations = new ArrayList<>();
    topology.addSource("source", Serdes.String().deserializer(), Serdes.String().deserializer(), "in");
    ProcessorSupplier<String, String, Void, Void> operate =
        () ->
            new ContextualProcessor<>() {
              @Override
              public void process(Record<String, String> record) {
                operations.remove(0).accept(context().getStateStore(STORE));
              }
            };
    topology.addProcessor("operate", operate, "source");
    topology.addStateStore(
        Stores.sessionStoreBuilder(
                Stores.persistentSessionStore(STORE, duration(spec.get("retention_ms").asLong())),
                Serdes.String(),
                Serdes.Long())
            .withCachingDisabled()
            .withLoggingDisabled(),
        "operate");
    Path folder = Files.createTempDirectory("judge");
    try (TopologyTestDriver driver = new TopologyTestDriver(topology, properties(folder))) {
      var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
      for (JsonNode step : spec.get("steps")) {
        operations.add(store -> operate(store, step, answers));
        input.pipeInput("key", "value", 0L);
      }
    } finally {
      delete(folder);
    }
  }

  private static void operate(SessionStore<String, Long> store, JsonNode step, ArrayNode answers) {
    if (step.has("put") || step.has("remove")) {
      JsonNode spec = step.has("put") ? step.get("put") : step.get("remove");
      Windowed<String> session =
          new Windowed<>(
              spec.get("key").asText(),
              new SessionWindow(
                  spec.get("window").get(0).asLong(), spec.get("window").get(1).asLong()));
      if (step.has("remove")) {
        store.remove(session);
      } else {
        store.put(session, spec.hasNonNull("value") ? spec.get("value").asLong() : null);
      }
    } else if (step.has("fetch_session")) {
      JsonNode spec = step.get("fetch_session");
      JsonNode window = spec.get("window");
      answers.add(
          JSON.<JsonNode>valueToTree(
              store.fetchSession(
                  spec.get("key").asText(), window.get(0).asLong(), window.get(1).asLong())));
    } else {
      KeyValueIterator<Windowed<String>, Long> sessions;
      if (step.has("fetch")) {
        sessions = store.fetch(step.get("fetch").get("key").asText());
      } else {
        JsonNode spec = step.get("find_sessions");
        String key = spec.get("key").asText();
        long earliestEnd = spec.get("earliest_end").asLong();
        long latestStart = spec.get("latest_start").asLong();
        sessions =
            spec.path("backward").asBoolean()
                ? store.backwardFindSessions(key, earliestEnd, latestStart)
                : store.findSessions(key, earliestEnd, latestStart);
      }
      ArrayNode found = answers.addArray();
      sessions.forEachRemaining(
          session -> {
            ArrayNode entry = found.addArray().add(session.key.key());
            entry.add(bounds(session.key.window())).add(session.value);
          });
      sessions.close();
    }
  }

  private static boolean isAccepted(JsonNode settings) {
    try {
      SessionWindows windows =
          SessionWindows.ofInactivityGapAndGrace(
              duration(settings.get("gap_ms").asLong()),
              duration(settings.path("grace_ms").asLong()));
      if (settings.has("retention_ms")) {
        StreamsBuilder builder = new StreamsBuilder();
        Materialized materialized = Materialized.as(STORE);
        builder.<String, String>stream("in").groupByKey().windowedBy(windows)
            .count(materialized.withRetention(duration(settings.get("retention_ms").asLong())));
        builder.build();
      }
      return true;
    } catch (IllegalArgumentException refused) {
      return false;
    }
  }

  // -- the command ---------------------------------------------------------------------------

  private static ObjectNode play(JsonNode spec) {
    ObjectNode answer = JSON.createObjectNode();
    answer.set("id", spec.get("id"));
    try {
      if (spec.has("rule")) {
        throw new Unsupported("the rule of the proposal, which was never released");
      }
      switch (spec.get("kind").asText()) {
        case "stream" -> new Run(spec).play(answer);
        case "store" -> askStore(spec, answer.putArray("answers"));
        case "validation" -> {
          ArrayNode answers = answer.putArray("answers");
          spec.get("cases").forEach(settings -> answers.add(isAccepted(settings)));
        }
        default -> throw new Unsupported("a question of the kind " + spec.get("kind").asText());
      }
    } catch (Unsupported reason) {
      answer.put("unsupported", reason.getMessage());
    } catch (Exception problem) {
      Throwable cause = problem;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      answer.put("error", cause.toString());
    }
    return answer;
  }

  /** Reads cases, plays those of Kafka, and writes one document with what came out. */
  public static void main(String[] arguments) throws Exception {
    System.setErr(new PrintStream(LOG, true));
    ObjectNode document = JSON.createObjectNode();
    Properties build = new Properties();
    build.load(StreamsConfig.class.getResourceAsStream("/kafka/kafka-version.properties"));
    document.put("engine", "Kafka Streams").put("version", build.getProperty("version"));
    ArrayNode results = document.putArray("scenarios");
    for (int index = 1; index < arguments.length; index++) {
      for (JsonNode spec : JSON.readTree(new File(arguments[index]))) {
        if (spec.get("dialect").asText().equals("kafka")) {
          results.add(play(spec));
        }
      }
    }
    JSON.writeValue(new File(arguments[0]), document);
    System.exit(0);
  }
}
