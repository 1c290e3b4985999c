/**
 * Elements from text and nothing else: no markup is ever parsed here, so that nothing of a thread can become code (SPEC §13.6).
 *
 * @module
 */

/** Attributes that h sets; whatever can load or run something is not among them. */
const allowed = new Set(['class', 'title', 'id', 'role', 'type', 'dir', 'for', 'tabindex', 'open', 'hidden', 'colspan', 'href', 'rel', 'target', 'alt', 'placeholder', 'value']);

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes by name (`aria-` and `data-` too), and listeners by `onclick` and the like
 * @param {...(Node|string|number|null|undefined|false)} children
 * @returns {any} the element
 */
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') el.addEventListener(name.slice(2), value);
    else if (allowed.has(name) || name.startsWith('aria-') || name.startsWith('data-')) el.setAttribute(name, value === true ? '' : String(value));
    else throw new TypeError(`attribute ${name}`);
  }
  append(el, children);
  return el;
}

function append(el, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Makes the children of an element the given ones, moving only what is out of place.
 *
 * @param {Element} parent
 * @param {Element[]} wanted
 */
export function syncChildren(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const el of wanted) {
    if (el === at) at = at.nextElementSibling;
    else parent.insertBefore(el, at);
  }
}

/**
 * Sets text where it differs, so that nothing is laid out for nothing.
 *
 * @param {Element} el
 * @param {string} text
 */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

/**
 * Text that grows: kept in pieces that end at line ends, so that appending to a long text touches only its end.
 */
export class GrowingText {
  #text = '';
  #tail;
  #tailLength = 0;

  /** @param {string} [className] */
  constructor(className = 'text') {
    this.el = h('div', { class: className, dir: 'auto' });
    this.#newPiece();
  }

  /** @param {string} text the whole text; one that goes on from what is shown is appended to it */
  set(text) {
    if (text.length === this.#text.length && text === this.#text) return;
    if (text.length < this.#text.length || !text.startsWith(this.#text)) {
      this.el.replaceChildren();
      this.#text = '';
      this.#newPiece();
    }
    this.#append(text.slice(this.#text.length));
    this.#text = text;
  }

  #append(added) {
    let rest = added;
    while (this.#tailLength + rest.length > pieceSize) {
      const from = Math.max(0, pieceSize - this.#tailLength);
      const end = rest.indexOf('\n', from);
      if (end === -1) break;
      this.#tail.appendData(rest.slice(0, end + 1)); // the line end stays, for whoever copies the text
      rest = rest.slice(end + 1);
      this.#newPiece();
    }
    this.#tail.appendData(rest);
    this.#tailLength += rest.length;
  }

  #newPiece() {
    this.#tail = document.createTextNode('');
    this.#tailLength = 0;
    this.el.append(h('div', { class: 'piece' }, this.#tail));
  }
}

const pieceSize = 4_000;
