/**
 * The open thread as a page of turns and messages. It draws only what a fold says has changed, and of a long thread only a window
 * of messages that moves with the reader: its end at first, earlier and later ones when one scrolls to them.
 *
 * @module
 */

import { h, setText, syncChildren } from './dom.js';
import { MessageView } from './message-view.js';
import { TurnView } from './turn-view.js';

/** How many messages are drawn at first, and how many more at a time. */
const step = 100;
/** How many are drawn at most. */
const most = 600;
/** As near to the end counts as reading the end, in pixels. */
const near = 80;

export class ThreadView {
  /** @type {Map<string, MessageView>} */
  #messages = new Map();
  /** @type {Map<string, TurnView>} */
  #turns = new Map();
  #closed = new Set();
  #ids = [];
  #first = 0;
  #end = 0;
  #topBefore = new Map();
  #earlier;
  #later;
  #lastTop = 0;
  #scroller;
  #root;
  #fold;
  #live;
  #following = true;
  #onFollow;

  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} scroller
   * @param {(following: boolean) => void} onFollow told when one begins or ends to read the end
   */
  constructor(root, scroller, onFollow) {
    this.#root = root;
    this.#scroller = scroller;
    this.#onFollow = onFollow;
    this.#earlier = h('button', { type: 'button', class: 'beyond', onclick: () => this.showEarlier() });
    this.#later = h('button', { type: 'button', class: 'beyond', onclick: () => this.showLater() });
    scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    const seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting && target === this.#earlier) this.showEarlier();
        else if (isIntersecting) this.showLater();
      }
    }, { root: scroller, rootMargin: '600px 0px' });
    seen.observe(this.#earlier);
    seen.observe(this.#later);
    new ResizeObserver(() => this.#stick()).observe(root); // runs after layout, so that sticking costs none of its own
  }

  /** Begins with another thread. */
  clear() {
    this.#messages.clear();
    this.#turns.clear();
    this.#closed.clear();
    this.#ids = [];
    this.#first = 0;
    this.#end = 0;
    this.#lastTop = 0;
    this.#fold = undefined;
    this.#root.replaceChildren();
    this.#follow(true);
  }

  /**
   * @param {import('../client/index.js').Fold} fold
   * @param {import('../client/index.js').Live} live
   * @param {import('../client/types.js').Changes} changes
   */
  update(fold, live, changes) {
    const all = changes.all || fold !== this.#fold;
    this.#fold = fold;
    this.#live = live;
    if (all || changes.order || changes.turns.size > 0) this.#arrange(all);
    const dirtyTurns = this.#dirtyTurns(changes);
    const dirty = all ? this.#messages.keys() : changes.messages;
    for (const id of dirty) this.#drawMessage(id);
    for (const id of all ? this.#turns.keys() : dirtyTurns) this.#drawTurn(id);
  }

  /** Draws earlier messages, keeping in place what one reads. */
  showEarlier() {
    if (this.#first === 0 || this.#fold === undefined) return;
    const first = Math.max(0, this.#first - step);
    this.#move(first, Math.min(this.#end, first + most));
  }

  /** Draws later messages, keeping in place what one reads. */
  showLater() {
    if (this.#end === this.#ids.length || this.#fold === undefined) return;
    const end = Math.min(this.#ids.length, this.#end + step);
    this.#move(Math.max(this.#first, end - most), end);
  }

  /** Goes to the end and stays there. */
  toEnd() {
    this.#follow(true);
    if (this.#fold !== undefined && this.#end < this.#ids.length) this.#move(Math.max(0, this.#ids.length - step), this.#ids.length);
    this.#stick();
  }

  /** Goes to the very start. */
  toStart() {
    if (this.#fold === undefined) return;
    this.#follow(false);
    if (this.#first > 0) this.#move(0, Math.min(this.#ids.length, most));
    this.#scroller.scrollTop = 0;
    this.#lastTop = 0;
  }

  /** Moves the window; what one reads stays where it is on the screen as long as it is still drawn. */
  #move(first, end) {
    const top = this.#scroller.getBoundingClientRect().top;
    const anchor = [...this.#messages.values()].find(({ el }) => el.offsetParent !== null && el.getBoundingClientRect().bottom > top);
    const before = anchor?.el.getBoundingClientRect().top;
    this.#first = first;
    this.#end = end;
    this.#placeAndDraw();
    for (const id of this.#turns.keys()) this.#drawTurn(id);
    if (anchor !== undefined && anchor.el.isConnected) this.#scroller.scrollTop += anchor.el.getBoundingClientRect().top - before;
    this.#lastTop = this.#scroller.scrollTop;
  }

  /** Which messages there are, and which of them are drawn. */
  #arrange(all) {
    const had = this.#ids.length;
    this.#ids = this.#fold.messageIds();
    const { length } = this.#ids;
    if ((all && had === 0) || this.#first > length) this.#first = Math.max(0, length - step);
    if (this.#following && length - this.#first > most) this.#first = length - step;
    this.#end = this.#following ? length : Math.min(length, Math.max(this.#end, this.#first + most));
    this.#placeAndDraw();
  }

  #placeAndDraw() {
    const known = new Set(this.#messages.keys());
    this.#place();
    for (const id of this.#messages.keys()) if (!known.has(id)) this.#drawMessage(id);
  }

  /** Puts every drawn message into its turn, and every turn into its parent. */
  #place() {
    const ids = this.#ids.slice(this.#first, this.#end);
    this.#topBefore = this.#tops();
    const wanted = new Set(ids);
    for (const id of [...this.#messages.keys()]) if (!wanted.has(id)) this.#messages.delete(id);
    const children = new Map();
    const put = (turnId, el) => {
      const list = children.get(turnId);
      if (list === undefined) children.set(turnId, [el]);
      else list.push(el);
    };
    const placed = new Set();
    const placeTurn = (turnId) => {
      if (placed.has(turnId)) return;
      placed.add(turnId);
      const parent = this.#parentOf(turnId);
      if (parent !== undefined) placeTurn(parent);
      put(parent, this.#turn(turnId).el);
    };
    for (const id of ids) {
      const { turnId } = this.#fold.message(id);
      if (turnId !== undefined) placeTurn(turnId);
      put(turnId, this.#message(id).el);
    }
    for (const turnId of this.#turnsWithoutMessages(placed)) placeTurn(turnId);
    for (const id of [...this.#turns.keys()]) if (!placed.has(id)) this.#turns.delete(id);
    for (const [id, view] of this.#turns) view.setChildren(children.get(id) ?? []);
    const later = this.#ids.length - this.#end;
    setText(this.#earlier, `${this.#first} earlier`);
    setText(this.#later, `${later} later`);
    const top = children.get(undefined) ?? [];
    syncChildren(this.#root, [...(this.#first > 0 ? [this.#earlier] : []), ...top, ...(later > 0 ? [this.#later] : [])]);
  }

  /** Turns that have said nothing, as far as they stand among or after what is drawn. */
  #turnsWithoutMessages(placed) {
    const order = this.#fold.turnIds();
    const from = this.#first === 0 ? 0 : Math.max(0, order.findIndex((id) => placed.has(id)));
    const to = this.#end === this.#ids.length ? order.length : order.findLastIndex((id) => placed.has(id));
    return order.slice(from, to).filter((id) => !placed.has(id));
  }

  /** The turn that a nested one stands in; a label that names none stands for the last top-level turn before it (SPEC §8 item 16). */
  #parentOf(turnId) {
    const parent = this.#fold.turn(turnId)?.parentTurnId;
    if (parent === undefined) return undefined;
    if (this.#fold.turn(parent) !== undefined && !this.#within(parent, turnId)) return parent;
    const label = /^turn_(.+)$/.exec(parent);
    const spawner = label === null ? undefined : this.#fold.tool(label[1]).turnId;
    if (spawner !== undefined && spawner !== turnId && !this.#within(spawner, turnId)) return spawner;
    return this.#topBefore.get(turnId);
  }

  /** The last top-level turn before each nested one. */
  #tops() {
    const before = new Map();
    let top;
    for (const id of this.#fold.turnIds()) {
      if (this.#fold.turn(id).parentTurnId === undefined) top = id;
      else before.set(id, top);
    }
    return before;
  }

  /** Whether a turn stands in another, by its parents. */
  #within(turnId, other) {
    const seen = new Set();
    for (let id = turnId; id !== undefined && !seen.has(id); id = this.#fold.turn(id)?.parentTurnId) {
      if (id === other) return true;
      seen.add(id);
    }
    return false;
  }

  #message(id) {
    let view = this.#messages.get(id);
    if (view === undefined) this.#messages.set(id, (view = new MessageView(id)));
    return view;
  }

  #turn(id) {
    let view = this.#turns.get(id);
    if (view === undefined) this.#turns.set(id, (view = new TurnView(id, this.#fold.turn(id)?.parentTurnId !== undefined)));
    return view;
  }

  #drawMessage(id) {
    const message = this.#fold.message(id);
    if (message !== undefined) this.#messages.get(id)?.update(message, this.#fold);
  }

  #dirtyTurns(changes) {
    const dirty = new Set(changes.turns);
    for (const id of changes.artifacts) dirty.add(this.#fold.artifact(id)?.turnId);
    for (const id of this.#live.takeTouched()) dirty.add(id);
    return dirty;
  }

  #drawTurn(id) {
    const view = this.#turns.get(id);
    if (view === undefined) return;
    const artifacts = this.#fold.artifactsOf(id);
    const agent = this.#live.agents.get(id);
    view.update(this.#fold, this.#live, { artifacts, agent: agent?.agentName ?? agent?.agentId });
    if (this.#fold.isClosedTurn(id) && !this.#closed.has(id)) {
      this.#closed.add(id);
      for (const [messageId] of this.#messages) if (this.#fold.message(messageId)?.turnId === id) this.#drawMessage(messageId);
    }
  }

  /** One reads the end when one is near it, and no more when one goes up. */
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    if (scrollHeight - scrollTop - clientHeight < near && this.#end === this.#ids.length) this.#follow(true);
    else if (scrollTop < this.#lastTop - 1) this.#follow(false);
    this.#lastTop = scrollTop;
  }

  #stick() {
    if (!this.#following) return;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#lastTop = this.#scroller.scrollTop;
  }

  #follow(following) {
    if (following === this.#following) return;
    this.#following = following;
    this.#onFollow(following);
  }
}
