// Python, in a thread of its own: it gets questions and gives answers, as texts.

const fetchPlain = self.fetch.bind(self);

// The largest file lies compressed in the folder, so that any server of files will do.
self.fetch = async (what, how) => {
  const address = String(what.url ?? what);
  if (!address.endsWith(".wasm")) return fetchPlain(what, how);
  const packed = await fetchPlain(address + ".gz", how);
  if (!packed.ok) return packed;
  const unpacked = packed.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked, { headers: { "Content-Type": "application/wasm" } });
};

// Only what the page asks for is imported: the names that the packages gather at their tops would
// bring all of their modules along.
const BEGIN = `
import sys, types
sys.path.insert(0, "/beamlike.zip")
for name in ("beamlike", "beamlike.testing", "beamlike.playground"):
    package = types.ModuleType(name)
    package.__path__ = ["/beamlike.zip/" + name.replace(".", "/")]
    sys.modules[name] = package
from beamlike.playground.answers import answer
answer
`;

async function begin() {
  const [{ loadPyodide }, sources] = await Promise.all([
    import("./pyodide/pyodide.mjs"),
    fetchPlain("./beamlike.zip").then((response) => response.arrayBuffer()),
  ]);
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", self.location.href).href });
  python.FS.writeFile("/beamlike.zip", new Uint8Array(sources));
  return python.runPython(BEGIN);
}

const ready = begin();
ready.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ broken: String(error) }),
);

self.addEventListener("message", async ({ data: { number, question } }) => {
  const answer = await ready;
  try {
    self.postMessage({ number, answer: answer(question) });
  } catch (error) {
    self.postMessage({ number, answer: JSON.stringify({ problem: String(error) }) });
  }
});
