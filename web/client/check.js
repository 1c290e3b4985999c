/**
 * The trust boundary of SPEC §5: values of another process are checked against the specification before they are folded.
 * The posture is the consumer's (SPEC §0.2): unknown members pass, and so do unknown event types and block kinds unless `strict`.
 *
 * @module
 */

import { isObject } from './json.js';
import { table } from './table.js';

/**
 * @typedef {{path: string, why: string}} Fault where (a JSON Pointer) and why a value is not what it should be; no content
 * @typedef {(v: any, path: string, strict: boolean) => Fault|undefined} Check
 */

/** @type {Map<string, Check>} */
const checks = new Map();

/**
 * @param {unknown} ev
 * @param {{strict?: boolean}} [options] strict refuses unknown types
 * @returns {Fault|undefined} the first fault; nothing when the event may be folded
 */
export function checkEvent(ev, { strict = false } = {}) {
  return checkValue('AgEvent', ev, { strict });
}

/**
 * @param {string} schema the specification's name of an output type, such as AgEvent or AgReduceResult
 * @param {unknown} value
 * @param {{strict?: boolean}} [options]
 * @returns {Fault|undefined}
 * @throws {RangeError} for a name that is not known here
 */
export function checkValue(schema, value, { strict = false } = {}) {
  const check = checks.get(schema);
  if (check === undefined) throw new RangeError(`no schema ${schema}`);
  return check(value, '', strict);
}

/** Rules that the table names with `check`. @type {Record<string, Check>} */
const extra = {
  'message.remove': (ev, path) => (ev.id === '*' && ev.turnId === undefined ? fault(`${path}/turnId`, 'missing, and id is "*"') : undefined),
  'memory.write': (ev, path) => {
    if (ev.value !== undefined && ev.patch !== undefined) return fault(`${path}/patch`, 'value and patch exclude each other');
    if (ev.value === undefined && ev.patch === undefined) return fault(`${path}/value`, 'missing, and so is patch');
    return undefined;
  },
};

function fault(path, why) {
  return { path, why };
}

/** @type {Record<string, Check>} */
const scalars = {
  string: (v, path) => (typeof v === 'string' ? undefined : fault(path, 'want a string')),
  number: (v, path) => (typeof v === 'number' ? undefined : fault(path, 'want a number')),
  seq: (v, path) => (typeof v === 'number' && Number.isSafeInteger(v) && v >= 0 ? undefined : fault(path, 'want an ordinal')),
  bool: (v, path) => (typeof v === 'boolean' ? undefined : fault(path, 'want true or false')),
  any: () => undefined,
  meta: (v, path) => (isObject(v) ? undefined : fault(path, 'want an object')),
  Confidence: (v, path) => (typeof v === 'number' || (Array.isArray(v) && v.every((n) => typeof n === 'number')) ? undefined : fault(path, 'want a number or numbers')),
};
scalars.secret = scalars.string;
scalars.bag = scalars.meta;

/** The check of a type as the table writes it; named types are looked up when used, since they may come later. */
function typeCheck(type) {
  if (type.startsWith('[]')) return listOf(typeCheck(type.slice(2)));
  if (type.startsWith('map[')) return mapOf(typeCheck(type.slice(4, -1)));
  if (type.startsWith('=')) return oneOf([type.slice(1)]);
  if (type === 'true') return (v, path) => (v === true ? undefined : fault(path, 'want true'));
  if (scalars[type] !== undefined) return scalars[type];
  return (v, path, strict) => {
    const check = checks.get(type);
    if (check === undefined) throw new Error(`protocol table: no type ${type}`);
    return check(v, path, strict);
  };
}

function oneOf(values) {
  const allowed = new Set(values);
  return (v, path) => (typeof v === 'string' && allowed.has(v) ? undefined : fault(path, 'not one of the allowed values'));
}

function listOf(item) {
  return (v, path, strict) => {
    if (!Array.isArray(v)) return fault(path, 'want a list');
    for (let i = 0; i < v.length; i++) {
      const found = item(v[i], `${path}/${i}`, strict);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function mapOf(item) {
  return (v, path, strict) => {
    if (!isObject(v)) return fault(path, 'want an object');
    for (const name of Object.keys(v)) {
      const found = item(v[name], `${path}/${escapeToken(name)}`, strict);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function escapeToken(name) {
  return name.replace(/~/g, '~0').replace(/\//g, '~1');
}

/** @typedef {{name: string, required: boolean, check: Check}} Field */

/** @param {readonly Field[]} fields */
function checkFields(fields, v, path, strict) {
  for (const { name, required, check } of fields) {
    const value = Object.hasOwn(v, name) ? v[name] : undefined;
    if (value === undefined) {
      if (required) return fault(`${path}/${name}`, 'missing');
      continue;
    }
    const found = check(value, `${path}/${name}`, strict);
    if (found !== undefined) return found;
  }
  return undefined;
}

function objectCheck(fields) {
  return (v, path, strict) => (isObject(v) ? checkFields(fields, v, path, strict) : fault(path, 'want an object'));
}

/** @param {{discriminant: string, shared: Field[], cases: Map<string, {fields: Field[], extra: Check|undefined}>}} union */
function unionCheck({ discriminant, shared, cases }) {
  return (v, path, strict) => {
    if (!isObject(v)) return fault(path, 'want an object');
    const kind = Object.hasOwn(v, discriminant) ? v[discriminant] : undefined;
    if (kind !== undefined && typeof kind !== 'string') return fault(`${path}/${discriminant}`, 'want a string');
    const variant = cases.get(kind ?? '-');
    if (variant !== undefined) return checkFields(variant.fields, v, path, strict) ?? variant.extra?.(v, path, strict);
    if (kind === undefined) return fault(`${path}/${discriminant}`, 'missing');
    if (strict && !/^ext\.[^.]+\../.test(kind)) return fault(`${path}/${discriminant}`, 'unknown kind');
    return checkFields(shared, v, path, strict);
  };
}

function parseField(words) {
  const [name, type] = words;
  const required = !name.endsWith('?');
  return { name: required ? name : name.slice(0, -1), required, check: typeCheck(type) };
}

function readTable() {
  let fields;
  /** @type {any} */
  let union;
  for (const line of table.split('\n')) {
    const words = line.split(/\s+/).filter(Boolean);
    if (words.length === 0 || words[0] === '#') continue;
    if (line.startsWith('enum ')) {
      checks.set(words[1], oneOf(words.slice(2)));
    } else if (line.startsWith('object ')) {
      fields = [];
      checks.set(words[1], objectCheck(fields));
      union = undefined;
    } else if (line.startsWith('union ')) {
      fields = [];
      union = { discriminant: words[3], shared: fields, cases: new Map() };
      checks.set(words[1], unionCheck(union));
    } else if (words[0] === 'case') {
      fields = startCase(union, words);
    } else if (words[0] === 'check') {
      const kind = [...union.cases.keys()].pop();
      union.cases.get(kind).extra = extra[kind];
    } else {
      fields.push(parseField(words));
    }
  }
}

/** A variant has the shared fields too, those behind `need` as required ones. */
function startCase(union, words) {
  const at = words.indexOf('need');
  const needed = new Set(at === -1 ? [] : words.slice(at + 1));
  const fields = union.shared.map((f) => (needed.has(f.name) ? { ...f, required: true } : f));
  union.cases.set(words[1], { fields, extra: undefined });
  return fields;
}

readTable();
