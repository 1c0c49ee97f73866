import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.testing.TestStream;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.SimpleFunction;
import org.apache.beam.sdk.transforms.windowing.*;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.TimestampedValue;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.DateTimeZone;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Scenarios in the words of Beam Java, and Beam's panes in the words of scenarios. */
final class Translation {
  static final ObjectMapper JSON = new ObjectMapper();

  /** Milliseconds of the end of time, where a watermark stands for infinity. */
  static final long END_OF_TIME = 9223372036854775L;

  private Translation() {}

  /** The engine cannot express the scenario, for this reason. */
  static final class Unsupported extends RuntimeException {
    Unsupported(String reason) {
      super(reason);
    }
  }

  /** Java's types admit only some triggers as early, late or until; the engine takes any. */
  private static final class AsOnce extends Trigger.OnceTrigger {
    private final Trigger trigger;

    AsOnce(Trigger trigger) {
      super(new ArrayList<>());
      this.trigger = trigger;
    }

    @Override
    public <OutputT> OutputT accept(TriggerVisitor<OutputT> visitor) {
      return trigger.accept(visitor);
    }

    @Override
    protected Trigger getContinuationTrigger(List<Trigger> continuations) {
      return asOnce(trigger.getContinuationTrigger());
    }

    @Override
    public Instant getWatermarkThatGuaranteesFiring(BoundedWindow window) {
      return trigger.getWatermarkThatGuaranteesFiring(window);
    }
  }

  /** Hides a trigger from GroupByKey, which refuses those that may finish; scenarios play them. */
  static final class Hidden extends Trigger {
    private final Trigger trigger;

    Hidden(Trigger trigger) {
      this.trigger = trigger;
    }

    @Override
    public <OutputT> OutputT accept(TriggerVisitor<OutputT> visitor) {
      return trigger.accept(visitor);
    }

    @Override
    protected Trigger getContinuationTrigger(List<Trigger> continuations) {
      return trigger.getContinuationTrigger();
    }

    @Override
    public Instant getWatermarkThatGuaranteesFiring(BoundedWindow window) {
      return trigger.getWatermarkThatGuaranteesFiring(window);
    }

    @Override
    public boolean mayFinish() {
      return false;
    }
  }

  private static Trigger.OnceTrigger asOnce(Trigger trigger) {
    return trigger instanceof Trigger.OnceTrigger once ? once : new AsOnce(trigger);
  }

  static Duration duration(JsonNode millis) {
    return Duration.millis(millis.asLong());
  }

  private static boolean states(JsonNode object, String field) {
    return object.hasNonNull(field);
  }

  static Trigger trigger(JsonNode node) {
    List<Trigger> triggers = new ArrayList<>();
    node.path("triggers").forEach(child -> triggers.add(trigger(child)));
    return switch (node.get("type").asText()) {
      case "default" -> DefaultTrigger.of();
      case "never" -> Never.ever();
      // What Beam's Reshuffle groups with: no other trigger of its fires after each bundle.
      case "always" -> new ReshuffleTrigger<>();
      case "after_count" -> AfterPane.elementCountAtLeast(node.get("count").asInt());
      case "after_synchronized_processing_time" -> AfterSynchronizedProcessingTime.ofFirstElement();
      case "after_processing_time" -> afterProcessingTime(node);
      case "after_watermark" -> afterWatermark(node);
      case "repeatedly" -> Repeatedly.forever(trigger(node.get("trigger")));
      case "after_first" -> AfterFirst.of(triggers);
      case "after_all" -> AfterAll.of(triggers);
      case "after_each" -> AfterEach.inOrder(triggers);
      case "or_finally" ->
          trigger(node.get("main")).orFinally(asOnce(trigger(node.get("until"))));
      default -> throw new Unsupported("a trigger that Beam does not have: " + node.get("type"));
    };
  }

  private static Trigger afterProcessingTime(JsonNode node) {
    AfterProcessingTime trigger = AfterProcessingTime.pastFirstElementInPane();
    if (states(node, "delay_ms")) {
      return trigger.plusDelayOf(duration(node.get("delay_ms")));
    }
    for (JsonNode transform : node.get("transforms")) {
      JsonNode align = transform.get("align_to");
      trigger =
          align == null
              ? trigger.plusDelayOf(duration(transform.get("delay_ms")))
              : trigger.alignedTo(
                  duration(align.get("period_ms")), new Instant(align.path("offset_ms").asLong()));
    }
    return trigger;
  }

