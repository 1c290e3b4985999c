import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Runs body with the cases of a vector file; where AGWIRE_VECTORS is not set it says so, loudly, and the project's own cases must do.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} file
 * @param {(cases: any[]) => void} body
 */
export function withVectors(t, file, body) {
  const folder = process.env.AGWIRE_VECTORS;
  if (folder === undefined) {
    t.diagnostic(`AGWIRE_VECTORS is not set: ${file} WAS NOT CHECKED, only this project's own cases were`);
    return;
  }
  const cases = readFileSync(path.join(folder, file), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  assert.ok(cases.length > 0, `${file} is empty`);
  body(cases);
}

/** Stamps seq from 0. */
export function stamp(events) {
  return events.map((ev, seq) => ({ ...ev, seq }));
}

/** A short turn with one message of text. */
export function textTurn(turnId, text, { threadId = 'th' } = {}) {
  return [
    { type: 'turn.start', turnId, threadId },
    { type: 'message.start', id: `${turnId}-m`, role: 'assistant', turnId, threadId },
    { type: 'text.start', id: `${turnId}-t`, turnId, messageId: `${turnId}-m` },
    ...[...text].map((delta) => ({ type: 'text.delta', id: `${turnId}-t`, turnId, delta })),
    { type: 'text.end', id: `${turnId}-t`, turnId },
    { type: 'message.end', id: `${turnId}-m`, turnId },
    { type: 'turn.done', turnId, outcome: { type: 'success' }, finishReason: 'stop' },
  ];
}
