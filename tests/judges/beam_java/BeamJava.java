import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.beam.runners.core.ReduceFnTester;
import org.apache.beam.runners.direct.DirectOptions;
import org.apache.beam.runners.direct.DirectRunner;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.metrics.MetricResult;
import org.apache.beam.sdk.metrics.MetricsFilter;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.util.ReleaseInfo;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.WindowedValue;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * Plays scenarios on Apache Beam Java.
 *
 * <pre>BeamJava direct|core OUT.json FILE...</pre>
 *
 * {@code direct} is the DirectRunner with a TestStream. {@code core} is runners-core's
 * ReduceFnTester, one for each key, so that no key holds back the output watermark of another.
 */
public final class BeamJava {
  private static final long ENDING_MS = 4_000;
  private static final long STUCK_MS = 60_000;

  private BeamJava() {}

  // -- the DirectRunner ----------------------------------------------------------------------

  /** What one pipeline gives out, and the step that it is in. */
  private static final class Recorder {
    final String aggregation;
    final List<JsonNode> panes = Collections.synchronizedList(new ArrayList<>());
    volatile int step = -1;

    Recorder(String aggregation) {
      this.aggregation = aggregation;
    }
  }

  private static final Map<Integer, Recorder> RECORDERS = new ConcurrentHashMap<>();

  /** Marks of steps travel through the same stream as elements, and never reach the grouping. */
  private static final class NoteSteps extends DoFn<KV<String, String>, KV<String, String>> {
    private final int run;

    NoteSteps(int run) {
      this.run = run;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      String key = context.element().getKey();
      if (key.startsWith("#")) {
        RECORDERS.get(run).step = Integer.parseInt(key.substring(1));
      } else {
        context.output(context.element());
      }
    }
  }

  private static final class RecordPanes extends DoFn<KV<String, Iterable<String>>, Void> {
    private final int run;

    RecordPanes(int run) {
      this.run = run;
    }

    @ProcessElement
    public void process(ProcessContext context, BoundedWindow window, PaneInfo info)
        throws Exception {
      KV<String, Iterable<String>> group = context.element();
      record(run, group.getKey(), group.getValue(), window, info, context.timestamp());
    }
  }

  private static final class RecordElements extends DoFn<KV<String, String>, Void> {
    private final int run;

    RecordElements(int run) {
      this.run = run;
    }

    @ProcessElement
    public void process(ProcessContext context, BoundedWindow window, PaneInfo info)
        throws Exception {
      KV<String, String> pair = context.element();
      record(run, pair.getKey(), List.of(pair.getValue()), window, info, context.timestamp());
    }
  }

  private static void record(
      int run,
      String key,
      Iterable<String> texts,
      BoundedWindow window,
      PaneInfo info,
      Instant timestamp)
      throws Exception {
    Recorder recorder = RECORDERS.get(run);
    List<JsonNode> elements = new ArrayList<>();
    for (String text : texts) {
      elements.add(Translation.JSON.readTree(text));
    }
    recorder.panes.add(
        pane(
            recorder.step,
            Translation.JSON.readTree(key),
            elements,
            recorder.aggregation,
            window,
            info,
            timestamp));
  }

  private static TimestampedValue<KV<String, String>> mark(int step) {
    return TimestampedValue.of(
        KV.of("#" + step, ""), new Instant(Translation.END_OF_TIME - 1));
  }

