/**
 * One view for each kind of block. A view has an element and `update(block)`, which says whether it could take the block: where
 * it could not, another view takes its place.
 *
 * @module
 */

import { equal } from '../client/index.js';
import { GrowingText, h, setText } from './dom.js';
import { byteSize, count, oneLine } from './format.js';
import { jsonView } from './json-view.js';
import { safeAudio, safeImage, safeLink, safeURL } from './safe.js';
import { ToolView } from './tool-view.js';

/**
 * @typedef {object} Context what a block may need to know of its surroundings
 * @property {import('../client/index.js').Fold} fold
 * @property {boolean} growing whether it is the last block of an open message
 *
 * @typedef {{el: HTMLElement, update: (block: any, context: Context) => boolean}} BlockView
 */

/**
 * @param {any} block
 * @param {Context} context
 * @returns {BlockView}
 */
export function viewOf(block, context) {
  const view = growingView(block.type) ?? new StillView();
  view.update(block, context);
  return view;
}

class TextView {
  #text = new GrowingText('text prose');
  #notes = h('div', { class: 'citations' });
  #citations;

  constructor() {
    this.el = h('div', { class: 'block' }, this.#text.el, this.#notes);
    this.#notes.hidden = true;
  }

  update(block, { growing: isGrowing }) {
    if (block.type !== 'text') return false;
    this.#text.set(block.text);
    this.el.classList.toggle('growing', isGrowing);
    if (block.citations !== this.#citations) {
      this.#citations = block.citations;
      this.#notes.replaceChildren(...(block.citations ?? []).map(citationView));
      this.#notes.hidden = (block.citations ?? []).length === 0;
    }
    return true;
  }
}

function citationView(citation, i) {
  const label = citation.title ?? citation.source ?? citation.url ?? (citation.sourceIds ?? []).join(', ');
  const name = citation.url !== undefined ? safeLink(citation.url, label) : h('span', { dir: 'auto' }, label || citation.kind);
  return h('div', { class: 'citation' }, h('span', { class: 'num' }, i + 1), name, h('q', { dir: 'auto' }, oneLine(citation.citedText, 160)));
}

class ReasoningView {
  #text = new GrowingText('text');
  #length = h('span', { class: 'dim' });
  #touched = false;

