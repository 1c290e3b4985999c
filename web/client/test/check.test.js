import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEvent, checkValue } from '../index.js';
import { withVectors } from './support.js';

for (const file of ['validate.ndjson', 'validate-mutations.ndjson']) {
  test(`vectors: ${file}`, (t) => {
    withVectors(t, file, (cases) => {
      let checked = 0;
      cases.forEach(({ name, schema, value, valid }, i) => {
        let fault;
        try {
          fault = checkValue(schema, value, { strict: true });
        } catch (err) {
          if (err instanceof RangeError) return; // an input type, or one that only producers need
          throw err;
        }
        checked++;
        assert.equal(fault === undefined, valid, `${file}:${i + 1} ${name}: ${JSON.stringify(fault)}`);
      });
      t.diagnostic(`${file}: ${checked} of ${cases.length}`);
      assert.ok(checked > 1_000);
    });
  });
}

test('a fault has a place and no content', () => {
  const ev = { type: 'tool.done', seq: 1, toolCallId: 'c', content: [{ type: 'text', text: 'ok' }, { type: 'text', text: ['secret'] }] };
  assert.deepEqual(checkEvent(ev), { path: '/content/1/text', why: 'want a string' });
});

test('what is unknown passes a consumer (SPEC §0.2)', () => {
  assert.equal(checkEvent({ type: 'notice', seq: 0, text: 'x' }), undefined);
  assert.equal(checkEvent({ type: 'content.block', seq: 0, block: { type: 'hologram', beam: 1 } }), undefined);
  assert.equal(checkEvent({ type: 'text.delta', seq: 0, id: 'a', delta: '', later: [] }), undefined);
  assert.notEqual(checkEvent({ type: 'notice', seq: 0 }, { strict: true }), undefined);
});

test('what is no event does not', () => {
  for (const ev of [null, 5, 'x', [], {}, { type: 'text.delta' }, { type: 5, seq: 0 }, { type: 'notice', seq: -1 }, { type: 'notice', seq: 0.5 }, { type: 'notice', seq: '1' }]) {
    assert.notEqual(checkEvent(ev), undefined, JSON.stringify(ev));
  }
});

test('members that are inherited do not count', () => {
  assert.notEqual(checkEvent(JSON.parse('{"type":"text.delta","seq":0,"__proto__":{"id":"a","delta":""}}')), undefined);
  assert.notEqual(checkEvent({ type: 'constructor', seq: 0 }, { strict: true }), undefined);
});

test('the rules beside the table', () => {
  assert.equal(checkEvent({ type: 'message.remove', seq: 0, id: '*' })?.path, '/turnId');
  assert.equal(checkEvent({ type: 'memory.write', seq: 0, scope: 'user' })?.path, '/value');
  assert.equal(checkEvent({ type: 'memory.write', seq: 0, scope: 'user', value: 1, patch: [] })?.path, '/patch');
  assert.equal(checkEvent({ type: 'memory.write', seq: 0, scope: 'user', value: null }), undefined);
});