  private static Trigger afterWatermark(JsonNode node) {
    AfterWatermark.FromEndOfWindow plain = AfterWatermark.pastEndOfWindow();
    boolean late = states(node, "late");
    if (states(node, "early")) {
      var early = plain.withEarlyFirings(asOnce(trigger(node.get("early"))));
      return late ? early.withLateFirings(asOnce(trigger(node.get("late")))) : early;
    }
    return late ? plain.withLateFirings(asOnce(trigger(node.get("late")))) : plain;
  }

  static WindowFn<Object, ?> windowFn(JsonNode node) {
    String name = node.get("fn").asText();
    return switch (name) {
      case "global" -> new GlobalWindows();
      case "fixed" ->
          FixedWindows.of(duration(node.get("size_ms"))).withOffset(duration(node.path("offset_ms")));
      case "sliding" ->
          SlidingWindows.of(duration(node.get("size_ms")))
              .every(duration(node.get("period_ms")))
              .withOffset(duration(node.path("offset_ms")));
      case "sessions" -> Sessions.withGapDuration(duration(node.get("gap_ms")));
      default -> calendarWindows(name, node);
    };
  }

  private static WindowFn<Object, ?> calendarWindows(String name, JsonNode node) {
    int number = node.path("number").asInt();
    DateTimeZone zone = DateTimeZone.forID(node.path("time_zone").asText("UTC"));
    JsonNode start = node.path("start");
    int year = start.path(0).asInt(1970);
    int month = start.path(1).asInt(1);
    int day = start.path(2).asInt(1);
    return switch (name) {
      case "calendar_days" ->
          CalendarWindows.days(number).withTimeZone(zone).withStartingDay(year, month, day);
      case "calendar_weeks" ->
          states(node, "start_day_of_week")
              ? CalendarWindows.weeks(number, node.get("start_day_of_week").asInt())
                  .withTimeZone(zone)
              : CalendarWindows.days(7 * number)
                  .withTimeZone(zone)
                  .withStartingDay(year, month, day);
      case "calendar_months" ->
          CalendarWindows.months(number)
              .withTimeZone(zone)
              .withStartingMonth(year, month)
              .beginningOnDay(node.path("day_of_month").asInt(day));
      case "calendar_years" ->
          CalendarWindows.years(number)
              .withTimeZone(zone)
              .withStartingYear(year)
              .beginningOnDay(
                  node.path("month_of_year").asInt(month), node.path("day_of_month").asInt(day));
      default -> throw new Unsupported("windows that Beam does not have: " + name);
    };
  }

  /** The windowing of a scenario as a transform. */
  static <T> Window<T> window(JsonNode windowing, WindowFn<Object, ?> windowFn, Trigger trigger) {
    Window.ClosingBehavior closing =
        Window.ClosingBehavior.valueOf(windowing.get("closing_behavior").asText().toUpperCase());
    Window<T> window =
        Window.<T>into(windowFn)
            .triggering(trigger)
            .withAllowedLateness(duration(windowing.get("allowed_lateness_ms")), closing)
            .withOnTimeBehavior(
                Window.OnTimeBehavior.valueOf(
                    windowing.get("on_time_behavior").asText().toUpperCase()))
            .withTimestampCombiner(combiner(windowing));
    return accumulates(windowing) ? window.accumulatingFiredPanes() : window.discardingFiredPanes();
  }

  /** The windowing of a scenario as the strategy of a grouping. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  static WindowingStrategy<?, BoundedWindow> strategy(JsonNode windowing) {
    WindowingStrategy strategy =
        WindowingStrategy.of((WindowFn) windowFn(windowing.get("window")))
            .withTrigger(trigger(windowing.get("trigger")))
            .withMode(
                accumulates(windowing)
                    ? WindowingStrategy.AccumulationMode.ACCUMULATING_FIRED_PANES
                    : WindowingStrategy.AccumulationMode.DISCARDING_FIRED_PANES)
            .withAllowedLateness(duration(windowing.get("allowed_lateness_ms")))
            .withTimestampCombiner(combiner(windowing))
            .withClosingBehavior(
                Window.ClosingBehavior.valueOf(
                    windowing.get("closing_behavior").asText().toUpperCase()))
            .withOnTimeBehavior(
                Window.OnTimeBehavior.valueOf(
                    windowing.get("on_time_behavior").asText().toUpperCase()));
    return strategy;
  }

  private static TimestampCombiner combiner(JsonNode windowing) {
    return TimestampCombiner.valueOf(windowing.get("timestamp_combiner").asText().toUpperCase());
  }

  private static boolean accumulates(JsonNode windowing) {
    return switch (windowing.get("accumulation").asText()) {
      case "accumulating" -> true;
      case "discarding" -> false;
      default -> throw new Unsupported("retracting panes: no runner of Beam has them");
    };
  }
}

/** Rules that are not a stream of one grouping, put to Beam: checks, continuations, functions. */
final class Rules {
  private Rules() {}

