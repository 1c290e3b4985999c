/**
 * Listeners by name.
 *
 * @module
 */

/** @template {Record<string, any>} Events */
export class Emitter {
  /** @type {Map<string, Set<(detail: any) => void>>} */
  #listeners = new Map();

  /**
   * @template {keyof Events & string} K
   * @param {K} name
   * @param {(detail: Events[K]) => void} listener called in the order of registration; what it throws reaches the console, not the sender
   * @returns {() => void} takes the listener off
   */
  on(name, listener) {
    let set = this.#listeners.get(name);
    if (set === undefined) this.#listeners.set(name, (set = new Set()));
    set.add(listener);
    return () => void set.delete(listener);
  }

  /**
   * @template {keyof Events & string} K
   * @param {K} name
   * @param {Events[K]} detail
   */
  emit(name, detail) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        listener(detail);
      } catch (err) {
        console.error(`agwire: a listener of "${name}" failed`, err);
      }
    }
  }
}
