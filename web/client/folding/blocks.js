/**
 * The rows of SPEC §5 that concern streaming text and reasoning, and whole blocks.
 *
 * @module
 */

import { pick } from '../json.js';

/**
 * The message that a block-creating event attaches to, or why there is none.
 *
 * @param {import('./state.js').State} s
 * @param {any} ev
 * @returns {import('./state.js').Message|string}
 */
export function attachTo(s, ev) {
  const turn = s.ownerOf(ev);
  if (turn === undefined) return 'the owning turn cannot be resolved (SPEC §5 INV-OWNER)';
  if (turn.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
  const m = s.target(turn, ev.candidateIndex);
  if (m === undefined) return 'no message is open (SPEC §5 INV-MSG)';
  if (m.sealed) return 'the message is sealed (SPEC §5 INV-MSG)';
  return m;
}

/** Merges providerMetadata or another bag, replacing by key. */
export function mergeBag(block, name, bag) {
  if (bag !== undefined) block[name] = { ...block[name], ...bag };
}

function startBlock(s, ev, block) {
  if (s.blocks.has(ev.id)) return 'the block id is taken (SPEC §5 INV-BLOCK)';
  const m = attachTo(s, ev);
  if (typeof m === 'string') return m;
  mergeBag(block, 'providerMetadata', ev.providerMetadata);
  mergeBag(block, '_meta', ev._meta);
  s.blocks.set(ev.id, { block, owner: m, ended: false, opaque: '', parts: [] });
  m.blockIds.push(ev.id);
  m.message.content.push(block);
  s.touchMessage(m);
}

/** The streaming block an event names, or why it cannot take the event. */
function streaming(s, ev, type) {
  const b = s.blocks.get(ev.id);
  if (b === undefined) return 'no such block';
  if (b.block.type !== type) return 'the block is of another kind';
  if (b.owner.sealed) return 'the message is sealed (SPEC §5 INV-MSG)';
  if (b.owner.turn?.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
  return b;
}

/** A row on a streaming block of a type that is not ended yet. */
function onBlock(type, write, whenEnded = false) {
  return (s, ev) => {
    const b = streaming(s, ev, type);
    if (typeof b === 'string') return b;
    if (b.ended && !whenEnded) return 'the block is sealed';
    write(b, ev);
    s.touchMessage(b.owner);
    return undefined;
  };
}

const textDelta = onBlock('text', (b, ev) => {
  b.block.text += ev.delta;
  mergeBag(b.block, 'providerMetadata', ev.providerMetadata);
});

const textEnd = onBlock('text', (b, ev) => {
  b.ended = true;
  mergeBag(b.block, 'providerMetadata', ev.providerMetadata);
  pick(b.block, ev, ['citations']);
});

function reasoningStart(s, ev) {
  const block = { type: 'reasoning', text: '' };
  pick(block, ev, ['itemId']);
  const why = startBlock(s, ev, block);
  if (why === undefined && ev.partIndex !== undefined) s.blocks.get(ev.id).parts.push({ index: ev.partIndex, text: '' });
  return why;
}

const reasoningDelta = onBlock('reasoning', (b, ev) => {
  appendPart(b, ev.partIndex, ev.delta);
  mergeBag(b.block, 'providerMetadata', ev.providerMetadata);
});

/** Text is the concatenation of the parts in the order of their index; a delta that names none continues the text's end. */
function appendPart(b, index, delta) {
  const { parts, block } = b;
  const last = parts[parts.length - 1];
  if (index === undefined && last === undefined) {
    block.text += delta;
    return;
  }
  if (index === undefined || index === last?.index) {
    last.text += delta;
    block.text += delta;
    return;
  }
  if (parts.length === 0 && block.text !== '') parts.push({ index: -1, text: block.text });
  const at = parts.findIndex((p) => p.index >= index);
  if (at === -1) {
    parts.push({ index, text: delta });
    block.text += delta;
    return;
  }
  if (parts[at].index === index) parts[at].text += delta;
  else parts.splice(at, 0, { index, text: delta });
  block.text = parts.map((p) => p.text).join('');
}

const reasoningEnd = onBlock('reasoning', (b, ev) => {
  b.ended = true;
  pick(b.block, ev, ['provider']);
  mergeBag(b.block, 'providerMetadata', ev.providerMetadata);
});

const reasoningOpaque = onBlock('reasoning', (b, ev) => {
  b.block.opaque = { kind: ev.kind, value: ev.value === '' ? b.opaque : ev.value };
  pick(b.block.opaque, ev, ['provider']);
  pick(b.block, ev, ['itemId']);
  b.opaque = '';
}, true);

const reasoningOpaqueDelta = onBlock('reasoning', (b, ev) => {
  b.opaque += ev.delta;
}, true);

function contentBlock(s, ev) {
  const { block } = ev;
  if (ev.transient === true || block.transient === true) return undefined;
  const known = block.id === undefined ? undefined : s.whole.get(block.id);
  if (known !== undefined) return replaceWhole(s, known, block);
  if (block.type === 'tool-call' && s.calls.has(block.toolCallId)) return 'the tool-call id is taken (SPEC §5 INV-BLOCK)';
  const m = attachTo(s, ev);
  if (typeof m === 'string') return m;
  appendWhole(s, m, block);
  s.touchMessage(m);
  return undefined;
}

/** A block of the same id is replaced where it stands, whichever message holds it. */
function replaceWhole(s, { owner, at }, block) {
  if (owner.sealed) return 'the message is sealed (SPEC §5 INV-MSG)';
  if (owner.turn?.closed) return 'the turn is closed (SPEC §5 INV-MSG)';
  owner.message.content[at] = block;
  s.touchMessage(owner);
  return undefined;
}

/** Appends a whole block, and knows it and its tool call from now on. */
function appendWhole(s, m, ofEvent) {
  const block = { ...ofEvent };
  const at = m.message.content.push(block) - 1;
  if (block.id !== undefined) s.whole.set(block.id, { owner: m, at });
  if (block.type === 'tool-call') {
    s.calls.set(block.toolCallId, { block, owner: m, scratch: '', result: undefined });
    m.callIds.push(block.toolCallId);
  }
}

/** @type {Record<string, (s: import('./state.js').State, ev: any) => string|undefined>} */
export const blockRows = {
  'text.start': (s, ev) => startBlock(s, ev, { type: 'text', text: '' }),
  'text.delta': textDelta,
  'text.end': textEnd,
  'reasoning.start': reasoningStart,
  'reasoning.delta': reasoningDelta,
  'reasoning.end': reasoningEnd,
  'reasoning.opaque': reasoningOpaque,
  'reasoning.opaque.delta': reasoningOpaqueDelta,
  'content.block': contentBlock,
};
