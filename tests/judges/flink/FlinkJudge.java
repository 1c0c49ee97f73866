import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.functions.windowing.WindowFunction;
import org.apache.flink.streaming.api.functions.windowing.delta.DeltaFunction;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.*;
import org.apache.flink.streaming.api.windowing.evictors.*;
import org.apache.flink.streaming.api.windowing.triggers.*;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.api.windowing.windows.Window;
import org.apache.flink.streaming.runtime.operators.windowing.MergingWindowSet;
import org.apache.flink.streaming.runtime.operators.windowing.WindowOperatorBuilder;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Plays cases of Flink on its WindowOperator, in the keyed harness of Flink's own tests.
 *
 * <pre>FlinkJudge OUT.json FILE...</pre>
 */
@SuppressWarnings({"unchecked", "rawtypes"})
public final class FlinkJudge {
  private static final ObjectMapper JSON = new ObjectMapper();

  private FlinkJudge() {}

  private static final class Unsupported extends RuntimeException {
    Unsupported(String reason) {
      super(reason);
    }
  }

  // -- elements, as key, text of the value and gap; results, as key, text, start and end ------

  private static final TypeInformation<Tuple3<String, String, Long>> ELEMENTS =
      Types.TUPLE(Types.STRING, Types.STRING, Types.LONG);
  private static final OutputTag<Tuple3<String, String, Long>> LATE =
      new OutputTag<>("late", ELEMENTS) {};
  private static final String NO_KEY = "\u0000";
  private static final long NO_WINDOW = Long.MIN_VALUE;

  private static final class ByKey implements KeySelector<Tuple3<String, String, Long>, String> {
    @Override
    public String getKey(Tuple3<String, String, Long> element) {
      return element.f0;
    }
  }

  private static final class GapOfElement
      implements SessionWindowTimeGapExtractor<Tuple3<String, String, Long>> {
    @Override
    public long extract(Tuple3<String, String, Long> element) {
      return element.f2;
    }
  }

  private static final class Growth implements DeltaFunction<Tuple3<String, String, Long>> {
    @Override
    public double getDelta(
        Tuple3<String, String, Long> before, Tuple3<String, String, Long> after) {
      return Double.parseDouble(after.f1) - Double.parseDouble(before.f1);
    }
  }

  private static final class Sum
      implements WindowFunction<
          Tuple3<String, String, Long>, Tuple4<String, String, Long, Long>, String, Window> {
    @Override
    public void apply(
        String key,
        Window window,
        Iterable<Tuple3<String, String, Long>> elements,
        Collector<Tuple4<String, String, Long, Long>> out) {
      long sum = 0;
      for (Tuple3<String, String, Long> element : elements) {
        sum += Long.parseLong(element.f1);
      }
      boolean timed = window instanceof TimeWindow;
      out.collect(
          Tuple4.of(
              key,
              Long.toString(sum),
              timed ? ((TimeWindow) window).getStart() : NO_WINDOW,
              timed ? ((TimeWindow) window).getEnd() : NO_WINDOW));
    }
  }

  // -- the operator of a case ----------------------------------------------------------------

  private static Duration duration(JsonNode node, String field) {
    return Duration.ofMillis(node.path(field).asLong());
  }

  private static WindowAssigner assigner(JsonNode window) {
    if (!window.hasNonNull("type")) {
      throw new Unsupported("windows that come with elements");
    }
    boolean byClock = window.path("time").asText().equals("processing");
    Duration size = duration(window, "size_ms");
    Duration slide = duration(window, "slide_ms");
    Duration offset = duration(window, "offset_ms");
    return switch (window.get("type").asText()) {
      case "session" -> {
        Duration gap = duration(window, "gap_ms");
        if (!window.hasNonNull("gap_ms")) {
          yield byClock
              ? ProcessingTimeSessionWindows.withDynamicGap(new GapOfElement())
              : EventTimeSessionWindows.withDynamicGap(new GapOfElement());
        }
        yield byClock
            ? ProcessingTimeSessionWindows.withGap(gap)
            : EventTimeSessionWindows.withGap(gap);
      }
      case "tumbling" ->
          byClock
              ? TumblingProcessingTimeWindows.of(size, offset)
              : TumblingEventTimeWindows.of(size, offset);
      case "sliding" ->
          byClock
              ? SlidingProcessingTimeWindows.of(size, slide, offset)
              : SlidingEventTimeWindows.of(size, slide, offset);
      case "global" -> GlobalWindows.create();
      default -> throw new Unsupported("windows of the type " + window.get("type").asText());
    };
  }

