/**
 * Delays between attempts: they double up to a cap, and each is drawn evenly from zero to its bound ("full jitter"), so that the
 * clients of a server that went away do not come back together.
 *
 * @module
 */

/** Not safe to share between connections. */
export class Backoff {
  #attempt = 0;

  /**
   * @param {{base?: number, cap?: number, random?: () => number}} [options] base and cap in milliseconds; base 500, cap 20,000
   */
  constructor({ base = 500, cap = 20_000, random = Math.random } = {}) {
    this.base = base;
    this.cap = cap;
    this.random = random;
  }

  /** How many delays were drawn since the last reset. */
  get attempt() {
    return this.#attempt;
  }

  /** @returns {number} the next delay in milliseconds */
  next() {
    const bound = Math.min(this.cap, this.base * 2 ** Math.min(this.#attempt, 30));
    this.#attempt++;
    return this.random() * bound;
  }

  reset() {
    this.#attempt = 0;
  }
}
