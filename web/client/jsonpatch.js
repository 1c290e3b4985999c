/**
 * RFC 6902 (JSON Patch) over parsed JSON. A patch applies as a whole or not at all, and never changes the document it is given:
 * what it touches is copied along its path, the rest is shared.
 *
 * @module
 */

import { clone, equal, isObject, setOwn } from './json.js';

/** A patch that cannot be applied; its message names the operation by its index and never quotes the document. */
export class PatchError extends Error {}

/**
 * @param {unknown} doc a JSON value
 * @param {unknown} patch an array of operations
 * @returns {any} the patched document; doc itself stays as it was
 * @throws {PatchError} when patch is malformed or an operation fails
 */
export function applyPatch(doc, patch) {
  if (!Array.isArray(patch)) throw new PatchError('patch: not an array');
  const edit = new Edit(doc);
  patch.forEach((op, i) => {
    try {
      applyOne(edit, op);
    } catch (err) {
      if (err instanceof PatchError) throw new PatchError(`operation ${i}: ${err.message}`);
      throw err;
    }
  });
  return edit.root;
}

/**
 * @param {string} pointer RFC 6901
 * @returns {string[]} its reference tokens
 */
export function parsePointer(pointer) {
  if (typeof pointer !== 'string') throw new PatchError('pointer: not a string');
  if (pointer === '') return [];
  if (pointer[0] !== '/') throw new PatchError('pointer: does not begin with /');
  if (/~(?![01])/.test(pointer)) throw new PatchError('pointer: bad escape');
  return pointer.slice(1).split('/').map((token) => token.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function applyOne(edit, op) {
  if (!isObject(op)) throw new PatchError('not an object');
  const path = parsePointer(own(op, 'path'));
  switch (own(op, 'op')) {
    case 'add':
      return edit.add(path, clone(own(op, 'value')));
    case 'remove':
      return void edit.remove(path);
    case 'replace':
      return edit.replace(path, clone(own(op, 'value')));
    case 'move': {
      const from = parsePointer(own(op, 'from'));
      if (path.length > from.length && from.every((token, i) => token === path[i])) throw new PatchError('moves a value into itself');
      return edit.add(path, edit.remove(from));
    }
    case 'copy':
      return edit.add(path, clone(edit.get(parsePointer(own(op, 'from')))));
    case 'test':
      if (!equal(edit.get(path), own(op, 'value'))) throw new PatchError('test: values differ');
      return undefined;
    default:
      throw new PatchError('unknown operation');
  }
}

function own(op, name) {
  if (!Object.hasOwn(op, name)) throw new PatchError(`${name}: missing`);
  return op[name];
}

/** One patch under way: which containers are copies of its own already and may be changed in place. */
class Edit {
  constructor(root) {
    this.root = root;
    this.copies = new Set();
  }

  get(path) {
    return path.reduce(child, this.root);
  }

  add(path, value) {
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const { parent, last } = this.#parentOf(path);
    if (Array.isArray(parent)) parent.splice(last === '-' ? parent.length : index(last, parent.length), 0, value);
    else setOwn(parent, last, value);
  }

  remove(path) {
    if (path.length === 0) {
      const whole = this.root;
      this.root = null;
      return whole;
    }
    const { parent, last } = this.#parentOf(path);
    const value = child(parent, last);
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
    return value;
  }

  replace(path, value) {
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const { parent, last } = this.#parentOf(path);
    child(parent, last);
    setOwn(parent, last, value);
  }

  #parentOf(path) {
    let node = (this.root = this.#copied(this.root));
    for (const token of path.slice(0, -1)) {
      const next = this.#copied(child(node, token));
      setOwn(node, token, next);
      node = next;
    }
    if (typeof node !== 'object' || node === null) throw new PatchError('path: the parent is no container');
    return { parent: node, last: path[path.length - 1] };
  }

  #copied(v) {
    if (typeof v !== 'object' || v === null || this.copies.has(v)) return v;
    const copy = Array.isArray(v) ? v.slice() : { ...v };
    this.copies.add(copy);
    return copy;
  }
}

function child(node, token) {
  if (Array.isArray(node)) return node[index(token, node.length - 1)];
  if (!isObject(node) || !Object.hasOwn(node, token)) throw new PatchError('path: no such member');
  return node[token];
}

function index(token, max) {
  if (!/^(0|[1-9][0-9]*)$/.test(token)) throw new PatchError('path: not an array index');
  const i = Number(token);
  if (i > max) throw new PatchError('path: index out of range');
  return i;
}
