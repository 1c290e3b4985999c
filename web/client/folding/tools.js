/**
 * The rows of SPEC §5 that concern tool calls and their results.
 *
 * @module
 */

import { pick } from '../json.js';
import { attachTo, mergeBag } from './blocks.js';

const callFields = ['serverName', 'providerExecuted', 'title', 'uiVisibility', 'itemId'];
const resultFields = [
  'outcome', 'structuredContent', 'uiData', 'sideData', 'errorText', 'errorCode', 'providerMetadata', 'toolMetadata', 'dynamic',
  'pendingInput', 'isError', '_meta',
];

function toolStart(s, ev) {
  if (s.calls.get(ev.toolCallId) !== undefined) return 'the tool-call id is taken (SPEC §5 INV-BLOCK)';
  const m = attachTo(s, ev);
  if (typeof m === 'string') return m;
  const block = { type: 'tool-call', toolCallId: ev.toolCallId, name: ev.name, input: {} };
  pick(block, ev, callFields);
  mergeBag(block, 'toolMetadata', ev.toolMetadata);
  mergeBag(block, 'providerMetadata', ev.providerMetadata);
  s.calls.set(ev.toolCallId, { block, owner: m, scratch: '', result: undefined });
  m.callIds.push(ev.toolCallId);
  m.message.content.push(block);
  s.touchMessage(m);
}

/** A row on a call whose message still takes deltas. */
function onCall(write) {
  return (s, ev) => {
    const call = s.calls.get(ev.toolCallId);
    if (call === undefined) return 'no such tool call';
    if (call.owner.sealed) return 'the message is sealed (SPEC §5 INV-MSG)';
    if (call.owner.turn?.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
    write(call, ev);
    s.touchMessage(call.owner);
    return undefined;
  };
}

const argsDelta = onCall((call, ev) => {
  call.scratch += ev.delta;
});

const argsAssembled = onCall((call, ev) => {
  call.block.input = ev.input;
  call.scratch = '';
  pick(call.block, ev, ['signature', 'title']);
  mergeBag(call.block, 'toolMetadata', ev.toolMetadata);
  mergeBag(call.block, 'providerMetadata', ev.providerMetadata);
});

function toolDone(s, ev) {
  const call = s.calls.get(ev.toolCallId);
  if (call === undefined) return 'no such tool call';
  if (call.result !== undefined) return replaceResult(s, call, ev);
  const landing = landingOf(s, ev);
  if (typeof landing === 'string') return landing;
  const m = landing.message ?? s.addMessage(landing.born, landing.turn, true);
  const result = { block: resultBlock(ev, undefined), owner: m, at: m.message.content.length, open: false };
  m.message.content.push(result.block);
  m.callIds.push(ev.toolCallId);
  call.result = result;
  s.keepOpen(result, ev.more === true);
  s.touchMessage(m);
  s.touchMessage(call.owner);
}

/** A later result of a call takes the place of a preliminary one, wholesale. */
function replaceResult(s, call, ev) {
  const { result } = call;
  if (!result.open) return 'the call has its final result';
  if (result.owner.turn?.closed) return 'the turn is closed';
  if (ev.messageId !== undefined && ev.messageId !== result.owner.message.id && result.owner.adopted) return 'the result is in another message';
  result.block = resultBlock(ev, result.block);
  result.owner.message.content[result.at] = result.block;
  s.keepOpen(result, ev.more === true);
  s.touchMessage(result.owner);
  return undefined;
}

/** Where a first result lands: a known message, or one to be born under the id that the result brings (adoption). */
function landingOf(s, ev) {
  if (ev.messageId === undefined) {
    const m = attachTo(s, ev);
    return typeof m === 'string' ? m : { message: m };
  }
  const message = s.messages.get(ev.messageId);
  const turn = s.ownerOf(ev);
  if (turn === undefined) return 'the owning turn cannot be resolved (SPEC §5 INV-OWNER)';
  if (turn.closed || message?.turn?.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
  if (message?.sealed) return 'the message is sealed (SPEC §5 INV-MSG)';
  if (message !== undefined) return { message };
  const born = { id: ev.messageId, role: 'tool', content: [], turnId: turn.record.turnId, threadId: turn.record.threadId };
  pick(born, ev, ['candidateIndex']);
  return { born, turn };
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
