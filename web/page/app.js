/**
 * The viewer: a list of threads, and one of them as it happens. A client like any other.
 *
 * @module
 */

import { Client } from '../client/index.js';
import { Badge } from './badge.js';
import { h, setText } from './dom.js';
import { Inspector } from './inspector.js';
import { setUpKeys } from './keys.js';
import { setUpTheme } from './theme.js';
import { ThreadList, threadHash } from './threads.js';
import { ThreadView } from './thread-view.js';

/** @param {string} id @returns {any} an element of index.html */
const el = (id) => document.getElementById(id);

class App {
  #client = new Client({ url: document.baseURI });
  #list;
  #view;
  #inspector;
  #badge;
  #sub;
  #scheduled = false;

  constructor() {
    this.#badge = new Badge(el('badge'), this.#client);
    this.#view = new ThreadView(el('thread'), el('scroller'), (following) => {
      el('jump').hidden = following;
    });
    this.#inspector = new Inspector(el('inspector'), () => this.#open(this.#sub.thread, 'start'));
    this.#list = new ThreadList(
      { list: el('threads'), more: el('more'), filter: el('filter'), notice: el('list-notice') },
      this.#client,
      (infos) => this.#firstPage(infos),
    );
    el('jump').addEventListener('click', () => this.#view.toEnd());
    el('raw-toggle').addEventListener('click', () => this.#toggleRaw());
    addEventListener('hashchange', () => this.#route());
    addEventListener('online', () => this.#client.retryNow());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#client.retryNow();
    });
    setUpTheme(el('theme'));
    setUpKeys(el('keys'), el('help'), {
      next: () => this.#go(1),
      previous: () => this.#go(-1),
      filter: () => el('filter').focus(),
      raw: () => this.#toggleRaw(),
      start: () => this.#view.toStart(),
      end: () => this.#view.toEnd(),
      back: () => this.#back(),
    });
    this.#route();
  }

  /** On a wide screen the newest thread is opened where the address names none. */
  #firstPage(infos) {
    if (this.#sub !== undefined) return;
    if (infos.length > 0 && matchMedia('(min-width: 761px)').matches) location.replace(threadHash(infos[0].thread));
    else this.#showEmpty(infos.length === 0);
  }

  #showEmpty(none) {
    el('empty').replaceChildren(
      h('h2', {}, none ? 'No threads yet' : 'Choose a thread'),
      none ? h('p', {}, 'Send the frames of an agent, and its thread appears here:') : null,
      none ? h('pre', { class: 'code-text' }, 'agwire exec --thread my-thread --framework claude -- your-agent') : null,
    );
  }

  #route() {
    const match = /^#\/t\/(.+)$/.exec(location.hash);
    const thread = match === null ? undefined : decoded(match[1]);
    el('layout').dataset.view = thread === undefined ? 'list' : 'thread';
    this.#list.setCurrent(thread);
    if (thread === undefined) this.#close();
    else if (thread !== this.#sub?.thread) this.#open(thread, 'now');
  }

  #close() {
    if (this.#sub !== undefined) this.#client.unsubscribe(this.#sub);
    this.#sub = undefined;
    this.#badge.show(undefined);
    el('pane').hidden = true;
    el('empty').hidden = false;
    document.title = 'Agwire';
  }

  #open(thread, from) {
    if (this.#sub !== undefined && this.#sub.thread !== thread) this.#client.unsubscribe(this.#sub);
    const sub = this.#client.subscribe(thread, { from });
    this.#sub = sub;
    el('pane').hidden = false;
    el('empty').hidden = true;
    setText(el('title'), thread);
    document.title = `${thread} · Agwire`;
    this.#view.clear();
    this.#inspector.clear(sub);
    this.#badge.show(sub);
    sub.on('events', (batch) => {
      if (sub !== this.#sub) return;
      this.#inspector.add(batch);
      this.#announce(batch);
    });
    sub.on('head', ({ open }) => this.#list.setOpen(thread, open));
    sub.on('change', () => this.#schedule());
    this.#schedule();
  }

  /** What changed is drawn once a frame, and seldom while no one sees it. */
  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const draw = () => {
      this.#scheduled = false;
      this.#draw();
    };
    if (document.hidden) setTimeout(draw, 500);
    else requestAnimationFrame(draw);
  }

  #draw() {
    const sub = this.#sub;
    this.#badge.update();
    if (sub === undefined || sub.fold === null) return;
    this.#view.update(sub.fold, sub.live, sub.fold.takeChanges());
    el('thread').dataset.empty = placeholder(sub);
    this.#inspector.changed();
  }

  #announce({ events, pair }) {
    if (pair) return;
    for (const ev of events) {
      if (ev.type === 'turn.done') setText(el('announce'), `The turn ended: ${ev.outcome.type}`);
      else if (ev.type === 'turn.error') setText(el('announce'), `The turn failed: ${ev.message}`);
      else if (ev.type === 'turn.abort') setText(el('announce'), 'The turn was aborted');
      else if (ev.type === 'hitl.ask') setText(el('announce'), `The agent asks: ${ev.message ?? ev.kind}`);
    }
  }

  #toggleRaw() {
    this.#inspector.toggle();
    el('raw-toggle').setAttribute('aria-pressed', String(this.#inspector.open));
  }

  #go(by) {
    const thread = this.#list.beside(by);
    if (thread !== undefined) location.hash = threadHash(thread);
  }

  #back() {
    if (document.activeElement === el('filter')) el('filter').blur();
    else location.hash = '#/';
  }
}

function placeholder(sub) {
  if (sub.status === 'failed') return 'The server refuses this thread';
  if (sub.status === 'absent') return 'This thread does not exist yet. It appears here as soon as it does.';
  return sub.status === 'live' && !sub.resetting ? 'Nothing has been said yet' : 'Loading…';
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

new App();
