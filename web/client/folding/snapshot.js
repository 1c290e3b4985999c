/**
 * The row of `messages.snapshot` (SPEC §5): the messages are replaced, each other container only where the snapshot carries it,
 * and everything transient is forgotten.
 *
 * @module
 */

import { clone } from '../json.js';
import { memoryId } from './side.js';

/**
 * @param {import('./state.js').State} s
 * @param {any} ev
 */
export function messagesSnapshot(s, ev) {
  if (ev.turns !== undefined) replaceTurns(s, ev.turns);
  s.clearMessages();
  for (const message of ev.messages) addMessage(s, clone(message));
  if (ev.artifacts !== undefined) {
    s.artifacts.clear();
    for (const artifact of ev.artifacts) s.artifacts.set(artifact.artifactId, { artifact: clone(artifact), sealed: false });
  }
  if (ev.memory !== undefined) replaceThreadMemory(s, ev.memory);
}

function replaceTurns(s, turns) {
  s.turns.clear();
  s.open.clear();
  s.rootThread = '';
  for (const record of turns) {
    const turn = s.addTurn(clone(record));
    if (record.outcome !== undefined) s.closeTurn(turn);
  }
}

/**
 * Messages of a snapshot are sealed: it is cut where no block is open, and what was open before it is forgotten. A tool message
 * may have been born by `tool.done.messageId`, so it takes further results that name it.
 */
function addMessage(s, message) {
  const adopted = message.role === 'tool';
  const m = s.addMessage(message, s.turns.get(message.turnId), adopted);
  if (!adopted) s.seal(m);
  message.content.forEach((block, at) => register(s, m, block, at));
}

function register(s, m, block, at) {
  if (block.id !== undefined) s.whole.set(block.id, { owner: m, at });
  if (block.type === 'tool-call') {
    s.calls.set(block.toolCallId, { block, owner: m, scratch: '', result: undefined });
    m.callIds.push(block.toolCallId);
  } else if (block.type === 'tool-result') {
    registerResult(s, m, block, at);
  }
}

function registerResult(s, m, block, at) {
  const call = s.calls.get(block.toolCallId);
  if (call === undefined) return; // its call was removed, and with it the call's place in the fold
  const result = { block, owner: m, at, open: false };
  call.result = result;
  s.keepOpen(result, block.preliminary === true);
  m.callIds.push(block.toolCallId);
}

function replaceThreadMemory(s, memory) {
  for (const [id, record] of s.memory) if (record.scope === 'thread') s.memory.delete(id);
  for (const record of memory) if (record.scope === 'thread') s.memory.set(memoryId(record), clone(record));
}
