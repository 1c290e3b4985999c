/**
 * Plain JSON values: copies, equality and member access that a hostile name (`__proto__`) cannot turn into a change of a prototype.
 *
 * @module
 */

/**
 * @param {unknown} v
 * @returns {v is {[name: string]: any}} whether v is an object and neither null nor an array
 */
export function isObject(v) {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}

/**
 * Sets an own member. Plain assignment would run the `__proto__` setter.
 *
 * @param {object} target
 * @param {string} name
 * @param {unknown} value
 */
export function setOwn(target, name, value) {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

/**
 * A copy that shares no object with v.
 *
 * @template T
 * @param {T} v a JSON value
 * @returns {T}
 */
export function clone(v) {
  if (typeof v !== 'object' || v === null) return v;
  if (Array.isArray(v)) return /** @type {T} */ (v.map(clone));
  const out = {};
  for (const name of Object.keys(v)) setOwn(out, name, clone(v[name]));
  return /** @type {T} */ (out);
}

/**
 * Structural equality (SPEC §5 INV-FOLD): arrays in order, object members in any order.
 *
 * @param {unknown} a a JSON value
 * @param {unknown} b a JSON value
 * @returns {boolean}
 */
export function equal(a, b) {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => equal(item, b[i]));
  }
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}

/**
 * Copies those of the named members that source has.
 *
 * @param {object} target
 * @param {object} source
 * @param {readonly string[]} names
 */
export function pick(target, source, names) {
  for (const name of names) if (source[name] !== undefined) target[name] = source[name];
}