  private static TestStream<KV<String, String>> stream(JsonNode steps) {
    TestStream.Builder<KV<String, String>> stream =
        TestStream.create(KvCoder.of(StringUtf8Coder.of(), StringUtf8Coder.of()));
    // The runner's clock begins as long before 1970 as scenarios begin in 1970.
    stream = stream.advanceProcessingTime(Duration.millis(Translation.END_OF_TIME));
    long watermark = -Translation.END_OF_TIME;
    int arrival = 0;
    for (int step = 0; step < steps.size(); step++) {
      stream = stream.addElements(mark(step));
      JsonNode what = steps.get(step);
      if (what.has("elements")) {
        List<TimestampedValue<KV<String, String>>> bundle = new ArrayList<>();
        for (JsonNode element : what.get("elements")) {
          String text = ((ObjectNode) element.deepCopy()).put("arrival", arrival++).toString();
          bundle.add(
              TimestampedValue.of(KV.of(element.get("key").toString(), text), time(element)));
        }
        if (!bundle.isEmpty()) {
          stream =
              stream.addElements(
                  bundle.get(0),
                  bundle.subList(1, bundle.size()).toArray(new TimestampedValue[0]));
        }
      } else if (what.has("advance_processing_time_by_ms")) {
        Duration by = Translation.duration(what.get("advance_processing_time_by_ms"));
        stream = by.getMillis() > 0 ? stream.advanceProcessingTime(by) : stream;
      } else {
        long target =
            Math.min(
                what.path("advance_watermark_to_ms").asLong(Translation.END_OF_TIME),
                Translation.END_OF_TIME - 1);
        if (target > watermark) {
          watermark = target;
          stream = stream.advanceWatermarkTo(new Instant(target));
        }
      }
    }
    return stream.addElements(mark(steps.size())).advanceWatermarkToInfinity();
  }

  private static Instant time(JsonNode element) {
    long millis = element.get("ts_ms").asLong();
    if (millis >= Translation.END_OF_TIME) {
      throw new Translation.Unsupported("an element at the end of time");
    }
    return new Instant(millis);
  }

  /** A pipeline of the scenario. GroupByKey refuses some triggers where it sees which they are. */
  private static Pipeline pipeline(JsonNode scenario, int run, boolean hidesTrigger) {
    DirectOptions options = PipelineOptionsFactory.create().as(DirectOptions.class);
    options.setRunner(DirectRunner.class);
    options.setTargetParallelism(1);
    options.setEnforceImmutability(false);
    options.setEnforceEncodability(false);
    options.setBlockOnRun(false);
    Pipeline pipeline = Pipeline.create(options);
    JsonNode windowing = scenario.get("windowing");
    Trigger trigger = Translation.trigger(windowing.get("trigger"));
    PCollection<KV<String, String>> windowed =
        pipeline
            .apply(stream(scenario.get("steps")))
            .apply("steps", ParDo.of(new NoteSteps(run)))
            .apply(
                "window",
                Translation.window(
                    windowing,
                    Translation.windowFn(windowing.get("window")),
                    hidesTrigger ? new Translation.Hidden(trigger) : trigger));
    if (scenario.get("aggregation").asText().equals("none")) {
      windowed.apply(ParDo.of(new RecordElements(run)));
      return pipeline;
    }
    windowed.apply(GroupByKey.create()).apply("record", ParDo.of(new RecordPanes(run)));
    return pipeline;
  }

  private static void playDirect(JsonNode scenario, int run, ObjectNode answer) throws Exception {
    Pipeline pipeline;
    try {
      pipeline = pipeline(scenario, run, false);
    } catch (IllegalArgumentException | IllegalStateException refused) {
      pipeline = pipeline(scenario, run, true);
      answer.withArray("notes").add("GroupByKey refuses it: " + firstWords(refused));
    }
    int steps = scenario.get("steps").size();
    Recorder recorder = new Recorder(scenario.get("aggregation").asText());
    RECORDERS.put(run, recorder);
    try {
      PipelineResult result = pipeline.run();
      long stuckAfter = System.currentTimeMillis() + STUCK_MS;
      PipelineResult.State state = null;
      while (state == null || !state.isTerminal()) {
        // Once all steps are through, what is left to do takes milliseconds or never ends.
        boolean through = recorder.step == steps;
        state = result.waitUntilFinish(Duration.millis(through ? ENDING_MS : 200));
        boolean ended = state != null && state.isTerminal();
        if (!ended && (through || System.currentTimeMillis() > stuckAfter)) {
          result.cancel();
          if (!through) {
            throw new IllegalStateException("is stuck before step " + (recorder.step + 1));
          }
          answer.withArray("notes").add("the pipeline never ends");
          break;
        }
      }
      ArrayNode panes = answer.putArray("panes");
      synchronized (recorder.panes) {
        for (JsonNode pane : recorder.panes) {
          if (pane.get("step").asInt() < steps) {
            panes.add(pane);
          }
        }
      }
      countDrops(result, answer.putObject("drop_counts"));
    } finally {
      RECORDERS.remove(run);
    }
  }

