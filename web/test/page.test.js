import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, byteSize, oneLine, shortId, usageLine } from '../page/format.js';
import { redacted } from '../page/json-view.js';
import { safeURL } from '../page/safe.js';

test('SPEC §13.4: only absolute http and https addresses are followed', () => {
  for (const [url, want] of [
    ['https://a.example/x?y#z', 'https://a.example/x?y#z'],
    ['http://a.example', 'http://a.example/'],
    ['HTTPS://A.example/', 'https://a.example/'],
    [' https://a.example/ ', 'https://a.example/'],
  ]) assert.equal(safeURL(url), want);
  for (const url of [
    'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)', '\u0001javascript:alert(1)', 'data:text/html,x', 'vbscript:x',
    'file:///etc/passwd', 'blob:https://a.example/1', 'ui://widget', 'ftp://a.example', '/relative', 'relative', '//a.example/x', '#hash', '', 'https://', 'http://[', undefined, null, 5, {},
  ]) assert.equal(safeURL(url), undefined, String(url));
});

test('SPEC §13.1, §13.2: credentials and opaque blobs are not shown', () => {
  const shown = JSON.stringify(
    redacted({
      type: 'hitl.ask',
      token: 'SECRET',
      requestState: 'SECRET',
      list: [{ signature: 'SECRET', encryptedIndex: 'SECRET', opaque: { kind: 'signature', value: 'SECRET', provider: 'p' } }],
      block: { type: 'reasoning', text: 'plain', opaque: { kind: 'redacted', value: 'SECRET' } },
      kept: { value: 'plain', delta: 'plain' },
    }),
  );
  assert.ok(!shown.includes('SECRET'), shown);
  assert.equal(shown.match(/plain/g).length, 3);
  assert.ok(!JSON.stringify(redacted({ type: 'reasoning.opaque', value: 'SECRET' })).includes('SECRET'));
  assert.ok(!JSON.stringify(redacted({ type: 'reasoning.opaque.delta', delta: 'SECRET' })).includes('SECRET'));
  assert.equal(redacted({ type: 'text.delta', delta: 'plain' }).delta, 'plain');
});

test('redaction keeps a member named __proto__ a member', () => {
  const out = redacted(JSON.parse('{"__proto__":{"a":1}}'));
  assert.equal(JSON.stringify(out), '{"__proto__":{"a":1}}');
  assert.equal(out.a, undefined);
});

test('usage in one line', () => {
  assert.equal(usageLine({ inputTokens: 2412, outputTokens: 231, cacheReadTokens: 0, reasoningTokens: 44, costUsd: 0.0121 }), '2.4K in · 231 out · 44 reasoning · $0.0121');
  assert.equal(usageLine({ totalTokens: 1200 }), '1.2K tokens');
  assert.equal(usageLine({ inputTokens: 0 }), '');
  assert.equal(usageLine(undefined), '');
});

test('times, ids and sizes', () => {
  const now = Date.parse('2026-11-30T12:00:00Z');
  assert.deepEqual(
    ['2026-11-30T11:59:58Z', '2026-11-30T11:59:20Z', '2026-11-30T11:10:00Z', '2026-11-30T03:00:00Z', '2026-11-20T12:00:00Z', '2026-11-30T12:00:09Z', 'x', undefined].map((t) => ago(t, now)),
    ['now', '40s', '50m', '9h', '10d', 'now', '', ''],
  );
  assert.equal(shortId('short'), 'short');
  assert.equal(shortId('0123456789abcdefghijklmnopqrstuvwxyz'), '0123456789ab…stuvwxyz');
  assert.equal(oneLine('a\n  b', 10), 'a b');
  assert.equal(oneLine({ a: [1, 2, 3] }, 6), '{"a":[…');
  assert.equal(byteSize('AAAA'), '3 B');
});
