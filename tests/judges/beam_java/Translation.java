import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.beam.sdk.transforms.windowing.*;
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

  /** A pane as scenarios write it. {@code elements} are those that it holds. */
  static ObjectNode pane(
      int step,
      JsonNode key,
      List<JsonNode> elements,
      String aggregation,
      BoundedWindow window,
      PaneInfo info,
      Instant timestamp) {
    ObjectNode pane = JSON.createObjectNode().put("step", step);
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
      return JSON.createArrayNode().addAll(values);
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
      default -> throw new Unsupported("an aggregation that is not in the format: " + name);
    };
  }
}