  private static final Map<String, String> LONG_NAMES =
      Map.of(
          "count", "after_count",
          "processing_time", "after_processing_time",
          "synchronized_processing_time", "after_synchronized_processing_time",
          "repeat", "repeatedly",
          "first", "after_first",
          "all", "after_all",
          "each", "after_each");

  /** A trigger in the words of scenarios, from the shorter ones of these rules. */
  private static JsonNode spelledOut(JsonNode node) {
    ObjectNode trigger = Translation.JSON.createObjectNode();
    String type = node.get("type").asText();
    trigger.put("type", LONG_NAMES.getOrDefault(type, type));
    if (node.has("n")) {
      trigger.set("count", node.get("n"));
    }
    for (String name : List.of("sub", "main", "until", "early", "late")) {
      if (node.hasNonNull(name)) {
        trigger.set(name.equals("sub") ? "trigger" : name, spelledOut(node.get(name)));
      }
    }
    node.path("subs").forEach(child -> trigger.withArray("triggers").add(spelledOut(child)));
    for (JsonNode transform : node.path("transforms")) {
      ArrayNode transforms = trigger.withArray("transforms");
      if (transform.has("delay_ms")) {
        transforms.add(transform);
      } else {
        ObjectNode align = transforms.addObject().putObject("align_to");
        align.set("period_ms", transform.get("align_period_ms"));
        align.set("offset_ms", transform.get("align_offset_ms"));
      }
    }
    return trigger;
  }

  private static Trigger trigger(JsonNode node) {
    return Translation.trigger(spelledOut(node));
  }

  private static WindowFn<Object, ?> windowFn(JsonNode node) {
    ObjectNode named = node.deepCopy();
    named.set("fn", named.remove("type"));
    return Translation.windowFn(named);
  }

  private static Window<KV<String, String>> window(JsonNode settings) {
    Window<KV<String, String>> window =
        settings.has("window") ? Window.into(windowFn(settings.get("window"))) : Window.configure();
    if (settings.hasNonNull("trigger")) {
      window = window.triggering(trigger(settings.get("trigger")));
    }
    if (settings.hasNonNull("allowed_lateness_ms")) {
      window =
          window.withAllowedLateness(Translation.duration(settings.get("allowed_lateness_ms")));
    }
    if (settings.hasNonNull("accumulation")) {
      boolean accumulates = settings.get("accumulation").asText().equals("accumulating");
      window = accumulates ? window.accumulatingFiredPanes() : window.discardingFiredPanes();
    }
    return window;
  }

  private static PCollection<KV<String, String>> source(Pipeline pipeline, String name) {
    return pipeline.apply(name, Create.of(KV.of("k", "v")));
  }

  /** What Beam says of a rule: a value, {@code ok}, or the error that it raises. */
  static JsonNode answer(JsonNode rule) throws Exception {
    if (rule.has("continuation")) {
      boolean same =
          trigger(rule.get("trigger"))
              .getContinuationTrigger()
              .toString()
              .equals(trigger(rule.get("continuation")).toString());
      return same ? rule.get("continuation") : NullNode.instance;
    }
    if (rule.get("fn") != null) {
      return function(rule);
    }
    if (rule.get("op") == null) {
      throw new Translation.Unsupported("a pipeline of its own, and not a rule of one grouping");
    }
    if (!rule.get("sdk").asText().equals("java")) {
      throw new Translation.Unsupported("a rule of the other SDK: " + rule.get("sdk").asText());
    }
    try {
      return construct(rule);
    } catch (Translation.Unsupported reason) {
      throw reason;
    } catch (RuntimeException | IncompatibleWindowException refused) {
      return TextNode.valueOf("error: " + refused.getMessage());
    }
  }

  private static IntervalWindow interval(JsonNode bounds) {
    return new IntervalWindow(
        new Instant(bounds.get(0).asLong()), new Instant(bounds.get(1).asLong()));
  }

