/**
 * What the rows of SPEC §5 work on: the result as it grows, and beside it what is open, sealed and closed.
 *
 * @module
 */

/**
 * @typedef {object} Turn
 * @property {import('../types.js').AgTurnRecord} record
 * @property {boolean} closed
 * @property {Map<number, Message>} targets the most-recently-opened message by candidate
 * @property {Map<number, Message[]>} stacks what a target may revert to by candidate, in order of creation
 * @property {Set<Message>} messages all of the turn
 * @property {number} unsealed messages that may still take blocks
 * @property {number} preliminary tool results kept open
 *
 * @typedef {object} Message
 * @property {import('../types.js').AgMessage} message
 * @property {Turn|undefined} turn undefined for a message of a snapshot whose turn is not known
 * @property {boolean} sealed
 * @property {boolean} adopted born by `tool.done.messageId`: no target of blocks unless one reverts to it, takes results that name it
 * @property {string[]} blockIds streaming ids of its blocks
 * @property {string[]} callIds
 *
 * @typedef {object} Block a streaming block
 * @property {any} block
 * @property {Message} owner
 * @property {boolean} ended
 * @property {string} opaque scratch of `reasoning.opaque.delta`
 * @property {{index: number, text: string}[]} parts of a reasoning block, ascending; empty while no partIndex was seen
 *
 * @typedef {object} Call
 * @property {any} block the tool-call block
 * @property {Message} owner
 * @property {string} scratch
 * @property {{block: any, owner: Message, at: number, open: boolean}|undefined} result
 */

/** The working state of one fold. */
export class State {
  /** @type {Map<string, Turn>} */ turns = new Map();
  /** @type {Map<string, Message>} */ messages = new Map();
  /** @type {Map<string, Block>} */ blocks = new Map();
  /** @type {Map<string, Call>} */ calls = new Map();
  /** Whole blocks that have an id of their own. @type {Map<string, {owner: Message, at: number}>} */ whole = new Map();
  /** @type {Map<string, {artifact: any, sealed: boolean}>} */ artifacts = new Map();
  /** @type {Map<string, any>} */ memory = new Map();
  /** @type {any} */ state = undefined;
  /** @type {Set<Turn>} */ open = new Set();
  rootThread = '';
  #changes = noChanges();

  /** @returns {boolean} */
  atBoundary() {
    for (const t of this.open) if (t.unsealed > 0 || t.preliminary > 0) return false;
    return true;
  }

  /** @returns {import('../types.js').Changes} */
  takeChanges() {
    const taken = this.#changes;
    this.#changes = noChanges();
    return taken;
  }

  get changes() {
    return this.#changes;
  }

  /**
   * The owning turn of an event (SPEC §5 INV-OWNER): its turnId, the turn of the message it names, the sole open turn.
   *
   * @param {any} ev
   * @returns {Turn|undefined}
   */
  ownerOf(ev) {
    if (ev.turnId !== undefined) return this.turns.get(ev.turnId);
    if (ev.messageId !== undefined) {
      const m = this.messages.get(ev.messageId);
      if (m !== undefined) return m.turn;
    }
    return this.soleOpenTurn();
  }

  /** @returns {Turn|undefined} */
  soleOpenTurn() {
    if (this.open.size !== 1) return undefined;
    const [only] = this.open;
    return only;
  }

  /** Opens a turn record at the end; the caller has checked that the id is new. */
  addTurn(record) {
    const turn = { record, closed: false, targets: new Map(), stacks: new Map(), messages: new Set(), unsealed: 0, preliminary: 0 };
    this.turns.set(record.turnId, turn);
    this.open.add(turn);
    if (this.rootThread === '') this.rootThread = record.threadId;
    this.touchTurn(turn);
    return turn;
  }

  /** @param {Turn} turn */
  closeTurn(turn) {
    turn.closed = true;
    this.open.delete(turn);
    for (const m of turn.messages) this.dropScratch(m);
    turn.targets.clear();
    turn.stacks.clear();
    this.touchTurn(turn);
  }

