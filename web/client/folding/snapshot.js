/**
 * The row of `messages.snapshot` (SPEC §5): the messages are replaced, each other container only where the snapshot carries it,
 * and everything transient is forgotten. Of two entries with one id the first counts.
 *
 * @module
 */

import { clone } from '../json.js';
import { identify } from './blocks.js';
import { memoryId } from './side.js';

/**
 * @param {import('./state.js').State} s
 * @param {any} ev
 */
export function messagesSnapshot(s, ev) {
  if (ev.turns !== undefined) replaceTurns(s, ev.turns);
  s.clearMessages();
  for (const message of ev.messages) if (!s.messages.has(message.id)) restoreMessage(s, clone(message));
  if (ev.artifacts !== undefined) {
    s.artifacts.clear();
    for (const a of ev.artifacts) if (!s.artifacts.has(a.artifactId)) s.artifacts.set(a.artifactId, { artifact: clone(a), sealed: false });
  }
  if (ev.memory !== undefined) replaceThreadMemory(s, ev.memory);
}

function replaceTurns(s, turns) {
  s.turns.clear();
  s.open.clear();
  for (const record of turns) {
    if (s.turns.has(record.turnId)) continue;
    const turn = s.addTurn(clone(record), record.parentTurnId !== undefined);
    if (record.outcome !== undefined) s.closeTurn(turn);
  }
}

function restoreMessage(s, message) {
  const m = s.addMessage(message, s.turns.get(message.turnId), 'restored');
  message.content.forEach((block, at) => {
    const led = block.type === 'tool-call' || block.type === 'tool-result' || (block.type === 'data' && block.id !== undefined);
    if (led) identify(s, s.register(m, 'whole', block, at));
  });
}

function replaceThreadMemory(s, memory) {
  for (const [id, record] of s.memory) if (record.scope === 'thread') s.memory.delete(id);
  for (const record of memory) if (record.scope === 'thread') s.memory.set(memoryId(record), clone(record));
}
