import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Live } from '../index.js';

function live(...events) {
  const facts = new Live();
  for (const ev of events) facts.push(ev);
  return facts;
}

const start = { type: 'turn.start', turnId: 't', threadId: 'th' };
const ask = { type: 'hitl.ask', turnId: 't', askId: 'a', kind: 'approval', toolCallId: 'c' };
const paused = { type: 'turn.done', turnId: 't', finishReason: 'paused', outcome: { type: 'paused', asks: [] } };

test('an ask stays while its turn is open or paused', () => {
  assert.equal(live(start, ask).asks.size, 1);
  assert.equal(live(start, ask, paused).asks.size, 1);
});

test('an ask goes with the end of its turn, with the result of its call, and when the thread goes on', () => {
  assert.equal(live(start, ask, { type: 'turn.abort', turnId: 't' }).asks.size, 0);
  assert.equal(live(start, ask, { ...paused, outcome: { type: 'success' } }).asks.size, 0);
  assert.equal(live(start, ask, { type: 'tool.done', toolCallId: 'c', content: [] }).asks.size, 0);
  assert.equal(live(start, ask, { type: 'tool.done', toolCallId: 'c', content: [], more: true }).asks.size, 1);
  assert.equal(live(start, ask, { type: 'tool.done', toolCallId: 'other', content: [] }).asks.size, 1);
  assert.equal(live(start, ask, paused, { ...start, turnId: 't2' }).asks.size, 0);
});

test('agents, steps, surfaces and the last errors', () => {
  const facts = live(
    start,
    { type: 'subagent.start', turnId: 's', parentTurnId: 't', agentName: 'reviewer' },
    { type: 'step.start', turnId: 's', id: 'x', stepName: 'reading' },
    { type: 'ui.surface.start', turnId: 't', surfaceId: 'f', catalogId: 'k' },
    ...Array.from({ length: 30 }, (_, i) => ({ type: 'error', turnId: 't', message: String(i) })),
  );
  assert.equal(facts.agents.get('s').agentName, 'reviewer');
  assert.equal(facts.steps.get('s'), 'reading');
  assert.equal(facts.surfaces.size, 1);
  assert.deepEqual([facts.errors.get('t').length, facts.errors.get('t')[19].message], [20, '29']);
  assert.deepEqual([...facts.takeTouched()].sort(), ['s', 't']);
  assert.equal(facts.takeTouched().size, 0);
  facts.push({ type: 'step.done', turnId: 's', id: 'x' });
  facts.push({ type: 'ui.surface.end', turnId: 't', surfaceId: 'f' });
  assert.equal(facts.steps.size + facts.surfaces.size, 0);
});
