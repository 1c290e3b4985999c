/**
 * The state of the connection and of the thread's stream, in one word and, when one asks, in detail.
 *
 * @module
 */

import { h, setText } from './dom.js';

const words = { connecting: 'Connecting', live: 'Live', waiting: 'Reconnecting', stopped: 'Stopped' };

export class Badge {
  #dot = h('span', { class: 'dot' });
  #word = h('span', {});
  #details = h('dl', {});
  #retry;
  #client;
  #sub;
  #el;

  /**
   * @param {HTMLDetailsElement} el
   * @param {import('../client/index.js').Client} client
   */
  constructor(el, client) {
    this.#client = client;
    this.#el = el;
    this.#retry = h('button', { type: 'button', onclick: () => (client.state.name === 'stopped' ? client.reopen() : client.retryNow()) }, 'Try now');
    el.append(h('summary', { title: 'Connection' }, this.#dot, this.#word), h('div', { class: 'badge-card' }, this.#details, this.#retry));
    client.on('state', () => this.update());
    el.addEventListener('toggle', () => this.update());
    setInterval(() => {
      if (client.state.name === 'waiting' || el.open) this.update();
    }, 1_000);
    document.addEventListener('click', (event) => {
      if (el.open && event.target instanceof Node && !el.contains(event.target)) el.open = false;
    });
    this.update();
  }

  /** @param {import('../client/index.js').Subscription|undefined} sub */
  show(sub) {
    this.#sub = sub;
    this.update();
  }

  update() {
    const { state } = this.#client;
    const kind = this.#kind(state);
    this.#dot.className = `dot dot-${kind}`;
    setText(this.#word, this.#text(state, kind));
    this.#retry.hidden = state.name !== 'waiting' && state.name !== 'stopped';
    if (this.#el.open) this.#details.replaceChildren(...this.#facts(state).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
  }

  #kind(state) {
    if (state.name !== 'live') return state.name;
    if (this.#sub === undefined) return 'live';
    if (this.#sub.status === 'failed') return 'stopped';
    return this.#sub.status === 'subscribing' || this.#sub.resetting ? 'connecting' : 'live';
  }

  #text(state, kind) {
    if (state.name === 'live' && kind === 'connecting') return 'Syncing';
    if (state.name === 'live' && kind === 'stopped') return 'Refused';
    if (state.name !== 'waiting') return words[state.name];
    const seconds = Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000));
    return `${words.waiting}${seconds > 0 ? ` in ${seconds}s` : ''}`;
  }

  #facts(state) {
    const facts = [['Connection', [words[state.name].toLowerCase(), state.why].filter(Boolean).join(': ')]];
    const sub = this.#sub;
    if (sub === undefined) return facts;
    const { counts } = sub;
    facts.push(
      ['Thread', sub.status === 'absent' ? 'does not exist yet' : sub.open === undefined ? (sub.status === 'live' ? 'followed' : sub.status) : sub.open ? 'a turn is open' : 'no turn is open'],
      ['Cursor', h('code', {}, sub.cursor || 'none')],
      ['Events', counts.events.toLocaleString('en')],
      ['Resets', counts.resets === 0 ? '0' : `${counts.resets}, last: ${sub.lastReset}`],
      ['Gaps', String(counts.gaps + counts.behind)],
    );
    if (counts.diverged + counts.rejected > 0) facts.push(['Diverged', `${counts.diverged}, ${counts.rejected} events refused`]);
    return facts;
  }
}