  private static void countDrops(PipelineResult result, ObjectNode counts) {
    long expired = 0;
    long closed = 0;
    for (MetricResult<Long> counter :
        result.metrics().queryMetrics(MetricsFilter.builder().build()).getCounters()) {
      String name = counter.getName().getName();
      expired += name.equalsIgnoreCase("droppedDueToLateness") ? counter.getAttempted() : 0;
      closed += name.equalsIgnoreCase("droppedDueToClosedWindow") ? counter.getAttempted() : 0;
    }
    counts.put("expired", expired).put("closed", closed);
  }

  // -- runners-core --------------------------------------------------------------------------

  private static void playCore(JsonNode scenario, ObjectNode answer) throws Exception {
    String aggregation = scenario.get("aggregation").asText();
    if (aggregation.equals("none")) {
      throw new Translation.Unsupported("elements that are not grouped do not reach ReduceFnRunner");
    }
    if (scenario.toString().contains("after_synchronized_processing_time")) {
      throw new Translation.Unsupported("the tester's synchronized clock is not its clock");
    }
    JsonNode windowing = scenario.get("windowing");
    Map<JsonNode, ReduceFnTester<Integer, Iterable<Integer>, BoundedWindow>> testers =
        new LinkedHashMap<>();
    for (JsonNode step : scenario.get("steps")) {
      for (JsonNode element : step.path("elements")) {
        if (!testers.containsKey(element.get("key"))) {
          ReduceFnTester<Integer, Iterable<Integer>, BoundedWindow> tester =
              ReduceFnTester.nonCombining(Translation.strategy(windowing));
          tester.advanceProcessingTime(new Instant(0));
          testers.put(element.get("key"), tester);
        }
      }
    }
    List<JsonNode> elements = new ArrayList<>();
    ArrayNode panes = answer.putArray("panes");
    long clock = 0;
    Instant watermark = null;
    for (int number = 0; number < scenario.get("steps").size(); number++) {
      JsonNode step = scenario.get("steps").get(number);
      clock += step.path("advance_processing_time_by_ms").asLong();
      if (step.has("advance_watermark_to_ms") || step.has("advance_watermark_to_infinity")) {
        long target = step.path("advance_watermark_to_ms").asLong(Translation.END_OF_TIME);
        watermark = latest(watermark, new Instant(Math.min(target, Translation.END_OF_TIME)));
      }
      Map<JsonNode, List<TimestampedValue<Integer>>> bundles = new LinkedHashMap<>();
      for (JsonNode element : step.path("elements")) {
        bundles
            .computeIfAbsent(element.get("key"), key -> new ArrayList<>())
            .add(TimestampedValue.of(elements.size(), time(element)));
        elements.add(((ObjectNode) element.deepCopy()).put("arrival", elements.size()));
      }
      for (var entry : testers.entrySet()) {
        var tester = entry.getValue();
        if (step.has("advance_processing_time_by_ms")) {
          tester.advanceProcessingTime(new Instant(clock));
        } else if (step.has("elements")) {
          if (bundles.containsKey(entry.getKey())) {
            tester.injectElements(bundles.get(entry.getKey()));
          }
        }
        if (watermark != null) {
          // The tester moves the output watermark on in here alone, also where this one stands.
          tester.advanceInputWatermark(watermark);
        }
        for (WindowedValue<Iterable<Integer>> output : tester.extractOutput()) {
          List<JsonNode> held = new ArrayList<>();
          output.getValue().forEach(index -> held.add(elements.get(index)));
          for (BoundedWindow window : output.getWindows()) {
            panes.add(
                pane(
                    number,
                    entry.getKey(),
                    held,
                    aggregation,
                    window,
                    output.getPaneInfo(),
                    output.getTimestamp()));
          }
        }
      }
    }
  }

  private static String firstWords(Throwable problem) {
    String text = String.valueOf(problem.getMessage()).lines().findFirst().orElse("?");
    return text.split(" '|\\. ")[0];
  }

  private static Instant latest(Instant one, Instant other) {
    return one != null && one.isAfter(other) ? one : other;
  }

