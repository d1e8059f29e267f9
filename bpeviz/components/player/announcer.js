// The announcements of steps for screen readers: the latest words, at most once a second.

export const ANNOUNCE_EVERY = 1000; // milliseconds
const SETTLED = 100; // milliseconds; a step that is left at once is not announced

export class Announcer {
  /** @param {(words: string) => void} write changes a live region */
  constructor(write) {
    this.write = write;
    this.timer = null;
    this.saidAt = -Infinity;
  }

  /** @param {string} words */
  say(words) {
    this.words = words;
    if (this.timer !== null) return; // it will say the latest words
    const wait = Math.max(SETTLED, this.saidAt + ANNOUNCE_EVERY - Date.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      this.saidAt = Date.now();
      this.write(this.words);
    }, wait);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }
}
