/**
 * The rows of SPEC §5 that concern messages as a whole.
 *
 * @module
 */

import { pick } from '../json.js';
import { why } from './blocks.js';

const fields = ['candidateIndex', 'extensions', 'agentId', 'agentName', 'agentRole', 'model'];

function messageStart(s, ev) {
  const turn = s.turns.get(ev.turnId);
  if (turn === undefined) return why.noTurn;
  if (turn.closed) return why.closed;
  if (s.messages.has(ev.id)) return why.taken;
  const message = { id: ev.id, role: ev.role, content: [], turnId: ev.turnId, threadId: ev.threadId };
  pick(message, ev, fields);
  s.addMessage(message, turn, 'started');
  return undefined;
}

function messageEnd(s, ev) {
  const m = s.messages.get(ev.id);
  if (m === undefined) return 'no such message (SPEC §5 INV-MSG)';
  if (m.turn === undefined || m.turn.closed) return why.closed;
  if (m.seal !== 'started') return why.sealed;
  pick(m.message, ev, ['usage']);
  s.seal(m);
  return undefined;
}

/** Idempotent: an id that is not there, like a turn without messages, is nothing to remove. */
function messageRemove(s, ev) {
  if (ev.id !== '*') {
    const m = s.messages.get(ev.id);
    if (m !== undefined) s.removeMessage(m);
    return undefined;
  }
  const known = s.turns.get(ev.turnId)?.messages;
  const all = known ?? [...s.messages.values()].filter((m) => m.message.turnId === ev.turnId);
  for (const m of [...all].reverse()) s.removeMessage(m);
  return undefined;
}

function messageMetadata(s, ev) {
  const m = metadataTarget(s, ev);
  if (m === undefined) return 'no message takes the metadata';
  m.message.metadata = { ...m.message.metadata, ...ev.metadata };
  s.touchMessage(m);
  return undefined;
}

function metadataTarget(s, ev) {
  if (ev.messageId !== undefined) return s.messages.get(ev.messageId);
  const turn = s.ownerOf(ev);
  return turn === undefined ? undefined : s.openMessage(turn);
}

/** @type {Record<string, (s: import('./state.js').State, ev: any) => string|undefined>} */
export const messageRows = {
  'message.start': messageStart,
  'message.end': messageEnd,
  'message.remove': messageRemove,
  'message.metadata': messageMetadata,
};
