/**
 * The rows of SPEC §5 beside the messages: artifacts, shared state, memory.
 *
 * @module
 */

import { isObject, pick } from '../json.js';
import { applyPatch, PatchError } from '../jsonpatch.js';

function artifactStart(s, ev) {
  const turn = s.turns.get(ev.turnId);
  if (turn === undefined) return 'the turn was never opened (SPEC §5 INV-TURN)';
  if (turn.closed) return 'the turn is closed (SPEC §5 INV-TURN)';
  const artifact = { artifactId: ev.artifactId, turnId: ev.turnId, threadId: ev.threadId, parts: [] };
  pick(artifact, ev, ['name', 'description', 'extensions']);
  s.artifacts.set(ev.artifactId, { artifact, sealed: false });
  s.changes.artifacts.add(ev.artifactId);
}

function artifactDelta(s, ev) {
  const a = s.artifacts.get(ev.artifactId);
  if (a === undefined) return 'no such artifact';
  if (a.sealed) return 'the artifact is sealed';
  const { parts } = a.artifact;
  if (!ev.append) {
    parts.push({ ...ev.part });
  } else {
    const last = parts[parts.length - 1];
    if (last === undefined) return 'no part to append to';
    const joined = joinParts(last, ev.part);
    if (joined === undefined) return 'the parts cannot be joined';
    parts[parts.length - 1] = joined;
  }
  s.changes.artifacts.add(ev.artifactId);
}

/** Concatenates a part onto the last one of the same kind. */
function joinParts(last, part) {
  if (last.type !== part.type) return undefined;
  switch (part.type) {
    case 'text':
      last.text += part.text;
      return last;
    default:
      return undefined;
  }
}

function artifactEnd(s, ev) {
  const a = s.artifacts.get(ev.artifactId);
  if (a === undefined) return 'no such artifact';
  a.sealed = true;
  s.changes.artifacts.add(ev.artifactId);
}

function stateSnapshot(s, ev) {
  s.state = ev.snapshot;
  s.changes.state = true;
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
