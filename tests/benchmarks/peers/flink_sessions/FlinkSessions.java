import java.io.File;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.util.Collector;

/**
 * The sessions on Flink's local cluster: two slots, a checkpoint each second, files in and out.
 *
 * <pre>FlinkSessions heap|rocksdb|sql EVENTS.csv HOME RUNS GAP_MS DELAY_MS</pre>
 */
public final class FlinkSessions {
  private FlinkSessions() {}

  public static void main(String[] arguments) throws Exception {
    String source = new File(arguments[1]).toURI().toString();
    File home = new File(arguments[2]);
    long gap = Long.parseLong(arguments[4]);
    long delay = Long.parseLong(arguments[5]);
    for (int run = 0; run < Integer.parseInt(arguments[3]); run++) {
      String target = new File(home, "results/" + run).toURI().toString();
      Configuration settings = settings(arguments[0], new File(home, "work/" + run));
      if (arguments[0].equals("sql")) {
        sql(settings, source, target, gap, delay);
      } else {
        stream(settings, source, target, gap, delay);
      }
      System.out.println("run");
    }
    System.exit(0);
  }

  private static Configuration settings(String mode, File work) {
    Configuration settings = new Configuration();
    settings.setString("parallelism.default", "2");
    settings.setString("taskmanager.numberOfTaskSlots", "2");
    settings.setString("taskmanager.memory.managed.size", "256m");
    settings.setString("pipeline.object-reuse", "true");
    settings.setString("state.backend.type", mode.equals("rocksdb") ? "rocksdb" : "hashmap");
    settings.setString("execution.checkpointing.incremental", "true");
    settings.setString("execution.checkpointing.interval", "1s");
    settings.setString("execution.checkpointing.dir", work.toURI().toString());
    return settings;
  }

  private static void stream(
      Configuration settings, String source, String target, long gap, long delay)
      throws Exception {
    StreamExecutionEnvironment flink =
        StreamExecutionEnvironment.getExecutionEnvironment(settings);
    FileSource<String> lines =
        FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(source)).build();
    flink
        .fromSource(lines, WatermarkStrategy.noWatermarks(), "events")
        .setParallelism(1) // One file is one split.
        .map(FlinkSessions::event)
        .returns(Types.TUPLE(Types.STRING, Types.LONG, Types.LONG))
        .setParallelism(1)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Tuple3<String, Long, Long>>forBoundedOutOfOrderness(
                    Duration.ofMillis(delay))
                .withTimestampAssigner((event, before) -> event.f1))
        .setParallelism(1)
        .keyBy(event -> event.f0, Types.STRING)
        .window(EventTimeSessionWindows.withGap(Duration.ofMillis(gap)))
        .aggregate(
            new CountAndSum(),
            new Line(),
            Types.TUPLE(Types.LONG, Types.LONG),
            Types.TUPLE(Types.LONG, Types.LONG),
            Types.STRING)
        .sinkTo(
            FileSink.forRowFormat(new Path(target), new SimpleStringEncoder<String>())
                .withBucketAssigner(new BasePathBucketAssigner<>())
                .build());
    flink.execute();
  }

  private static Tuple3<String, Long, Long> event(String line) {
    int first = line.indexOf(',');
    int second = line.indexOf(',', first + 1);
    return Tuple3.of(
        line.substring(0, first),
        Long.parseLong(line.substring(first + 1, second)),
        Long.parseLong(line.substring(second + 1)));
  }

  private static final class CountAndSum
      implements AggregateFunction<
          Tuple3<String, Long, Long>, Tuple2<Long, Long>, Tuple2<Long, Long>> {
    @Override
    public Tuple2<Long, Long> createAccumulator() {
      return Tuple2.of(0L, 0L);
    }

    @Override
    public Tuple2<Long, Long> add(Tuple3<String, Long, Long> event, Tuple2<Long, Long> total) {
      return Tuple2.of(total.f0 + 1, total.f1 + event.f2);
    }

    @Override
    public Tuple2<Long, Long> getResult(Tuple2<Long, Long> total) {
      return total;
    }

    @Override
    public Tuple2<Long, Long> merge(Tuple2<Long, Long> one, Tuple2<Long, Long> other) {
      return Tuple2.of(one.f0 + other.f0, one.f1 + other.f1);
    }
  }

  private static final class Line
      extends ProcessWindowFunction<Tuple2<Long, Long>, String, String, TimeWindow> {
    @Override
    public void process(
        String key, Context context, Iterable<Tuple2<Long, Long>> totals, Collector<String> out) {
      TimeWindow window = context.window();
      for (Tuple2<Long, Long> total : totals) {
        out.collect(
            key + "," + window.getStart() + "," + window.getEnd() + "," + total.f0 + "," + total.f1);
      }
    }
  }

  private static void sql(
      Configuration settings, String source, String target, long gap, long delay)
      throws Exception {
    settings.setString("table.local-time-zone", "UTC");
    TableEnvironment flink =
        TableEnvironment.create(
            EnvironmentSettings.newInstance()
                .inStreamingMode()
                .withConfiguration(settings)
                .build());
    String files = " WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '%s')";
    flink.executeSql(
        String.format(
            "CREATE TABLE events (k STRING, t BIGINT, v BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 3),"
                + " WATERMARK FOR ts AS ts - INTERVAL '%d' MINUTE)"
                + files,
            delay / 60_000,
            source));
    flink.executeSql(
        String.format(
            "CREATE TABLE sessions (k STRING, `start` STRING, `end` STRING, n BIGINT, s BIGINT)"
                + files,
            target));
    flink
        .executeSql(
            String.format(
                "INSERT INTO sessions SELECT k, CAST(window_start AS STRING),"
                    + " CAST(window_end AS STRING), COUNT(*), SUM(v) FROM TABLE(SESSION("
                    + "TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '%d' MINUTE))"
                    + " GROUP BY k, window_start, window_end",
                gap / 60_000))
        .await();
  }
}