  /** A pane as scenarios write it. {@code elements} are those that it holds. */
  private static ObjectNode pane(
      int step,
      JsonNode key,
      List<JsonNode> elements,
      String aggregation,
      BoundedWindow window,
      PaneInfo info,
      Instant timestamp) {
    ObjectNode pane = Translation.JSON.createObjectNode().put("step", step);
    pane.set("key", key);
    pane.set("value", aggregate(aggregation, elements));
    if (window instanceof IntervalWindow interval) {
      ArrayNode bounds = pane.putArray("window");
      bounds.add(interval.start().getMillis()).add(interval.end().getMillis());
    } else {
      pane.put("window", "global");
    }
    return pane.put("timestamp_ms", timestamp.getMillis())
        .put("timing", info.getTiming().name())
        .put("index", info.getIndex())
        .put("nonspeculative_index", info.getNonSpeculativeIndex())
        .put("is_first", info.isFirst())
        .put("is_last", info.isLast());
  }

  /** The value of a pane, computed from its elements in order of arrival. */
  private static JsonNode aggregate(String name, List<JsonNode> elements) {
    List<JsonNode> ordered = new ArrayList<>(elements);
    ordered.sort(Comparator.comparing(element -> element.get("arrival").asInt()));
    Comparator<JsonNode> byTime = Comparator.comparing(element -> element.get("ts_ms").asLong());
    if (!name.equals("list")) {
      ordered.sort(name.equals("list_by_timestamp") || name.equals("latest") ? byTime : (a, b) -> 0);
    }
    List<JsonNode> values = new ArrayList<>();
    ordered.forEach(element -> values.add(element.get("value")));
    if (name.startsWith("list")) {
      return Translation.JSON.createArrayNode().addAll(values);
    }
    if (name.equals("count")) {
      return IntNode.valueOf(values.size());
    }
    BigDecimal sum = BigDecimal.ZERO;
    if (name.equals("sum") || name.equals("mean")) {
      for (JsonNode value : values) {
        sum = sum.add(value.decimalValue());
      }
    }
    if (name.equals("sum")) {
      return DecimalNode.valueOf(sum);
    }
    if (values.isEmpty()) {
      return NullNode.instance;
    }
    Comparator<JsonNode> byNumber = Comparator.comparing(JsonNode::decimalValue);
    return switch (name) {
      case "min" -> values.stream().min(byNumber).get();
      case "max" -> values.stream().max(byNumber).get();
      case "mean" -> DoubleNode.valueOf(sum.doubleValue() / values.size());
      case "latest", "none" -> values.get(values.size() - 1);
      default -> throw new Translation.Unsupported("an aggregation that is not in the format: " + name);
    };
  }

  // -- the command ---------------------------------------------------------------------------

  private static ObjectNode play(boolean direct, JsonNode scenario, int run) {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    answer.set("id", scenario.get("id"));
    try {
      if (!scenario.has("windowing")) {
        answer.putArray("answers").add(Rules.answer(scenario));
      } else if (direct) {
        playDirect(scenario, run, answer);
      } else {
        playCore(scenario, answer);
      }
    } catch (Translation.Unsupported reason) {
      answer.removeAll();
      answer.set("id", scenario.get("id"));
      answer.put("unsupported", reason.getMessage());
    } catch (Throwable problem) {
      answer.removeAll();
      answer.set("id", scenario.get("id"));
      Throwable cause = problem;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      answer.put("error", cause.toString());
    }
    return answer;
  }

  /** Reads scenarios, plays each, and writes one document with what came out. */
  public static void main(String[] arguments) throws Exception {
    boolean direct = arguments[0].equals("direct");
    ExecutorService executor = Executors.newFixedThreadPool(Integer.getInteger("threads", 2));
    List<Future<ObjectNode>> answers = new ArrayList<>();
    for (int index = 2; index < arguments.length; index++) {
      for (JsonNode scenario : Translation.JSON.readTree(new File(arguments[index]))) {
        int run = answers.size();
        answers.add(executor.submit(() -> play(direct, scenario, run)));
      }
    }
    ObjectNode document = Translation.JSON.createObjectNode();
    document.put("engine", direct ? "Apache Beam Java, DirectRunner" : "Apache Beam Java, runners-core");
    document.put("version", ReleaseInfo.getReleaseInfo().getVersion());
    ArrayNode results = document.putArray("scenarios");
    for (Future<ObjectNode> answer : answers) {
      results.add(answer.get());
    }
    Translation.JSON.writeValue(new File(arguments[1]), document);
    System.exit(0);
  }
}
