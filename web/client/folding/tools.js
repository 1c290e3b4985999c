/**
 * The rows of SPEC §5 that concern tool calls and their results.
 *
 * @module
 */

import { pick } from '../json.js';
import { attachTo, mergeBag, unwritable, why } from './blocks.js';

const callFields = ['serverName', 'providerExecuted', 'title', 'toolMetadata', 'uiVisibility', 'itemId', 'providerMetadata'];
const resultFields = [
  'outcome', 'structuredContent', 'uiData', 'sideData', 'errorText', 'errorCode', 'providerMetadata', 'toolMetadata', 'dynamic',
  'pendingInput', 'isError', '_meta',
];

function toolStart(s, ev) {
  const m = attachTo(s, ev);
  if (typeof m === 'string') return m;
  if (s.calls.has(ev.toolCallId)) return why.taken;
  const block = { type: 'tool-call', toolCallId: ev.toolCallId, name: ev.name, input: {} };
  pick(block, ev, callFields);
  s.addBlock(m, 'call', block, { call: ev.toolCallId });
  return undefined;
}

/** A row on a call whose message still takes deltas. */
function onCall(write) {
  return (s, ev) => {
    const node = s.calls.get(ev.toolCallId);
    if (node === undefined) return 'no such tool call';
    const fault = unwritable(node.owner);
    if (fault !== undefined) return fault;
    write(node, ev);
    s.touchMessage(node.owner);
    return undefined;
  };
}

const argsDelta = onCall((node, ev) => {
  node.scratch += ev.delta;
});

const argsAssembled = onCall((node, ev) => {
  const { block } = node;
  block.input = ev.input;
  node.scratch = '';
  pick(block, ev, ['signature', 'title']);
  mergeBag(block, 'toolMetadata', ev.toolMetadata);
  mergeBag(block, 'providerMetadata', ev.providerMetadata);
});

/**
 * A result lands once: over its preliminary one, in the message it names or gives birth to, else in the open message. Its call
 * need not be in the fold: a resumed run brings results of calls that another log holds.
 */
function toolDone(s, ev) {
  const call = s.calls.get(ev.toolCallId);
  const turn = s.ownerOf(ev) ?? (ev.turnId === undefined ? call?.owner.turn : undefined);
  if (turn === undefined) return why.noOwner;
  if (turn.closed) return why.closed;
  const before = s.results.get(ev.toolCallId);
  if (before !== undefined) return replaceResult(s, before, ev);
  const m = ev.messageId === undefined ? attachTo(s, ev, turn) : adopt(s, ev, turn);
  if (typeof m === 'string') return m;
  const node = s.addBlock(m, 'result', resultBlock(ev, undefined), { call: ev.toolCallId });
  s.keepOpen(node, ev.more === true);
  if (call !== undefined) s.touchMessage(call.owner);
  return undefined;
}

/** A later result of a call takes the place of a preliminary one, wholesale. */
function replaceResult(s, node, ev) {
  const { owner } = node;
  if (owner.turn === undefined) return why.noOwner;
  if (owner.turn.closed) return why.closed;
  if (!node.waiting) return 'the call has its final result';
  if (takesNoResults(owner)) return why.sealed;
  if (ev.messageId !== undefined && ev.messageId !== owner.message.id) return 'the preliminary result is in another message';
  s.replaceBlock(node, resultBlock(ev, node.block));
  s.keepOpen(node, ev.more === true);
  const call = s.calls.get(ev.toolCallId);
  if (call !== undefined) s.touchMessage(call.owner);
  return undefined;
}

/** The message that a result names, born where it is not there yet. */
function adopt(s, ev, turn) {
  const m = s.messages.get(ev.messageId);
  if (m !== undefined) {
    if (m.turn !== turn) return 'the message it names is of another turn';
    return takesNoResults(m) ? why.sealed : m;
  }
  const born = { id: ev.messageId, role: 'tool', content: [], turnId: turn.record.turnId, threadId: turn.record.threadId };
  pick(born, ev, ['candidateIndex']);
  return s.addMessage(born, turn, 'adopted');
}

function takesNoResults(m) {
  return m.seal === 'sealed' || (m.seal === 'restored' && m.message.role !== 'tool');
}

function resultBlock(ev, before) {
  const block = { type: 'tool-result', toolCallId: ev.toolCallId, content: ev.content };
  pick(block, ev, resultFields);
  if (block._meta === undefined && before?._meta !== undefined) block._meta = before._meta;
  if (ev.more === true) block.preliminary = true;
  return block;
}

/** @type {Record<string, (s: import('./state.js').State, ev: any) => string|undefined>} */
export const toolRows = {
  'tool.start': toolStart,
  'tool.args.delta': argsDelta,
  'tool.args.assembled': argsAssembled,
  'tool.done': toolDone,
};