  constructor() {
    this.el = h('details', { class: 'block reasoning' }, h('summary', {}, h('span', {}, 'Reasoning'), this.#length), this.#text.el);
    this.el.querySelector('summary').addEventListener('click', () => {
      this.#touched = true;
    });
  }

  update(block, { growing: isGrowing }) {
    if (block.type !== 'reasoning') return false;
    const text = block.text ?? '';
    this.#text.set(text);
    setText(this.#length, text === '' ? (block.opaque === undefined ? '' : 'kept by the provider') : `${count(text.length)} characters`);
    if (!this.#touched) this.el.open = isGrowing && text !== '';
    this.el.classList.toggle('growing', isGrowing);
    return true;
  }
}

/** A view for the kinds whose blocks change while they stand. */
function growingView(type) {
  switch (type) {
    case 'text':
      return new TextView();
    case 'reasoning':
      return new ReasoningView();
    case 'tool-call':
      return new ToolView();
    default:
      return undefined;
  }
}

const growing = new Set(['text', 'reasoning', 'tool-call']);

/** Any other kind: drawn when it comes, and again when another block takes its place. */
class StillView {
  #block;

  constructor() {
    this.el = h('div', { class: 'block' });
  }

  update(block, context) {
    if (growing.has(block.type)) return false;
    if (block === this.#block) return true;
    this.#block = block;
    const draw = Object.hasOwn(still, block.type) ? still[block.type] : unknown;
    this.el.replaceChildren(draw(block, context));
    return true;
  }
}

const still = {
  image: (block) => picture(block.source, 'Image'),
  audio: (block) => safeAudio(block.source) ?? attachment('Audio', block.source),
  file: (block) => picture(block.source, block.filename ?? 'File'),
  document: (block) => attachment(block.title ?? 'Document', block.source),
  'resource-link': (block) => card('Resource', safeLink(block.uri), block.mimeType),
  resource: resourceView,
  code: (block) => h('figure', { class: 'code' }, h('figcaption', {}, block.language), codeView(block.code)),
  'code-result': (block) => h('figure', { class: `code outcome-${block.outcome}` }, h('figcaption', {}, `output · ${block.outcome}`), codeView(block.output)),
  compaction: (block) => fold('Earlier conversation, summarized', textView(block.text ?? '')),
  'search-result': (block) => card('Found', block.url === undefined ? h('span', {}, block.title ?? '') : safeLink(block.url, block.title ?? block.url), block.pageAge),
  data: (block) => fold(`Data · ${block.name}`, jsonView(block.data), true),
  'provider-raw': (block) => fold(`Kept as ${block.vendor} sent it`, jsonView(block.raw)),
  'tool-result': (block, context) => h('div', { class: 'tool' }, h('div', { class: 'tool-part' }, resultView(block, context))),
};

function unknown(block) {
  return fold(`Block of kind ${block.type}`, jsonView(block));
}

function textView(text) {
  const view = new GrowingText('text');
  view.set(text);
  return view.el;
}

function codeView(text) {
  return h('pre', { class: 'code-text', tabindex: '0' }, text);
}

function card(kind, content, note) {
  return h('div', { class: 'card' }, h('span', { class: 'kind' }, kind), content, note === undefined ? null : h('span', { class: 'dim' }, note));
}

/**
 * A part that opens when one asks for it; its content is made only then.
 *
 * @param {string} label
 * @param {Node} content
 * @param {boolean} [open]
 * @returns {HTMLElement}
 */
export function fold(label, content, open = false) {
  return h('details', { class: 'fold', open }, h('summary', { dir: 'auto' }, label), content);
}

/** A picture; its description where it is none, or cannot be drawn. */
function picture(source, name) {
  const img = safeImage(source);
  if (img === undefined) return attachment(name, source);
  img.addEventListener('error', () => img.replaceWith(attachment(name, source)));
  return img;
}

function attachment(name, source) {
  const note = [source.mediaType, source.type === 'base64' ? byteSize(source.data) : undefined].filter(Boolean).join(' · ');
  if (source.type === 'url') return card(name, safeLink(source.url), note);
  return card(name, h('span', { dir: 'auto' }, source.type === 'file' ? source.fileId : ''), note);
}

/** A surface is a stranger's program (SPEC §13.3): its source is shown, it is not run. */
function resourceView({ resource }) {
  const note = [resource.mimeType, /^text\/html/.test(resource.mimeType ?? '') ? 'not run here' : undefined].filter(Boolean).join(' · ');
  const head = card('Resource', safeURL(resource.uri) === undefined ? h('span', { dir: 'auto' }, resource.uri) : safeLink(resource.uri), note);
  if (resource.text === undefined) return head;
  return h('div', {}, head, fold('Source', codeView(resource.text)));
}

/**
 * The blocks and channels of a tool's result.
 *
 * @param {any} block a tool-result block
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function resultView(block, context) {
  const el = h('div', { class: 'result' });
  if (block.errorText !== undefined || block.errorCode !== undefined) {
    el.append(h('p', { class: 'error-text', dir: 'auto' }, block.errorText, block.errorCode === undefined ? null : h('code', {}, block.errorCode)));
  }
  const said = block.content.filter((inner) => inner.type !== 'text' || inner.text !== block.errorText); // it stands there already
  for (const inner of said) el.append(contentOf(inner, context));
  for (const [name, label] of [['structuredContent', 'Structured'], ['uiData', 'For the surface'], ['sideData', 'For the app'], ['pendingInput', 'Waits for input']]) {
    if (block[name] === undefined || (name === 'structuredContent' && isJSONOf(said, block[name]))) continue;
    el.append(fold(label, jsonView(name === 'pendingInput' ? { inputKeys: block[name].inputKeys } : block[name]), said.length === 0));
  }
  if (el.childElementCount === 0) el.append(h('p', { class: 'dim' }, 'no content'));
  return el;
}

/** Whether the content says nothing but a value, as MCP servers repeat what they also give as data. */
function isJSONOf(content, value) {
  return content.length === 1 && content[0].type === 'text' && equal(parsed(content[0].text), value);
}

/** Text that is JSON is shown as JSON. */
function contentOf(block, context) {
  if (block.type !== 'text') return viewOf(block, { ...context, growing: false }).el;
  const value = parsed(block.text);
  return value === undefined ? textView(block.text) : jsonView(value);
}

/** The object or list that a text is; nothing where it is neither. */
function parsed(text) {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
