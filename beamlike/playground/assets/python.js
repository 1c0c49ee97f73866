// The other end of the worker. Of several requests to draw only the newest is kept waiting.

class Python {
  constructor(began) {
    this.waiting = new Map();
    this.last = 0;
    this.isDrawing = false;
    this.worker = new Worker("worker.mjs", { type: "module" });
    this.worker.addEventListener("message", ({ data }) => {
      if (data.number === undefined) began(data.broken ?? "");
      else {
        this.waiting.get(data.number)(JSON.parse(data.answer));
        this.waiting.delete(data.number);
      }
    });
    this.worker.addEventListener("error", (event) => began(event.message || "the worker cannot be loaded"));
  }

  ask(what, more) {
    const number = ++this.last;
    this.worker.postMessage({ number, question: JSON.stringify({ what, ...more }) });
    return new Promise((resolve) => this.waiting.set(number, resolve));
  }

  /** Draw the newest sketch; `show` gets what comes of it. */
  async draw(sketch, show) {
    this.next = [sketch, show];
    if (this.isDrawing) return;
    this.isDrawing = true;
    try {
      while (this.next) {
        const [newest, showNewest] = this.next;
        this.next = null;
        showNewest(await this.ask("draw", { sketch: newest }));
      }
    } finally {
      this.isDrawing = false;
    }
  }
}
