/**
 * The list of threads: newest activity first, asked for every few seconds while the page is seen.
 *
 * @module
 */

import { ApiError } from '../client/index.js';
import { h, setText, syncChildren } from './dom.js';
import { ago } from './format.js';

const pageSize = 50;
/** Between two looks at the list, and after one that failed, in milliseconds. */
const pause = 2_500;
const pauseAfterFault = 8_000;

export class ThreadList {
  /** @type {Map<string, any>} */
  #infos = new Map();
  #items = new Map();
  #next;
  #current;
  #filter = '';
  #loaded = false;
  #order = [];
  #timer;
  #reads = 0;
  #faulty = false;
  #elements;
  #client;
  #onLoaded;

  /**
   * @param {{list: HTMLElement, more: HTMLElement, filter: HTMLInputElement, notice: HTMLElement}} elements
   * @param {import('../client/index.js').Client} client
   * @param {(infos: any[]) => void} onLoaded told once, with the first page
   */
  constructor(elements, client, onLoaded) {
    this.#elements = elements;
    this.#client = client;
    this.#onLoaded = onLoaded;
    elements.more.addEventListener('click', () => this.#loadMore());
    elements.filter.addEventListener('input', () => {
      this.#filter = elements.filter.value.trim().toLowerCase();
      this.#draw();
    });
    setInterval(() => this.#drawTimes(), 5_000);
    client.on('state', ({ name }) => {
      if (name === 'live' && this.#faulty) this.#refresh();
    });
    this.#refresh();
  }

  /** @param {string|undefined} thread the one that is open */
  setCurrent(thread) {
    this.#current = thread;
    this.#draw();
  }

  /** @param {string} thread @param {boolean} open what a heartbeat told */
  setOpen(thread, open) {
    const info = this.#infos.get(thread);
    if (info === undefined || info.open === open) return;
    info.open = open;
    this.#draw();
  }

  /** @param {number} by 1 is the next one down, -1 the one above @returns {string|undefined} the thread beside the current one */
  beside(by) {
    const shown = this.#shown();
    const at = shown.findIndex((info) => info.thread === this.#current);
    return shown[Math.min(shown.length - 1, Math.max(0, at + by))]?.thread;
  }

  /** Reads the first page now, and again after a pause. */
  async #refresh() {
    clearTimeout(this.#timer);
    const turn = ++this.#reads;
    if (!document.hidden) await this.#read();
    if (turn !== this.#reads) return; // another read has begun meanwhile
    this.#timer = setTimeout(() => this.#refresh(), this.#faulty ? pauseAfterFault : pause);
  }

  async #read() {
    try {
      const page = await this.#client.threads({ limit: pageSize });
      this.#merge(page.threads);
      if (!this.#loaded) this.#next = page.next;
      this.#firstTime(page.threads);
      this.#note('');
      this.#faulty = false;
    } catch (err) {
      this.#note(`The list cannot be read: ${reason(err)}`);
      this.#faulty = true;
    }
    this.#draw();
  }

  #firstTime(threads) {
    if (this.#loaded) return;
    this.#loaded = true;
    this.#onLoaded(threads);
  }

  async #loadMore() {
    try {
      const page = await this.#client.threads({ limit: pageSize, after: this.#next });
      this.#merge(page.threads);
      this.#next = page.next;
    } catch (err) {
      this.#note(`Older threads cannot be read: ${reason(err)}`);
    }
    this.#draw();
  }

  #merge(infos) {
    for (const info of infos) this.#infos.set(info.thread, info);
  }

  #note(text) {
    setText(this.#elements.notice, text);
    this.#elements.notice.hidden = text === '';
  }

  #shown() {
    const still = this.#elements.list.matches(':hover, :focus-within');
    if (!still) this.#order = [...this.#infos.values()].sort(newestFirst).map((info) => info.thread);
    else for (const thread of this.#infos.keys()) if (!this.#order.includes(thread)) this.#order.push(thread);
    return this.#order.map((thread) => this.#infos.get(thread)).filter((info) => info.thread.toLowerCase().includes(this.#filter));
  }

  #draw() {
    const { list, more } = this.#elements;
    const shown = this.#shown();
    syncChildren(list, shown.map((info) => this.#item(info)));
    more.hidden = this.#next === undefined || this.#filter !== '';
    list.dataset.empty = this.#loaded && this.#infos.size === 0 ? 'No threads yet' : this.#loaded && shown.length === 0 ? 'No thread has this in its name' : '';
  }

  #item(info) {
    let item = this.#items.get(info.thread);
    if (item === undefined) {
      item = makeItem(info.thread);
      this.#items.set(info.thread, item);
    }
    item.dot.className = `dot ${info.open ? 'dot-live' : 'dot-idle'}`;
    item.dot.title = info.open ? 'A turn is open' : 'No turn is open';
    setText(item.time, ago(info.updatedAt, Date.now()));
    item.time.title = info.updatedAt ?? '';
    if (info.thread === this.#current) item.link.setAttribute('aria-current', 'page');
    else item.link.removeAttribute('aria-current');
    return item.el;
  }

  #drawTimes() {
    for (const [thread, item] of this.#items) setText(item.time, ago(this.#infos.get(thread)?.updatedAt, Date.now()));
  }
}

function reason(err) {
  return err instanceof ApiError ? err.message : 'the server does not answer';
}

function newestFirst(a, b) {
  const x = a.updatedAt ?? '';
  const y = b.updatedAt ?? '';
  if (x !== y) return x < y ? 1 : -1;
  return a.thread < b.thread ? -1 : 1;
}

/** @param {string} thread @returns {string} the page's address of a thread */
export function threadHash(thread) {
  return `#/t/${encodeURIComponent(thread)}`;
}

function makeItem(thread) {
  const dot = h('span', { class: 'dot' });
  const time = h('time', { class: 'dim' });
  const link = h('a', { href: threadHash(thread), class: 'thread-link' }, dot, h('span', { class: 'thread-name', dir: 'auto', title: thread }, thread), time);
  return { el: h('li', {}, link), link, dot, time };
}
