import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Client } from '../index.js';
import { FakeFanout } from '../testserver/fanout.js';
import { serve } from '../testserver/http.js';
import { textTurn } from './support.js';

/** Resolves once the condition holds; it is looked at whenever the subscription changes. */
function until(sub, condition) {
  return new Promise((resolve) => {
    const look = () => {
      if (!condition()) return;
      off();
      resolve(undefined);
    };
    const off = sub.on('change', look);
    look();
  });
}

test('the platform WebSocket: join, live, a cut, resume', { timeout: 20_000 }, async (t) => {
  if (globalThis.WebSocket === undefined) {
    t.diagnostic('this Node has no WebSocket (run with --experimental-websocket): REAL SOCKETS WERE NOT TRIED');
    return;
  }
  const fanout = new FakeFanout();
  fanout.append('a/b ü', ...textTurn('t1', 'hello'));
  const server = await serve(fanout);
  const client = new Client({ url: server.url, backoff: { base: 1, cap: 5 } });
  try {
    const sub = client.subscribe('a/b ü');
    await until(sub, () => sub.cursor === fanout.cursor('a/b ü'));
    for (const ev of textTurn('t2', '🙂'.repeat(50_000)).slice(0, 60)) fanout.append('a/b ü', ev);
    await until(sub, () => sub.cursor === fanout.cursor('a/b ü'));
    for (const socket of server.sockets) socket.destroy();
    fanout.append('a/b ü', { type: 'ext.a.b', big: 'x'.repeat(200_000) });
    await until(sub, () => sub.cursor === fanout.cursor('a/b ü'));
    assert.equal(sub.counts.resets, 1);
    assert.deepEqual(sub.fold.result(), fanout.get('a/b ü').result);
  } finally {
    client.close();
    await server.close();
  }
});

test('reading without a stream', { timeout: 20_000 }, async () => {
  const fanout = new FakeFanout({ now: () => 0 });
  for (const id of ['A', 'B', 'a/b ü']) fanout.append(id, ...textTurn('t1', 'x'));
  const server = await serve(fanout);
  const client = new Client({ url: server.url, WebSocket: class { close() {} } });
  try {
    const first = await client.threads({ limit: 2 });
    const second = await client.threads({ limit: 2, after: first.next });
    assert.deepEqual([...first.threads, ...second.threads].map((info) => info.thread), ['A', 'B', 'a/b ü']);
    assert.equal(second.next, undefined);
    assert.deepEqual(await client.thread('a/b ü'), fanout.get('a/b ü'));
    await assert.rejects(client.thread('nope'), (err) => err instanceof ApiError && err.status === 404 && err.code === 'not_found');
  } finally {
    client.close();
    await server.close();
  }
});
