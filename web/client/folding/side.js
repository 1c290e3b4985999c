/**
 * The rows of SPEC §5 beside the messages: artifacts, shared state, memory.
 *
 * @module
 */

import { isObject, pick } from '../json.js';
import { applyPatch, PatchError } from '../jsonpatch.js';
import { mergeBag, why } from './blocks.js';

function artifactStart(s, ev) {
  const turn = s.turns.get(ev.turnId);
  if (turn === undefined) return why.noTurn;
  if (turn.closed) return why.closed;
  const artifact = { artifactId: ev.artifactId, turnId: ev.turnId, threadId: ev.threadId, parts: [] };
  pick(artifact, ev, ['name', 'description', 'extensions']);
  s.artifacts.set(ev.artifactId, { artifact, sealed: false });
  s.changes.artifacts.add(ev.artifactId);
  return undefined;
}

/** Starts a part or goes on with the last one. An artifact outlives its turn. */
function artifactDelta(s, ev) {
  const a = s.artifacts.get(ev.artifactId);
  if (a === undefined) return 'no such artifact';
  if (a.sealed) return 'the artifact is sealed';
  const { parts } = a.artifact;
  if (ev.append) {
    const last = parts[parts.length - 1];
    if (last === undefined) return 'no part to append to';
    if (last.type !== 'text' || ev.part.type !== 'text') return 'the parts cannot be joined';
    joinText(last, ev.part);
  } else {
    parts.push({ ...ev.part });
  }
  s.changes.artifacts.add(ev.artifactId);
  return undefined;
}

function joinText(last, part) {
  last.text += part.text;
  if (part.citations !== undefined) last.citations = [...(last.citations ?? []), ...part.citations];
  mergeBag(last, 'providerMetadata', part.providerMetadata);
  mergeBag(last, '_meta', part._meta);
  pick(last, part, ['annotations']);
}

function artifactEnd(s, ev) {
  const a = s.artifacts.get(ev.artifactId);
  if (a === undefined) return 'no such artifact';
  if (a.sealed) return 'the artifact is sealed';
  a.sealed = true;
  s.changes.artifacts.add(ev.artifactId);
  return undefined;
}

function stateSnapshot(s, ev) {
  s.state = ev.snapshot;
  s.changes.state = true;
  return undefined;
}

function stateDelta(s, ev) {
  if (Array.isArray(ev.patch)) {
    if (s.state === undefined) return 'no state to patch';
    const next = patched(s.state, ev.patch);
    if (typeof next.why === 'string') return next.why;
    s.state = next.value;
  } else if (isObject(ev.patch)) {
    s.state = mergeNodes(s.state, ev.patch);
  } else {
    return undefined; // neither form: there is nothing to apply
  }
  s.changes.state = true;
  return undefined;
}

/** LangGraph's `updates`: each node's members, last writer wins. */
function mergeNodes(state, patch) {
  const merged = { ...(isObject(state) ? state : {}) };
  const nodes = Object.entries(patch).map(([node, value]) => {
    const had = Object.hasOwn(merged, node) ? merged[node] : undefined;
    return [node, isObject(had) && isObject(value) ? { ...had, ...value } : value];
  });
  return { ...merged, ...Object.fromEntries(nodes) };
}

function memoryWrite(s, ev) {
  const id = memoryId(ev);
  const had = s.memory.get(id);
  if (ev.patch !== undefined) {
    if (had === undefined) return 'no value to patch';
    const next = patched(had.value, ev.patch);
    if (typeof next.why === 'string') return next.why;
    had.value = next.value;
    pick(had, ev, ['reason', 'durable']);
  } else {
    const record = { scope: ev.scope };
    pick(record, ev, ['key', 'value', 'reason', 'durable', 'turnId']);
    s.memory.set(id, record);
  }
  s.changes.memory = true;
  return undefined;
}

/** An absent key names the scope's default record, the same as ''. */
export function memoryId(record) {
  return `${record.scope} ${record.key ?? ''}`;
}

/** @returns {{value?: any, why?: string}} */
function patched(value, patch) {
  try {
    return { value: applyPatch(value, patch) };
  } catch (err) {
    if (err instanceof PatchError) return { why: err.message };
    throw err;
  }
}

/** @type {Record<string, (s: import('./state.js').State, ev: any) => string|undefined>} */
export const sideRows = {
  'artifact.start': artifactStart,
  'artifact.delta': artifactDelta,
  'artifact.end': artifactEnd,
  'state.snapshot': stateSnapshot,
  'state.delta': stateDelta,
  'memory.write': memoryWrite,
};
