package beamlike.crash;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The files of this machine, where each so many-th operation on a checkpoint fails, by chance, or
 * the process dies at one operation: its name and path are matched.
 */
public final class Unsteady {
  private Unsteady() {}

  private static void maybeFail(Configuration conf, Path path, String operation)
      throws IOException {
    String end = conf.get("beamlike.crash.dies.at", "");
    if (!end.isEmpty() && (operation + " " + path.toUri().getPath()).matches(end)) {
      Runtime.getRuntime().halt(137);
    }
    int oneIn = conf.getInt("beamlike.crash.fails.one.in", 0);
    if (oneIn > 0
        && path.toString().contains("/checkpoint/")
        && ThreadLocalRandom.current().nextInt(oneIn) == 0) {
      throw new IOException("the file system is away: " + operation + " " + path);
    }
  }

  /** Without checksums. */
  public static class Raw extends RawLocalFileSystem {
    @Override
    public FSDataInputStream open(Path path, int size) throws IOException {
      maybeFail(getConf(), path, "open");
      return super.open(path, size);
    }

    @Override
    public FSDataOutputStream create(
        Path path,
        FsPermission permission,
        boolean overwrite,
        int size,
        short replication,
        long block,
        Progressable progress)
        throws IOException {
      maybeFail(getConf(), path, "create");
      FSDataOutputStream out =
          super.create(path, permission, overwrite, size, replication, block, progress);
      Configuration conf = getConf();
      // What fails in the middle of a file leaves its first part.
      OutputStream failing =
          new FilterOutputStream(out) {
            @Override
            public void write(byte[] bytes, int start, int length) throws IOException {
              maybeFail(conf, path, "write");
              out.write(bytes, start, length);
            }

            @Override
            public void close() throws IOException {
              out.close();
              maybeFail(conf, path, "close");
            }
          };
      return new FSDataOutputStream(failing, null);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
      maybeFail(getConf(), to, "rename before");
      boolean renamed = super.rename(from, to);
      maybeFail(getConf(), to, "rename after");
      return renamed;
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      maybeFail(getConf(), path, "delete");
      return super.delete(path, recursive);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      maybeFail(getConf(), path, "list");
      return super.listStatus(path);
    }
  }

  /** With checksums, as Hadoop has it by default. */
  public static class Checked extends LocalFileSystem {
    public Checked() {
      super(new Raw());
    }
  }

  /** The form in which checkpoints use it. */
  public static class Context extends DelegateToFileSystem {
    public Context(URI uri, Configuration conf) throws Exception {
      super(uri, new Checked(), conf, "file", false);
    }
  }
}