  /**
   * Appends a message; the caller has checked that the id is new.
   *
   * @param {any} message
   * @param {Turn|undefined} turn
   * @param {boolean} adopted
   * @returns {Message}
   */
  addMessage(message, turn, adopted) {
    const m = { message, turn, sealed: false, adopted, blockIds: [], callIds: [] };
    this.messages.set(message.id, m);
    if (turn !== undefined) {
      turn.messages.add(m);
      const candidate = message.candidateIndex ?? 0;
      const stack = turn.stacks.get(candidate);
      if (stack === undefined) turn.stacks.set(candidate, [m]);
      else stack.push(m);
      if (!adopted) {
        turn.targets.set(candidate, m);
        turn.unsealed++;
      }
    }
    this.#changes.order = true;
    this.touchMessage(m);
    return m;
  }

  /** @param {Message} m */
  seal(m) {
    markSealed(m);
    this.touchMessage(m);
  }

  /** Removes a message, its blocks and calls, and takes it off the open-message pointer (SPEC §5, `message.remove`). */
  removeMessage(m) {
    markSealed(m);
    this.messages.delete(m.message.id);
    for (const id of m.blockIds) if (this.blocks.get(id)?.owner === m) this.blocks.delete(id);
    for (const id of m.callIds) this.#removeCall(id, m);
    for (const b of m.message.content) if (b.id !== undefined && this.whole.get(b.id)?.owner === m) this.whole.delete(b.id);
    if (m.turn !== undefined) {
      m.turn.messages.delete(m);
      revertTarget(m);
    }
    this.#changes.order = true;
    this.#changes.messages.add(m.message.id);
  }

  #removeCall(id, m) {
    const call = this.calls.get(id);
    if (call === undefined) return;
    if (call.result !== undefined && (call.owner === m || call.result.owner === m)) {
      this.keepOpen(call.result, false);
      call.result = undefined;
    }
    if (call.owner === m) this.calls.delete(id);
  }

  /** Marks a tool result as preliminary or final. */
  keepOpen(result, open) {
    if (result.open === open) return;
    result.open = open;
    if (result.owner.turn !== undefined) result.owner.turn.preliminary += open ? 1 : -1;
  }

  /** The message that block-creating events of a turn and candidate attach to, sealed or not. @returns {Message|undefined} */
  target(turn, candidate) {
    return turn.targets.get(candidate ?? 0);
  }

  /** @param {Message} m */
  dropScratch(m) {
    for (const id of m.blockIds) {
      const b = this.blocks.get(id);
      if (b !== undefined) b.opaque = '';
    }
  }

  touchMessage(m) {
    this.#changes.messages.add(m.message.id);
  }

  touchTurn(t) {
    this.#changes.turns.add(t.record.turnId);
  }

  /** Forgets what is transient (SPEC §5, `messages.snapshot`) and the messages with it. */
  clearMessages() {
    this.messages.clear();
    this.blocks.clear();
    this.calls.clear();
    this.whole.clear();
    for (const t of this.turns.values()) {
      t.targets.clear();
      t.stacks.clear();
      t.messages.clear();
      t.unsealed = 0;
      t.preliminary = 0;
    }
    this.#changes.all = true;
  }
}

function markSealed(m) {
  if (!m.sealed && !m.adopted && m.turn !== undefined) m.turn.unsealed--;
  m.sealed = true;
}

/** A removed target gives way to the latest message that is still there and unsealed, or to none. */
function revertTarget(m) {
  const candidate = m.message.candidateIndex ?? 0;
  if (m.turn.targets.get(candidate) !== m) return;
  const stack = m.turn.stacks.get(candidate);
  while (stack.length > 0 && stack[stack.length - 1].sealed) stack.pop();
  if (stack.length === 0) m.turn.targets.delete(candidate);
  else m.turn.targets.set(candidate, stack[stack.length - 1]);
}

/** @returns {import('../types.js').Changes} */
function noChanges() {
  return { all: false, order: false, messages: new Set(), turns: new Set(), artifacts: new Set(), memory: false, state: false };
}
