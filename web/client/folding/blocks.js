/**
 * The rows of SPEC §5 that concern streaming text and reasoning, and whole blocks.
 *
 * @module
 */

import { pick } from '../json.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Message} Message */

export const why = {
  noOwner: 'the owning turn cannot be resolved (SPEC §5 INV-OWNER)',
  noTurn: 'the turn was never opened (SPEC §5 INV-TURN)',
  closed: 'the turn is closed (SPEC §5 INV-MSG)',
  noMessage: 'no message is open (SPEC §5 INV-MSG)',
  sealed: 'the message is sealed (SPEC §5 INV-MSG)',
  taken: 'the id is taken (SPEC §5 INV-BLOCK)',
};

/**
 * The message that a block-creating event attaches to, or why there is none.
 *
 * @param {State} s
 * @param {any} ev
 * @param {import('./state.js').Turn|undefined} [turn] where the event itself does not tell
 * @returns {Message|string}
 */
export function attachTo(s, ev, turn = s.ownerOf(ev)) {
  if (turn === undefined) return why.noOwner;
  if (turn.closed) return why.closed;
  const named = ev.messageId === undefined ? undefined : s.messages.get(ev.messageId);
  if (named !== undefined && (named.seal === 'sealed' || named.turn?.closed)) return why.sealed;
  const m = s.target(turn, ev.candidateIndex);
  if (m === undefined) return why.noMessage;
  if (m.seal === 'sealed' || m.seal === 'restored') return why.sealed;
  return m;
}

/** Why the blocks of a message cannot change; nothing when they can. @param {Message} m */
export function unwritable(m) {
  if (m.seal === 'sealed' || m.seal === 'restored') return why.sealed;
  return m.turn === undefined || m.turn.closed ? why.closed : undefined;
}

/** Merges providerMetadata or another bag, replacing by key. */
export function mergeBag(block, name, bag) {
  if (bag !== undefined) block[name] = { ...block[name], ...bag };
}

function startBlock(s, ev, kind, block) {
  const m = attachTo(s, ev);
  if (typeof m === 'string') return m;
  if (s.blocks.has(ev.id)) return why.taken;
  mergeBag(block, 'providerMetadata', ev.providerMetadata);
  mergeBag(block, '_meta', ev._meta);
  s.addBlock(m, kind, block, { id: ev.id });
  return undefined;
}

/** A row on a streaming block of a kind; with `whenEnded` also after its end. */
function onBlock(kind, write, whenEnded = false) {
  return (s, ev) => {
    const node = s.blocks.get(ev.id);
    if (node === undefined) return 'no such block';
    if (node.kind !== kind) return 'the block is of another kind';
    const closed = unwritable(node.owner);
    if (closed !== undefined) return closed;
    if (node.ended && !whenEnded) return 'the block is sealed';
    write(node, ev);
    s.touchMessage(node.owner);
    return undefined;
  };
}

const textDelta = onBlock('text', ({ block }, ev) => {
  block.text += ev.delta;
  mergeBag(block, 'providerMetadata', ev.providerMetadata);
});

const textEnd = onBlock('text', (node, ev) => {
  node.ended = true;
  mergeBag(node.block, 'providerMetadata', ev.providerMetadata);
  pick(node.block, ev, ['citations']);
});

function reasoningStart(s, ev) {
  if (ev.partIndex !== undefined && s.blocks.get(ev.id)?.kind === 'reasoning') return openPart(s, ev);
  const block = { type: 'reasoning', text: '' };
  pick(block, ev, ['itemId']);
  const fault = startBlock(s, ev, 'reasoning', block);
  if (fault === undefined && ev.partIndex !== undefined) partOf(s.blocks.get(ev.id), ev.partIndex);
  return fault;
}

/** A further start of a block that is open begins a summary part of it. */
const openPart = onBlock('reasoning', (node, ev) => {
  pick(node.block, ev, ['itemId']);
  mergeBag(node.block, 'providerMetadata', ev.providerMetadata);
  mergeBag(node.block, '_meta', ev._meta);
  partOf(node, ev.partIndex);
});

