/**
 * What the rows of SPEC §5 work on: the result as it grows, and beside it what is open, sealed and closed.
 *
 * @module
 */

/**
 * @typedef {object} Turn
 * @property {import('../types.js').AgTurnRecord} record
 * @property {boolean} nested opened by `subagent.start`
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
 * @property {'started'|'sealed'|'adopted'|'restored'} seal started takes blocks; adopted was born by `tool.done.messageId` and takes
 *   results that name it, blocks only once a removal makes it the target; restored came by a snapshot: like adopted where its role is tool, else sealed
 * @property {Node[]} nodes those of its blocks that ids lead to
 *
 * @typedef {object} Node a block that an id leads to
 * @property {'text'|'reasoning'|'call'|'result'|'whole'} kind
 * @property {any} block
 * @property {Message} owner
 * @property {number} at place among the owner's blocks
 * @property {string[]} ids block ids
 * @property {string|undefined} call tool-call id of a call or a result
 * @property {boolean} ended no delta may follow
 * @property {boolean} waiting a preliminary result
 * @property {string} scratch arguments as they stream
 * @property {{index: number, text: string}[]} parts of a reasoning block, ascending; empty while no partIndex was seen
 * @property {{index: number, text: string}|undefined} part the one written last
 */

/** The working state of one fold. */
export class State {
  /** @type {Map<string, Turn>} */ turns = new Map();
  /** @type {Set<Turn>} */ open = new Set();
  /** @type {Map<string, Message>} */ messages = new Map();
  /** By block id. @type {Map<string, Node>} */ blocks = new Map();
  /** By tool-call id. @type {Map<string, Node>} */ calls = new Map();
  /** By tool-call id. @type {Map<string, Node>} */ results = new Map();
  /** @type {Map<string, {artifact: any, sealed: boolean}>} */ artifacts = new Map();
  /** @type {Map<string, any>} */ memory = new Map();
  /** @type {any} */ state = undefined;
  rootThread = '';
  changes = noChanges();

  /** @returns {boolean} whether no open turn has an unsealed message or a preliminary result */
  atBoundary() {
    for (const t of this.open) if (t.unsealed > 0 || t.preliminary > 0) return false;
    return true;
  }

  /** @returns {import('../types.js').Changes} */
  takeChanges() {
    const taken = this.changes;
    this.changes = noChanges();
    return taken;
  }

  /**
   * The owning turn of an event (SPEC §5 INV-OWNER): its turnId, the turn of the message it names, the sole open turn.
   *
   * @param {any} ev
   * @returns {Turn|undefined}
   */
  ownerOf(ev) {
    if (ev.turnId !== undefined) return this.turns.get(ev.turnId);
    const named = ev.messageId === undefined ? undefined : this.messages.get(ev.messageId);
    if (named !== undefined) return named.turn;
    if (this.open.size !== 1) return undefined;
    const [only] = this.open;
    return only;
  }

  /** Opens a turn at the end of the records; the caller has checked that the id is new. @returns {Turn} */
  addTurn(record, nested) {
    const turn = { record, nested, closed: false, targets: new Map(), stacks: new Map(), messages: new Set(), unsealed: 0, preliminary: 0 };
    this.turns.set(record.turnId, turn);
    this.open.add(turn);
    if (this.rootThread === '') this.rootThread = record.threadId;
    this.touchTurn(turn);
    return turn;
  }

  /** Closes a turn, and with it the messages that still take blocks. @param {Turn} turn */
  closeTurn(turn) {
    turn.closed = true;
    this.open.delete(turn);
    for (const m of turn.messages) if (m.seal === 'started') this.seal(m);
    turn.targets.clear();
    turn.stacks.clear();
    this.touchTurn(turn);
  }

  /** Opens a closed turn again: what follows attaches under it. @param {Turn} turn */
  reopenTurn(turn) {
    turn.closed = false;
    this.open.add(turn);
    this.touchTurn(turn);
  }

  /**
   * Appends a message; the caller has checked that the id is new.
   *
   * @param {any} message
   * @param {Turn|undefined} turn
   * @param {Message['seal']} seal
   * @returns {Message}
   */
  addMessage(message, turn, seal) {
    const m = { message, turn, seal, nodes: [] };
    this.messages.set(message.id, m);
    turn?.messages.add(m);
    if (turn !== undefined && seal !== 'restored') putOnStack(turn, m);
    if (turn !== undefined && seal === 'started') turn.unsealed++;
    this.changes.order = true;
    this.touchMessage(m);
    return m;
  }

  /** @param {Message} m one that is started */
  seal(m) {
    m.seal = 'sealed';
    if (m.turn !== undefined) m.turn.unsealed--;
    this.touchMessage(m);
  }

