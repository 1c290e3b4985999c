/**
 * The doors through which something of a thread may reach more than text: links, images, sounds, and HTML that must be shown.
 *
 * @module
 */

import { h } from './dom.js';

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
const audioTypes = new Set(['audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/wav', 'audio/webm', 'audio/flac', 'audio/aac']);
/** Base64 text beyond this is described and not shown, in characters. */
const largest = 16 << 20;

/**
 * @param {unknown} url
 * @returns {string|undefined} the URL where it may be followed: absolute, http or https (SPEC §13.4)
 */
export function safeURL(url) {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? href : undefined;
}

/**
 * @param {unknown} url
 * @param {string} [label] the URL itself unless given
 * @returns {HTMLElement} a link; plain text where the URL may not be followed
 */
export function safeLink(url, label = String(url)) {
  const href = safeURL(url);
  if (href === undefined) return h('span', { class: 'no-link', title: 'Not a web address' }, label);
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer nofollow', title: href, dir: 'auto' }, label);
}

/**
 * @param {any} source an AgSource
 * @returns {HTMLElement|undefined} an image; nothing where it is none that is shown
 */
export function safeImage(source) {
  const data = inlineData(source, imageTypes);
  if (data === undefined) return undefined;
  const img = h('img', { class: 'picture', alt: 'image' });
  img.decoding = 'async';
  img.src = data;
  return img;
}

/**
 * @param {any} source an AgSource
 * @returns {HTMLElement|undefined} a player; nothing where it is no sound that is played
 */
export function safeAudio(source) {
  const data = inlineData(source, audioTypes);
  if (data === undefined) return undefined;
  const audio = h('audio', { class: 'sound' });
  audio.controls = true;
  audio.preload = 'none';
  audio.src = data;
  return audio;
}

function inlineData(source, types) {
  if (source?.type !== 'base64' || typeof source.data !== 'string' || source.data.length > largest) return undefined;
  const type = String(source.mediaType).toLowerCase().split(';')[0].trim();
  if (!types.has(type) || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(source.data)) return undefined;
  return `data:${type};base64,${source.data}`;
}

let policy;
/** Beside the page's own policy, which such a frame inherits: nothing is loaded either. */
const framePolicy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/** The only place where a string becomes a document: that of a frame without script, forms and an origin (SPEC §13.3). */
function forSandbox(html) {
  if (globalThis.trustedTypes === undefined) return html;
  policy ??= globalThis.trustedTypes.createPolicy('agwire-sandbox', { createHTML: (text) => text });
  return policy.createHTML(html);
}

/**
 * HTML that a provider's terms require to be shown (SPEC §13.3), in a frame that can run nothing and reach nothing.
 *
 * @param {{provider: string, html: string}} record
 * @returns {HTMLElement}
 */
export function sandboxed({ provider, html }) {
  const frame = h('iframe', { class: 'sandbox', title: `Required by ${provider}` });
  frame.setAttribute('sandbox', 'allow-popups allow-popups-to-escape-sandbox');
  frame.referrerPolicy = 'no-referrer';
  frame.srcdoc = forSandbox(`<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${framePolicy}"><base target="_blank">${html}`);
  return frame;
}
