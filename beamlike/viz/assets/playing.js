// The play button: one step after the other, until the end.

const STEP_MS = 700;

class Playing {
  /** `isAtEnd` says whether there is no further step; `forward` and `rewind` go there. */
  constructor(button, { isAtEnd, forward, rewind }) {
    Object.assign(this, { button, isAtEnd, forward, rewind, timer: null });
    button.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
    this.say();
  }

  say() {
    this.button.textContent = this.timer ? "Pause" : "Play";
    this.button.setAttribute("aria-pressed", Boolean(this.timer));
  }

  start() {
    if (this.isAtEnd()) this.rewind();
    this.timer = setInterval(() => {
      this.forward();
      if (this.isAtEnd()) this.stop();
    }, STEP_MS);
    this.say();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.say();
  }
}
