import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A catalog of Spark whose tables take MERGE, in the memory of the driver: for tests that need one
 * and no connector. Each commit writes the rows of its table to a file, one row a line.
 */
public class MergingCatalog implements TableCatalog, SupportsNamespaces {
  private static final Map<String, Map<String, MergingTable>> TABLES = new ConcurrentHashMap<>();
  private static final Set<String> NAMESPACES = ConcurrentHashMap.newKeySet();
  private String name;
  private String home;

  @Override
  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
    this.home = options.get("home");
    NAMESPACES.add("default");
  }

  @Override
  public String name() {
    return name;
  }

  private Map<String, MergingTable> tables() {
    return TABLES.computeIfAbsent(name, any -> new ConcurrentHashMap<>());
  }

  @Override
  public String[] defaultNamespace() {
    return new String[] {"default"};
  }

  @Override
  public Identifier[] listTables(String[] namespace) {
    return tables().keySet().stream()
        .map(it -> Identifier.of(namespace, it))
        .toArray(Identifier[]::new);
  }

  @Override
  public Table loadTable(Identifier ident) throws NoSuchTableException {
    MergingTable table = tables().get(ident.name());
    if (table == null) {
      throw new NoSuchTableException(ident);
    }
    return table;
  }

  @Override
  public Table createTable(
      Identifier ident, Column[] columns, Transform[] partitions, Map<String, String> properties)
      throws TableAlreadyExistsException {
    if (tables().containsKey(ident.name())) {
      throw new TableAlreadyExistsException(ident);
    }
    MergingTable table = new MergingTable(ident.name(), columns, properties, home);
    tables().put(ident.name(), table);
    return table;
  }

  @Override
  public Table alterTable(Identifier ident, TableChange... changes) throws NoSuchTableException {
    MergingTable table = (MergingTable) loadTable(ident);
    Seq<TableChange> wanted = CollectionConverters.asScala(List.of(changes)).toSeq();
    StructType before = CatalogV2Util.v2ColumnsToStructType(table.columns);
    StructType schema =
        CatalogV2Util.applySchemaChanges(before, wanted, Option.empty(), "ALTER TABLE");
    if (!schema.equals(before) && !table.rows.isEmpty()) {
      throw new UnsupportedOperationException("no other columns once there are rows");
    }
    table.columns = CatalogV2Util.structTypeToV2Columns(schema, false);
    table.properties = CatalogV2Util.applyPropertiesChanges(table.properties, wanted);
    return table;
  }

  @Override
  public boolean dropTable(Identifier ident) {
    return tables().remove(ident.name()) != null;
  }

  @Override
  public void renameTable(Identifier from, Identifier to) {
    tables().put(to.name(), tables().remove(from.name()));
  }

  @Override
  public String[][] listNamespaces() {
    return NAMESPACES.stream().map(it -> new String[] {it}).toArray(String[][]::new);
  }

  @Override
  public String[][] listNamespaces(String[] namespace) {
    return namespace.length == 0 ? listNamespaces() : new String[0][];
  }

  @Override
  public Map<String, String> loadNamespaceMetadata(String[] namespace) {
    return Map.of();
  }

  @Override
  public boolean namespaceExists(String[] namespace) {
    return namespace.length == 1 && NAMESPACES.contains(namespace[0]);
  }

  @Override
  public void createNamespace(String[] namespace, Map<String, String> metadata) {
    NAMESPACES.add(namespace[0]);
  }

  @Override
  public void alterNamespace(String[] namespace, NamespaceChange... changes) {}

  @Override
  public boolean dropNamespace(String[] namespace, boolean cascade) {
    return NAMESPACES.remove(namespace[0]);
  }
}

class MergingTable implements Table, SupportsRead, SupportsWrite, SupportsRowLevelOperations {
  final String name;
  final String home;
  volatile Column[] columns;
  volatile Map<String, String> properties;
  volatile List<InternalRow> rows = List.of();

  MergingTable(String name, Column[] columns, Map<String, String> properties, String home) {
    this.name = name;
    this.columns = columns;
    this.properties = new HashMap<>(properties);
    this.home = home;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Column[] columns() {
    return columns;
  }

  @Override
  public Map<String, String> properties() {
    return properties;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(
        TableCapability.BATCH_READ, TableCapability.BATCH_WRITE, TableCapability.TRUNCATE);
  }

  StructType rowType() {
    return CatalogV2Util.v2ColumnsToStructType(columns);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return () -> new MergingScan(rowType(), rows);
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return new MergingWrite(this, false);
  }

  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return () ->
        new RowLevelOperation() {
          @Override
          public Command command() {
            return info.command();
          }

          @Override
          public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return MergingTable.this.newScanBuilder(options);
          }

          @Override
          public WriteBuilder newWriteBuilder(LogicalWriteInfo written) {
            return new MergingWrite(MergingTable.this, true); // all rows were read: all are written
          }
        };
  }

  synchronized void commit(List<InternalRow> written, boolean replaces) {
    List<InternalRow> after = new ArrayList<>(replaces ? List.of() : rows);
    after.addAll(written);
    rows = List.copyOf(after);
    StructType schema = rowType();
    List<String> lines = new ArrayList<>();
    lines.add(String.join("\t", schema.fieldNames()));
    for (InternalRow row : rows) {
      List<String> values = new ArrayList<>();
      for (int at = 0; at < schema.size(); at++) {
        values.add(row.isNullAt(at) ? "null" : row.get(at, schema.apply(at).dataType()).toString());
      }
      lines.add(String.join("\t", values));
    }
    try {
      Files.write(Path.of(home, name + ".tsv"), lines);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}

record MergingScan(StructType readSchema, List<InternalRow> rows) implements Scan, Batch {
  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return new InputPartition[] {new Rows(rows.toArray(InternalRow[]::new))};
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new Reading();
  }
}

record Rows(InternalRow[] rows) implements InputPartition, WriterCommitMessage {}

class Reading implements PartitionReaderFactory {
  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    InternalRow[] rows = ((Rows) partition).rows();
    return new PartitionReader<>() {
      private int at = -1;

      @Override
      public boolean next() {
        return ++at < rows.length;
      }

      @Override
      public InternalRow get() {
        return rows[at];
      }

      @Override
      public void close() {}
    };
  }
}

class MergingWrite implements WriteBuilder, SupportsTruncate, Write, BatchWrite {
  private final MergingTable table;
  private boolean replaces;

  MergingWrite(MergingTable table, boolean replaces) {
    this.table = table;
    this.replaces = replaces;
  }

  @Override
  public WriteBuilder truncate() {
    replaces = true;
    return this;
  }

  @Override
  public Write build() {
    return this;
  }

  @Override
  public BatchWrite toBatch() {
    return this;
  }

  @Override
  public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    return new Writing();
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    List<InternalRow> written = new ArrayList<>();
    for (WriterCommitMessage message : messages) {
      written.addAll(Arrays.asList(((Rows) message).rows()));
    }
    table.commit(written, replaces);
  }

  @Override
  public void abort(WriterCommitMessage[] messages) {}
}

class Writing implements DataWriterFactory {
  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId) {
    List<InternalRow> rows = new ArrayList<>();
    return new DataWriter<>() {
      @Override
      public void write(InternalRow row) {
        rows.add(row.copy());
      }

      @Override
      public WriterCommitMessage commit() {
        return new Rows(rows.toArray(InternalRow[]::new));
      }

      @Override
      public void abort() {}

      @Override
      public void close() {}
    };
  }
}