  private static Trigger trigger(JsonNode trigger) {
    Duration interval = duration(trigger, "interval_ms");
    return switch (trigger.get("type").asText()) {
      case "event_time" -> EventTimeTrigger.create();
      case "processing_time" -> ProcessingTimeTrigger.create();
      case "count" -> CountTrigger.of(trigger.get("count").asLong());
      case "continuous_event_time" -> ContinuousEventTimeTrigger.of(interval);
      case "continuous_processing_time" -> ContinuousProcessingTimeTrigger.of(interval);
      case "delta" ->
          DeltaTrigger.of(
              trigger.get("threshold").asDouble(),
              new Growth(),
              ELEMENTS.createSerializer(new ExecutionConfig().getSerializerConfig()));
      case "purging" -> PurgingTrigger.of(trigger(trigger.get("of")));
      default -> throw new Unsupported("the trigger " + trigger.get("type").asText());
    };
  }

  private static Evictor evictor(JsonNode evictor) {
    boolean after = evictor.path("after").asBoolean();
    return switch (evictor.get("type").asText()) {
      case "count" -> CountEvictor.of(evictor.get("keep").asLong(), after);
      case "time" -> TimeEvictor.of(duration(evictor, "keep_ms"), after);
      default -> throw new Unsupported("the evictor " + evictor.get("type").asText());
    };
  }

  private static OneInputStreamOperator operator(JsonNode spec) {
    WindowAssigner assigner = assigner(spec.get("window"));
    WindowOperatorBuilder builder =
        new WindowOperatorBuilder(
            assigner,
            assigner.getDefaultTrigger(),
            new ExecutionConfig(),
            ELEMENTS,
            new ByKey(),
            Types.STRING);
    if (spec.hasNonNull("trigger")) {
      builder.trigger(trigger(spec.get("trigger")));
    }
    if (spec.path("allowed_lateness_ms").asLong() != 0) {
      builder.allowedLateness(duration(spec, "allowed_lateness_ms"));
    }
    if (spec.path("late_output").asBoolean()) {
      builder.sideOutputLateData(LATE);
    }
    if (spec.hasNonNull("evictor")) {
      builder.evictor(evictor(spec.get("evictor")));
    }
    if (!spec.get("aggregate").asText().equals("sum")) {
      throw new Unsupported("the aggregate " + spec.get("aggregate").asText());
    }
    return builder.apply(new Sum());
  }

  private static final class Run {
    private final JsonNode spec;
    private final ArrayNode rows;
    private OneInputStreamOperator operator;
    private KeyedOneInputStreamOperatorTestHarness harness;
    private int step;
    private int shown;
    private int shownLate;
    private long dropped;
    private long clock;
    private long watermark = Long.MIN_VALUE;

    Run(JsonNode spec, ArrayNode rows) {
      this.spec = spec;
      this.rows = rows;
    }

    private void start(OperatorSubtaskState saved) throws Exception {
      operator = operator(spec);
      harness = new KeyedOneInputStreamOperatorTestHarness(operator, new ByKey(), Types.STRING);
      harness.setProcessingTime(clock);
      TypeInformation results =
          Types.TUPLE(Types.STRING, Types.STRING, Types.LONG, Types.LONG);
      TypeSerializer serializer =
          results.createSerializer(new ExecutionConfig().getSerializerConfig());
      harness.setup(serializer);
      if (saved != null) {
        harness.initializeState(saved);
      }
      harness.open();
      shown = 0;
      shownLate = 0;
      dropped = 0;
    }

