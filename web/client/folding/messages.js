/**
 * The rows of SPEC §5 that concern messages as a whole.
 *
 * @module
 */

import { pick } from '../json.js';

const fields = ['candidateIndex', 'extensions', 'agentId', 'agentName', 'agentRole', 'model'];

function messageStart(s, ev) {
  const turn = s.turns.get(ev.turnId);
  if (turn === undefined) return 'the turn was never opened (SPEC §5 INV-TURN)';
  if (turn.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
  if (s.messages.has(ev.id)) return 'the message id is taken (SPEC §5 INV-MSG)';
  const message = { id: ev.id, role: ev.role, content: [], turnId: ev.turnId, threadId: ev.threadId };
  pick(message, ev, fields);
  s.addMessage(message, turn, false);
}

function messageEnd(s, ev) {
  const m = s.messages.get(ev.id);
  if (m === undefined) return 'no such message (SPEC §5 INV-MSG)';
  if (m.sealed) return 'the message is sealed (SPEC §5 INV-MSG)';
  if (m.turn?.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
  pick(m.message, ev, ['usage']);
  s.seal(m);
  s.dropScratch(m);
}

function messageRemove(s, ev) {
  if (ev.id !== '*') {
    const m = s.messages.get(ev.id);
    if (m !== undefined) s.removeMessage(m);
    return;
  }
  const turn = s.turns.get(ev.turnId);
  if (turn !== undefined) for (const m of [...turn.messages].reverse()) s.removeMessage(m);
}

function messageMetadata(s, ev) {
  const m = metadataTarget(s, ev);
  if (m === undefined) return 'no message takes the metadata';
  m.message.metadata = { ...m.message.metadata, ...ev.metadata };
  s.touchMessage(m);
}

function metadataTarget(s, ev) {
  if (ev.messageId !== undefined) return s.messages.get(ev.messageId);
  const turn = s.ownerOf(ev);
  return turn === undefined ? undefined : s.target(turn, 0);
}

/** @type {Record<string, (s: import('./state.js').State, ev: any) => string|undefined>} */
export const messageRows = {
  'message.start': messageStart,
  'message.end': messageEnd,
  'message.remove': messageRemove,
  'message.metadata': messageMetadata,
};