  private static JsonNode function(JsonNode rule) throws Exception {
    switch (rule.get("fn").asText()) {
      case "gc_time":
        Duration lateness = Translation.duration(rule.get("allowed_lateness_ms"));
        return LongNode.valueOf(
            LateDataUtils.garbageCollectionTime(interval(rule.get("window")), lateness)
                .getMillis());
      case "sliding_default_period":
        Duration size = Translation.duration(rule.get("size_ms"));
        return LongNode.valueOf(SlidingWindows.of(size).getPeriod().getMillis());
      case "side_input_window":
        IntervalWindow seen =
            (IntervalWindow)
                windowFn(rule.get("side_window"))
                    .getDefaultWindowMappingFn()
                    .getSideInputWindow(interval(rule.get("main_window")));
        return Translation.JSON
            .createArrayNode()
            .add(seen.start().getMillis())
            .add(seen.end().getMillis());
      default:
        throw new Translation.Unsupported("the function " + rule.get("fn").asText());
    }
  }

  private static JsonNode construct(JsonNode rule) throws Exception {
    JsonNode operation = rule.get("op");
    String kind = operation.get("kind").asText();
    Pipeline pipeline = Pipeline.create();
    switch (kind) {
      case "window_then_gbk":
        source(pipeline, "in").apply(window(operation)).apply(GroupByKey.create());
        break;
      case "window_gbk_gbk":
        source(pipeline, "in")
            .apply(window(operation))
            .apply("first", GroupByKey.create())
            .apply(MapElements.via(new Again()))
            .apply("second", GroupByKey.create());
        break;
      case "window_config_chain":
        PCollection<KV<String, String>> chained = source(pipeline, "in");
        int links = 0;
        for (JsonNode link : operation.get("chain")) {
          chained = chained.apply("window" + links++, window(link));
        }
        check(chained.getWindowingStrategy(), rule.path("result"));
        break;
      case "flatten":
        List<PCollection<KV<String, String>>> inputs = new ArrayList<>();
        for (int index = 0; index < operation.get("windows").size(); index++) {
          ObjectNode settings = Translation.JSON.createObjectNode();
          settings.set("window", operation.get("windows").get(index));
          if (operation.has("triggers")) {
            settings.set("trigger", operation.get("triggers").get(index));
            settings.put("allowed_lateness_ms", 0).put("accumulation", "discarding");
          }
          inputs.add(source(pipeline, "in" + index).apply("window" + index, window(settings)));
        }
        PCollectionList.of(inputs).apply(Flatten.pCollections());
        break;
      case "compatible_windows":
        windowFn(operation.get("a")).verifyCompatibility(windowFn(operation.get("b")));
        break;
      case "construct_window":
        windowFn(operation.get("window"));
        break;
      case "test_stream":
        TestStream.Builder<String> stream = TestStream.create(StringUtf8Coder.of());
        for (JsonNode step : operation.get("steps")) {
          for (JsonNode element : step.path("elements")) {
            Instant time = new Instant(element.get("ts_ms").asLong());
            stream = stream.addElements(TimestampedValue.of("v", time));
          }
          if (step.has("advance_watermark_to_ms")) {
            stream =
                stream.advanceWatermarkTo(
                    new Instant(step.get("advance_watermark_to_ms").asLong()));
          }
        }
        break;
      default:
        throw new Translation.Unsupported("its own Java class: " + kind);
    }
    return TextNode.valueOf("ok");
  }

  private static final class Again
      extends SimpleFunction<KV<String, Iterable<String>>, KV<String, String>> {
    @Override
    public KV<String, String> apply(KV<String, Iterable<String>> group) {
      return KV.of(group.getKey(), "v");
    }
  }

  /** Throws if the strategy is not what the rule states. */
  private static void check(WindowingStrategy<?, ?> strategy, JsonNode stated) {
    boolean holds =
        (!stated.has("window") || strategy.getWindowFn().equals(windowFn(stated.get("window"))))
            && (!stated.has("trigger")
                || strategy.getTrigger().toString().equals(trigger(stated.get("trigger")).toString()))
            && (!stated.has("allowed_lateness_ms")
                || strategy.getAllowedLateness().getMillis()
                    == stated.get("allowed_lateness_ms").asLong())
            && (!stated.has("accumulation")
                || strategy
                    .getMode()
                    .name()
                    .toLowerCase()
                    .startsWith(stated.get("accumulation").asText()));
    if (!holds) {
      throw new IllegalStateException("has another windowing strategy: " + strategy);
    }
  }
}