  /** Removes a message with its blocks, and takes it off the open-message pointer (SPEC §5, `message.remove`). */
  removeMessage(m) {
    this.messages.delete(m.message.id);
    for (const node of m.nodes) {
      this.keepOpen(node, false);
      this.release(node);
    }
    if (m.seal === 'started') this.seal(m);
    m.seal = 'sealed';
    if (m.turn !== undefined) {
      m.turn.messages.delete(m);
      revertTarget(m);
    }
    this.changes.order = true;
    this.touchMessage(m);
  }

  /**
   * Appends a block to a message, and remembers it where ids lead to it.
   *
   * @param {Message} m
   * @param {Node['kind']} kind
   * @param {any} block
   * @param {{id?: string, call?: string}} [names]
   * @returns {Node}
   */
  addBlock(m, kind, block, { id, call } = {}) {
    const at = m.message.content.push(block) - 1;
    const node = this.register(m, kind, block, at);
    if (id !== undefined) this.nameBlock(node, id);
    if (call !== undefined) this.nameCall(node, call);
    this.touchMessage(m);
    return node;
  }

  /** Makes the node of a block that is in its place already. @returns {Node} */
  register(owner, kind, block, at) {
    const node = { kind, block, owner, at, ids: [], call: undefined, ended: false, waiting: false, scratch: '', parts: [], part: undefined };
    owner.nodes.push(node);
    return node;
  }

  nameBlock(node, id) {
    node.ids.push(id);
    this.blocks.set(id, node);
  }

  nameCall(node, call) {
    node.call = call;
    (node.kind === 'call' ? this.calls : this.results).set(call, node);
  }

  /** Puts another block in the place of a node's. */
  replaceBlock(node, block) {
    node.block = block;
    node.owner.message.content[node.at] = block;
    this.touchMessage(node.owner);
  }

  /** Frees the ids that lead to a node. */
  release(node) {
    for (const id of node.ids) if (this.blocks.get(id) === node) this.blocks.delete(id);
    if (this.calls.get(node.call) === node) this.calls.delete(node.call);
    if (this.results.get(node.call) === node) this.results.delete(node.call);
    node.ids = [];
    node.call = undefined;
  }

  /** Marks a tool result as preliminary or final. */
  keepOpen(node, open) {
    if (node.waiting === open) return;
    node.waiting = open;
    if (node.owner.turn !== undefined) node.owner.turn.preliminary += open ? 1 : -1;
  }

  /** The message that block-creating events of a turn and candidate attach to, sealed or not. @returns {Message|undefined} */
  target(turn, candidate) {
    return turn.targets.get(candidate ?? 0);
  }

  /** A turn's open message: that of candidate 0, else the one opened last. @returns {Message|undefined} */
  openMessage(turn) {
    const first = turn.targets.get(0);
    if (first?.seal === 'started') return first;
    let found;
    for (const m of turn.messages) if (m.seal === 'started' && turn.targets.get(m.message.candidateIndex ?? 0) === m) found = m;
    return found;
  }

  touchMessage(m) {
    this.changes.messages.add(m.message.id);
  }

  touchTurn(t) {
    this.changes.turns.add(t.record.turnId);
  }

  /** Forgets the messages and all that was open in them (SPEC §5, `messages.snapshot`). */
  clearMessages() {
    this.messages.clear();
    this.blocks.clear();
    this.calls.clear();
    this.results.clear();
    for (const t of this.turns.values()) {
      t.targets.clear();
      t.stacks.clear();
      t.messages.clear();
      t.unsealed = 0;
      t.preliminary = 0;
    }
    this.changes.all = true;
  }
}

function putOnStack(turn, m) {
  const candidate = m.message.candidateIndex ?? 0;
  const stack = turn.stacks.get(candidate);
  if (stack === undefined) turn.stacks.set(candidate, [m]);
  else stack.push(m);
  if (m.seal === 'started') turn.targets.set(candidate, m);
}

/** A removed target gives way to the latest message that is still there and unsealed, or to none. */
function revertTarget(m) {
  const candidate = m.message.candidateIndex ?? 0;
  if (m.turn.targets.get(candidate) !== m) return;
  const stack = m.turn.stacks.get(candidate);
  while (stack.length > 0 && stack[stack.length - 1].seal === 'sealed') stack.pop();
  const top = stack[stack.length - 1];
  if (top === undefined) {
    m.turn.targets.delete(candidate);
    return;
  }
  m.turn.targets.set(candidate, top);
  if (top.seal === 'started') return;
  top.seal = 'started'; // it has taken results alone, and takes blocks as well from now on
  m.turn.unsealed++;
}

/** @returns {import('../types.js').Changes} */
function noChanges() {
  return { all: false, order: false, messages: new Set(), turns: new Set(), artifacts: new Set(), memory: false, state: false };
}