    void play() throws Exception {
      start(null);
      for (step = 0; step < spec.get("steps").size(); step++) {
        JsonNode what = spec.get("steps").get(step);
        if (what.has("elements")) {
          for (JsonNode element : what.get("elements")) {
            arrive(element);
          }
        } else if (what.has("advance_watermark_to_ms")) {
          watermark = what.get("advance_watermark_to_ms").asLong();
          harness.processWatermark(new Watermark(watermark));
        } else if (what.has("advance_watermark_to_infinity")) {
          harness.processWatermark(new Watermark(Long.MAX_VALUE));
        } else if (what.has("advance_processing_time_by_ms")) {
          clock += what.get("advance_processing_time_by_ms").asLong();
          harness.setProcessingTime(clock);
        } else if (what.has("snapshot_and_restore")) {
          OperatorSubtaskState saved = harness.snapshot(step, step);
          harness.close();
          start(saved);
          if (watermark != Long.MIN_VALUE) {
            // An operator does not save its watermark (FLINK-5601); the source says it again.
            harness.processWatermark(new Watermark(watermark));
          }
        } else {
          throw new Unsupported("the step " + what.fieldNames().next());
        }
        noteRows(null);
      }
      harness.close();
    }

    private void arrive(JsonNode element) throws Exception {
      if (element.has("windows") || element.has("stream")) {
        throw new Unsupported("elements with windows or streams");
      }
      String key = element.get("key").isNull() ? NO_KEY : element.get("key").asText();
      Tuple3<String, String, Long> tuple =
          Tuple3.of(key, element.get("value").asText(), element.path("gap_ms").asLong());
      harness.processElement(new StreamRecord<>(tuple, element.path("ts_ms").asLong()));
      noteRows(element);
    }

    /** Writes down what has come out since the last call, which {@code element} may have caused. */
    private void noteRows(JsonNode element) throws Exception {
      List<Object> outputs = new ArrayList<>(harness.getOutput());
      for (; shown < outputs.size(); shown++) {
        if (outputs.get(shown) instanceof StreamRecord<?> record) {
          var result = (Tuple4<String, String, Long, Long>) record.getValue();
          boolean timed = result.f2 != NO_WINDOW;
          ObjectNode row = row("value", result.f0, result.f1);
          if (timed) {
            row.putArray("window").add(result.f2).add(result.f3);
            row.put("ts_ms", record.getTimestamp());
          }
        }
      }
      var late = harness.getSideOutput(LATE);
      List<StreamRecord<Tuple3<String, String, Long>>> lateOnes =
          late == null ? List.of() : new ArrayList<>(late);
      for (; shownLate < lateOnes.size(); shownLate++) {
        var record = lateOnes.get(shownLate);
        row("late", record.getValue().f0, record.getValue().f1).put("ts_ms", record.getTimestamp());
      }
      long drops = dropCount();
      if (drops > dropped && element != null) {
        row("dropped", element.get("key").asText(), element.get("value").asText())
            .put("ts_ms", element.get("ts_ms").asLong())
            .put("reason", "late");
      }
      dropped = drops;
    }

    private ObjectNode row(String kind, String key, String number) {
      ObjectNode row = rows.addObject().put("step", step).put("kind", kind);
      row.put("key", key.equals(NO_KEY) ? null : key).put("value", Long.parseLong(number));
      return row.putNull("window").putNull("ts_ms");
    }

    private long dropCount() throws Exception {
      for (Class<?> type = operator.getClass(); type != null; type = type.getSuperclass()) {
        for (Field field : type.getDeclaredFields()) {
          if (field.getName().equals("numLateRecordsDropped")) {
            field.setAccessible(true);
            return ((Counter) field.get(operator)).getCount();
          }
        }
      }
      throw new IllegalStateException("the operator counts no drops");
    }
  }

  // -- questions -----------------------------------------------------------------------------

  private static TimeWindow window(JsonNode bounds) {
    return new TimeWindow(bounds.get(0).asLong(), bounds.get(1).asLong());
  }

