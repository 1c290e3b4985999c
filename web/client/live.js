/**
 * What is true only while it lasts: the events that the fold forgets by design (SPEC §5, live-only), kept for whoever shows a thread.
 *
 * @module
 */

const keptErrors = 20;

/** Live facts of one thread. Events are given in the order in which they are folded. */
export class Live {
  /** Unanswered asks by askId. @type {Map<string, any>} */
  asks = new Map();
  /** Agents of nested turns by turnId. @type {Map<string, {agentId?: string, agentName?: string}>} */
  agents = new Map();
  /** The name or id of the step that is under way, by turnId. @type {Map<string, string>} */
  steps = new Map();
  /** The last advisory errors by turnId ('' where they name none). @type {Map<string, any[]>} */
  errors = new Map();
  /** Surfaces not yet ended by surfaceId. @type {Map<string, any>} */
  surfaces = new Map();
  /** @type {Set<string>} */
  #touched = new Set();
  /** Turns that wait for their asks. @type {Set<string>} */
  #paused = new Set();

  /** @param {any} ev */
  push(ev) {
    const turnId = this.#take(ev);
    if (turnId !== undefined) this.#touched.add(turnId);
  }

  /** @returns {Set<string>} the turns whose facts have changed since the last call, '' for the thread itself */
  takeTouched() {
    const taken = this.#touched;
    this.#touched = new Set();
    return taken;
  }

  /** @returns {string|undefined} the id of the turn whose facts changed; nothing where none did */
  #take(ev) {
    switch (ev.type) {
      case 'hitl.ask':
        this.asks.set(ev.askId, ev);
        return ev.turnId ?? '';
      case 'tool.done':
        return ev.more === true ? undefined : this.#answer(ev.toolCallId);
      case 'turn.start':
        return this.#turnStart(ev);
      case 'turn.done':
        return this.#turnEnd(ev.turnId, ev.outcome.type === 'paused');
      case 'turn.error':
      case 'turn.abort':
        return this.#turnEnd(ev.turnId, false);
      case 'subagent.start':
        this.agents.set(ev.turnId, { agentId: ev.agentId, agentName: ev.agentName });
        return ev.turnId;
      case 'step.start':
        this.steps.set(ev.turnId ?? '', ev.stepName ?? ev.id);
        return ev.turnId ?? '';
      case 'step.done':
        this.steps.delete(ev.turnId ?? '');
        return ev.turnId ?? '';
      case 'error':
        return this.#error(ev);
      case 'ui.surface.start':
        this.surfaces.set(ev.surfaceId, ev);
        return ev.turnId ?? '';
      case 'ui.surface.end':
        this.surfaces.delete(ev.surfaceId);
        return ev.turnId ?? '';
      default:
        return undefined;
    }
  }

  /** A call that has its result needs no answer any more. */
  #answer(toolCallId) {
    for (const [askId, ask] of this.asks) {
      if (ask.toolCallId !== toolCallId) continue;
      this.asks.delete(askId);
      return ask.turnId ?? '';
    }
    return undefined;
  }

  /** The thread goes on: asks of paused turns are answered or given up. */
  #turnStart(ev) {
    if (this.#paused.size === 0 || this.#paused.has(ev.turnId)) return undefined;
    for (const [askId, ask] of this.asks) if (this.#paused.has(ask.turnId)) this.asks.delete(askId);
    const [turnId] = this.#paused;
    this.#paused.clear();
    return turnId;
  }

  #turnEnd(turnId, paused) {
    this.steps.delete(turnId ?? '');
    if (paused) this.#paused.add(turnId);
    else for (const [askId, ask] of this.asks) if (ask.turnId === turnId) this.asks.delete(askId);
    return turnId ?? '';
  }

  #error(ev) {
    const turnId = ev.turnId ?? '';
    const list = this.errors.get(turnId) ?? [];
    list.push(ev);
    if (list.length > keptErrors) list.shift();
    this.errors.set(turnId, list);
    return turnId;
  }
}
