/**
 * One turn: a head that says what it is, its messages and the turns nested in it, and what became of it.
 *
 * @module
 */

import { askView } from './ask-view.js';
import { fold as foldable, viewOf } from './block-views.js';
import { h, setText, syncChildren } from './dom.js';
import { shortId, usageLine } from './format.js';
import { jsonView } from './json-view.js';
import { safeLink, sandboxed } from './safe.js';

const outcomes = {
  success: ['ok', 'done'],
  error: ['error', 'failed'],
  aborted: ['aborted', 'aborted'],
  rejected: ['error', 'rejected'],
  paused: ['waiting', 'paused'],
};

export class TurnView {
  #label = h('span', { class: 'turn-label', dir: 'auto' });
  #chip = h('span', { class: 'chip' });
  #step = h('span', { class: 'dim', dir: 'auto' });
  #body = h('div', { class: 'turn-body' });
  #foot = h('footer', { class: 'turn-foot' });
  #drawn = '';

  /** @param {string} id @param {boolean} nested */
  constructor(id, nested) {
    this.id = id;
    this.nested = nested;
    if (nested) {
      this.el = h('details', { class: 'turn nested', open: true }, h('summary', { class: 'turn-head' }, this.#label, this.#chip, this.#step), this.#body, this.#foot);
    } else {
      this.el = h('section', { class: 'turn' }, h('header', { class: 'turn-head' }, this.#label, this.#chip, this.#step), this.#body, this.#foot);
    }
  }

  /** @param {Element[]} children messages and nested turns in order */
  setChildren(children) {
    syncChildren(this.#body, children);
  }

  /**
   * @param {import('../client/index.js').Fold} fold
   * @param {import('../client/index.js').Live} live
   * @param {{artifacts: any[], agent: string|undefined}} beside
   */
  update(fold, live, { artifacts, agent }) {
    const record = fold.turn(this.id);
    const open = !fold.isClosedTurn(this.id);
    this.#updateHead(record, open, live, agent);
    const asks = [...live.asks.values()].filter((ask) => ask.turnId === this.id);
    const errors = live.errors.get(this.id) ?? [];
    const surfaces = [...live.surfaces.values()].filter((surface) => surface.turnId === this.id);
    const state = JSON.stringify([record, asks.map((a) => a.askId), errors.length, surfaces.map((s) => s.surfaceId), artifacts, open]);
    if (state === this.#drawn) return;
    this.#drawn = state;
    this.#foot.replaceChildren(...this.#footOf(record ?? {}, { asks, errors, surfaces, artifacts, fold }));
  }

  #updateHead(record, open, live, agent) {
    const name = this.nested ? `Sub-agent${agent === undefined ? '' : ` · ${agent}`}` : ['Turn', record?.trigger?.kind].filter(Boolean).join(' · ');
    setText(this.#label, name);
    this.#label.title = [this.id, record?.parentTurnId === undefined ? undefined : `within ${record.parentTurnId}`].filter(Boolean).join(', ');
    const [kind, word] = open ? ['running', 'running'] : (outcomes[record?.outcome?.type] ?? ['ok', 'ended']);
    this.#chip.className = `chip chip-${kind}`;
    setText(this.#chip, word);
    setText(this.#step, open ? (live.steps.get(this.id) ?? '') : shortId(this.id));
    this.el.classList.toggle('open', open);
  }

  #footOf(record, { asks, errors, surfaces, artifacts, fold }) {
    const waiting = new Set(asks.map((ask) => ask.askId));
    const paused = (record.asks ?? []).filter((ask) => !waiting.has(ask.askId));
    return [
      ...artifacts.map((artifact) => artifactView(artifact, fold)),
      ...surfaces.map((surface) => note('Surface', `${surface.surfaceId} of catalog ${surface.catalogId}, not drawn here`)),
      ...errors.map((ev) => h('p', { class: 'advisory', dir: 'auto' }, ev.message, ev.code === undefined ? null : h('code', {}, ev.code))),
      ...asks.map((ask) => askView(ask, true, fold)),
      ...paused.map((ask) => askView(ask, this.#isLast(fold), fold)),
      ...promptBlocked(record),
      ...(record.guardrails ?? []).filter((g) => !g.passed).map((g) => note('Guardrail', [g.guardrailName ?? g.target, g.action, g.reason].filter(Boolean).join(' · '))),
      ...(record.handoffs ?? []).map((x) => note(x.kind === 'escalate' ? 'Escalated' : 'Handed over', [x.fromAgentId, x.toAgentName ?? x.toAgentId].filter(Boolean).join(' → '))),
      ...sourcesView(record.sources),
      ...(record.displayRequired ?? []).map(sandboxed),
      ...outcomeView(record),
    ];
  }

  /** Whether the thread has not gone on since. */
  #isLast(fold) {
    const top = fold.turnIds().filter((id) => fold.turn(id).parentTurnId === undefined);
    return top[top.length - 1] === this.id;
  }
}

function note(kind, text) {
  return h('p', { class: 'note' }, h('span', { class: 'kind' }, kind), h('span', { dir: 'auto' }, text));
}

function artifactView(artifact, fold) {
  const parts = artifact.parts.map((part) => viewOf(part, { fold, growing: false }).el);
  return h(
    'section',
    { class: 'artifact' },
    h('header', {}, h('span', { class: 'kind' }, 'Artifact'), h('strong', { dir: 'auto' }, artifact.name ?? artifact.artifactId)),
    artifact.description === undefined ? null : h('p', { class: 'dim', dir: 'auto' }, artifact.description),
    ...parts,
  );
}

function promptBlocked(record) {
  if (record.promptBlocked === undefined) return [];
  return [note('Prompt blocked', [record.promptBlocked.reason, ...(record.promptBlocked.safety ?? []).map((s) => s.category)].join(' · '))];
}

function sourcesView(sources) {
  if (sources === undefined || sources.length === 0) return [];
  const items = sources.map(({ source, sourceId }) => {
    const name = source.title ?? source.filename ?? source.url ?? source.fileId ?? sourceId;
    return h('li', {}, source.url === undefined ? h('span', { dir: 'auto' }, name) : safeLink(source.url, name));
  });
  return [h('section', { class: 'sources' }, h('h3', {}, 'Sources'), h('ol', {}, ...items))];
}

const ordinary = new Set([undefined, 'stop', 'paused']);

/** What became of the turn: the reason where it is not the ordinary one, and what it used. */
function outcomeView(record) {
  const { outcome, finishReason, usage, taskState, safety } = record;
  const parts = [];
  if (outcome?.type === 'error') parts.push(h('p', { class: 'error-text', dir: 'auto' }, outcome.message, outcome.code === undefined ? null : h('code', {}, outcome.code)));
  if ((outcome?.type === 'aborted' || outcome?.type === 'rejected') && outcome.reason !== undefined) parts.push(h('p', { class: 'error-text', dir: 'auto' }, outcome.reason));
  const result = outcome?.result;
  if (typeof result === 'object' && result !== null) parts.push(foldable('Result', jsonView(result)));
  const facts = [
    ordinary.has(finishReason) ? undefined : finishReason.replaceAll('_', ' '),
    taskState,
    ...(safety ?? []).map((s) => `safety: ${s.category}`),
    usageLine(usage),
  ].filter(Boolean);
  if (facts.length > 0) parts.push(h('p', { class: 'facts', title: modelsOf(usage) }, facts.join(' · ')));
  return parts;
}

function modelsOf(usage) {
  return Object.entries(usage?.byModel ?? {}).map(([model, u]) => `${model}: ${usageLine(u)}`).join('\n');
}