  private static ArrayNode bounds(TimeWindow window) {
    return JSON.createArrayNode().add(window.getStart()).add(window.getEnd());
  }

  /** Windows in the order of their bounds. */
  private static ArrayNode sorted(Collection<TimeWindow> windows) {
    ArrayNode all = JSON.createArrayNode();
    windows.stream()
        .sorted(Comparator.comparing(TimeWindow::getStart).thenComparing(TimeWindow::getEnd))
        .forEach(one -> all.add(bounds(one)));
    return all;
  }

  private static void mergeWindows(JsonNode spec, ArrayNode answers) {
    List<TimeWindow> windows = new ArrayList<>();
    spec.get("windows").forEach(bounds -> windows.add(window(bounds)));
    EventTimeSessionWindows.withGap(Duration.ofMillis(1))
        .mergeWindows(
            windows,
            (merged, result) -> {
              ObjectNode answer = answers.addObject();
              answer.set("result", bounds(result));
              answer.set("merged", sorted(merged));
            });
  }

  /** A list state in memory, for a set of windows that is asked by itself. */
  private static final class Listed implements ListState<Tuple2<TimeWindow, TimeWindow>> {
    private List<Tuple2<TimeWindow, TimeWindow>> items = new ArrayList<>();

    @Override
    public void update(List<Tuple2<TimeWindow, TimeWindow>> values) {
      items = new ArrayList<>(values);
    }

    @Override
    public void addAll(List<Tuple2<TimeWindow, TimeWindow>> values) {
      items.addAll(values);
    }

    @Override
    public Iterable<Tuple2<TimeWindow, TimeWindow>> get() {
      return items;
    }

    @Override
    public void add(Tuple2<TimeWindow, TimeWindow> value) {
      items.add(value);
    }

    @Override
    public void clear() {
      items.clear();
    }
  }

  private static void askWindowSet(JsonNode spec, ArrayNode answers) throws Exception {
    MergingWindowSet<TimeWindow> windows =
        new MergingWindowSet<>(
            EventTimeSessionWindows.withGap(Duration.ofMillis(1)), new Listed());
    for (JsonNode step : spec.get("steps")) {
      if (step.has("retire")) {
        windows.retireWindow(window(step.get("retire")));
        continue;
      }
      List<TimeWindow> merged = new ArrayList<>();
      TimeWindow result =
          windows.addWindow(
              window(step.get("add")),
              (into, parts, stateOfResult, statesOfParts) -> merged.addAll(parts));
      answers.addObject().<ObjectNode>set("result", bounds(result)).set("merged", sorted(merged));
    }
  }

  // -- the command ---------------------------------------------------------------------------

  private static ObjectNode play(JsonNode spec) {
    ObjectNode answer = JSON.createObjectNode();
    answer.set("id", spec.get("id"));
    try {
      switch (spec.get("kind").asText()) {
        case "stream" -> new Run(spec, answer.putArray("rows")).play();
        case "merge_windows" -> mergeWindows(spec, answer.putArray("answers"));
        case "window_set" -> askWindowSet(spec, answer.putArray("answers"));
        default -> throw new Unsupported("a question of the kind " + spec.get("kind").asText());
      }
    } catch (Unsupported reason) {
      answer.remove("rows");
      answer.put("unsupported", reason.getMessage());
    } catch (Exception problem) {
      Throwable cause = problem;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      answer.remove("rows");
      answer.put("error", cause.toString());
    }
    return answer;
  }

  /** Reads cases, plays those of Flink, and writes one document with what came out. */
  public static void main(String[] arguments) throws Exception {
    ObjectNode document = JSON.createObjectNode();
    document.put("engine", "Apache Flink").put("version", EnvironmentInformation.getVersion());
    ArrayNode results = document.putArray("scenarios");
    for (int index = 1; index < arguments.length; index++) {
      for (JsonNode spec : JSON.readTree(new File(arguments[index]))) {
        if (spec.get("dialect").asText().equals("flink")) {
          results.add(play(spec));
        }
      }
    }
    JSON.writeValue(new File(arguments[0]), document);
    System.exit(0);
  }
}
