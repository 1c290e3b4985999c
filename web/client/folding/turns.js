/**
 * The rows of SPEC §5 that concern turns and their records.
 *
 * @module
 */

import { isObject, pick } from '../json.js';
import { why } from './blocks.js';

function turnStart(s, ev) {
  const known = s.turns.get(ev.turnId);
  const turn = known ?? s.addTurn({ turnId: ev.turnId, threadId: ev.threadId }, false);
  if (turn.closed) s.reopenTurn(turn);
  pick(turn.record, ev, ['threadId', 'trigger']);
  s.touchTurn(turn);
  return undefined;
}

function subagentStart(s, ev) {
  const known = s.turns.get(ev.turnId);
  if (known !== undefined) {
    if (known.closed) s.reopenTurn(known);
    known.nested = true;
    known.record.parentTurnId = ev.parentTurnId;
    s.touchTurn(known);
    return undefined;
  }
  const threadId = s.turns.get(ev.parentTurnId)?.record.threadId ?? s.rootThread;
  s.addTurn({ turnId: ev.turnId, parentTurnId: ev.parentTurnId, threadId }, true);
  return undefined;
}

function subagentDone(s, ev) {
  const turn = s.turns.get(ev.turnId);
  if (turn === undefined) return why.noOwner;
  if (!turn.nested) return 'the turn is not a nested one';
  if (!turn.closed) s.closeTurn(turn);
  return undefined;
}

function turnDone(s, ev) {
  const turn = s.turns.get(ev.turnId);
  if (turn === undefined) return why.noOwner;
  if (turn.closed) return why.closed;
  let target;
  if (ev.messageMetadata !== undefined) {
    target = ev.messageId === undefined ? s.openMessage(turn) : s.messages.get(ev.messageId);
    if (target === undefined) return 'no message takes messageMetadata';
  }
  const record = turn.record;
  pick(record, ev, ['outcome', 'finishReason', 'usage', 'taskState']);
  addSafety(record, ev.safety);
  if (ev.outcome.type === 'paused') record.asks = ev.outcome.asks;
  if (target !== undefined) {
    const had = target.message.messageMetadata;
    target.message.messageMetadata = isObject(had) && isObject(ev.messageMetadata) ? { ...had, ...ev.messageMetadata } : ev.messageMetadata;
    s.touchMessage(target);
  }
  s.closeTurn(turn);
  return undefined;
}

function turnError(s, ev) {
  const turn = s.ownerOf(ev);
  if (turn === undefined) return why.noOwner;
  if (turn.closed) return why.closed;
  turn.record.outcome = { type: 'error', message: ev.message };
  pick(turn.record.outcome, ev, ['code']);
  pick(turn.record, ev, ['usage']);
  s.closeTurn(turn);
  return undefined;
}

function turnAbort(s, ev) {
  const turn = s.ownerOf(ev);
  if (turn === undefined) return why.noOwner;
  if (turn.closed) return why.closed;
  turn.record.outcome = { type: 'aborted' };
  pick(turn.record.outcome, ev, ['reason']);
  s.closeTurn(turn);
  return undefined;
}

function addSafety(record, safety) {
  if (safety !== undefined) record.safety = [...(record.safety ?? []), ...safety];
}

/** A row that writes on the record of the owning turn, which must be open. */
function onRecord(write) {
  return (s, ev) => {
    const turn = s.ownerOf(ev);
    if (turn === undefined) return why.noOwner;
    if (turn.closed) return why.closed;
    write(turn.record, ev);
    s.touchTurn(turn);
    return undefined;
  };
}

function appendPicked(field, names) {
  return onRecord((record, ev) => {
    const item = {};
    pick(item, ev, names);
    (record[field] ??= []).push(item);
  });
}

const promptBlocked = onRecord((record, ev) => {
  record.promptBlocked = { reason: ev.reason };
  pick(record.promptBlocked, ev, ['safety']);
  addSafety(record, ev.safety);
});

const capabilities = onRecord((record, ev) => {
  record.capabilities = ev.capabilities;
});

const source = onRecord((record, ev) => {
  const item = {};
  pick(item, ev, ['sourceId', 'source', 'chunkIndex', 'providerMetadata']);
  (record.sources ??= []).push(item);
  (record.sourceIds ??= []).push(ev.sourceId);
});

/** @type {Record<string, (s: import('./state.js').State, ev: any) => string|undefined>} */
export const turnRows = {
  'turn.start': turnStart,
  'turn.done': turnDone,
  'turn.error': turnError,
  'turn.abort': turnAbort,
  'subagent.start': subagentStart,
  'subagent.done': subagentDone,
  'prompt.blocked': promptBlocked,
  'guardrail.result': appendPicked('guardrails', ['target', 'passed', 'action', 'reason', 'guardrailName', 'safety']),
  'agent.capabilities': capabilities,
  handoff: appendPicked('handoffs', ['kind', 'fromAgentId', 'toAgentId', 'toAgentName']),
  'display.required': appendPicked('displayRequired', ['provider', 'html']),
  source,
};