/** Moves to a part of a reasoning block, which is made where it is not there yet. */
function partOf(node, index) {
  if (node.parts.length === 0 && node.block.text !== '') node.parts.push({ index: -Infinity, text: node.block.text });
  let at = node.parts.findIndex((p) => p.index >= index);
  if (at === -1) at = node.parts.length;
  if (node.parts[at]?.index !== index) node.parts.splice(at, 0, { index, text: '' });
  node.part = node.parts[at];
  return node.part;
}

/** Text is the parts in the order of their index; a delta that names none goes on with the part written last. */
const reasoningDelta = onBlock('reasoning', (node, ev) => {
  const { block, parts } = node;
  const part = ev.partIndex === undefined ? node.part : partOf(node, ev.partIndex);
  if (part !== undefined) part.text += ev.delta;
  if (part === undefined || part === parts[parts.length - 1]) block.text += ev.delta;
  else block.text = parts.map((p) => p.text).join('');
  mergeBag(block, 'providerMetadata', ev.providerMetadata);
});

const reasoningEnd = onBlock('reasoning', (node, ev) => {
  node.ended = true;
  pick(node.block, ev, ['provider']);
  mergeBag(node.block, 'providerMetadata', ev.providerMetadata);
});

const reasoningOpaque = onBlock(
  'reasoning',
  ({ block }, ev) => {
    block.opaque = { kind: ev.kind, value: ev.value };
    pick(block.opaque, ev, ['provider']);
    pick(block, ev, ['itemId']);
  },
  true,
);

/** The scratch never shows: `reasoning.opaque` carries the assembled value. */
const reasoningOpaqueDelta = onBlock('reasoning', () => {}, true);

function contentBlock(s, ev) {
  const { block } = ev;
  if (ev.transient === true || (block.type === 'data' && block.transient === true)) return undefined;
  const known = sameBlock(s, ev);
  if (known !== undefined) return replaceWhole(s, ev, known);
  const m = attachTo(s, ev);
  if (typeof m === 'string') return m;
  identify(s, s.addBlock(m, 'whole', { ...block }), ev.id);
  return undefined;
}

/** The block that has this identity already: the event's id, else a data block's, else a call's. */
function sameBlock(s, { id, block }) {
  if (id !== undefined) return s.blocks.get(id);
  if (block.type === 'data' && block.id !== undefined) return s.blocks.get(block.id);
  return block.type === 'tool-call' ? s.calls.get(block.toolCallId) : undefined;
}

/** A block of the same identity is replaced where it stands, whichever message holds it. */
function replaceWhole(s, ev, node) {
  const turn = s.ownerOf(ev);
  if (turn === undefined) return why.noOwner;
  if (turn.closed) return why.closed;
  const fault = unwritable(node.owner);
  if (fault !== undefined) return fault;
  const id = ev.id ?? node.ids[0];
  s.keepOpen(node, false);
  s.release(node);
  Object.assign(node, { kind: 'whole', ended: false, scratch: '', parts: [], part: undefined });
  s.replaceBlock(node, { ...ev.block });
  identify(s, node, id);
  return undefined;
}

/**
 * Notes under which ids a whole block is found.
 *
 * @param {State} s
 * @param {import('./state.js').Node} node
 * @param {string|undefined} [id] the event's
 */
export function identify(s, node, id) {
  const { block } = node;
  if (id !== undefined) s.nameBlock(node, id);
  if (block.type === 'data' && block.id !== undefined && block.id !== id) s.nameBlock(node, block.id);
  if (block.type === 'tool-call') {
    node.kind = 'call';
    s.nameCall(node, block.toolCallId);
  } else if (block.type === 'tool-result' && !s.results.has(block.toolCallId)) {
    node.kind = 'result';
    s.nameCall(node, block.toolCallId);
    s.keepOpen(node, block.preliminary === true);
  }
}

/** @type {Record<string, (s: State, ev: any) => string|undefined>} */
export const blockRows = {
  'text.start': (s, ev) => startBlock(s, ev, 'text', { type: 'text', text: '' }),
  'text.delta': textDelta,
  'text.end': textEnd,
  'reasoning.start': reasoningStart,
  'reasoning.delta': reasoningDelta,
  'reasoning.end': reasoningEnd,
  'reasoning.opaque': reasoningOpaque,
  'reasoning.opaque.delta': reasoningOpaqueDelta,
  'content.block': contentBlock,
};
