import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Fold, reduce } from '../index.js';
import { FakeFanout } from '../testserver/fanout.js';
import { ManualClock, memoryNetwork } from '../testserver/memory.js';
import { textTurn } from './support.js';

/** A client on a fake server, all of it under the test's hand. */
function setup({ random = () => 0.5 } = {}) {
  const clock = new ManualClock();
  const fanout = new FakeFanout({ heartbeat: 15, now: clock.now });
  const net = memoryNetwork(fanout);
  const client = new Client({ url: 'http://host/base', WebSocket: net.WebSocket, timers: clock, random });
  return { clock, fanout, net, client, socket: () => net.sockets[net.sockets.length - 1] };
}

function wantSame(sub, fanout) {
  assert.deepEqual(sub.fold.result(), fanout.get(sub.thread).result);
  assert.equal(sub.cursor, fanout.cursor(sub.thread));
}

test('joins now: a reset, a pair, then live', () => {
  const { fanout, net, client } = setup();
  const turn = textTurn('t1', 'hello');
  fanout.append('T', ...turn.slice(0, 5));
  const sub = client.subscribe('T');
  const seen = [];
  sub.on('reset', (r) => seen.push(r.reason));
  sub.on('events', (b) => seen.push(b.pair));
  net.deliver();
  assert.equal(net.sockets[0].url, 'ws://host/base/v1/ws');
  assert.deepEqual(net.sockets[0].protocols, ['agwire.v1']);
  wantSame(sub, fanout);
  fanout.append('T', ...turn.slice(5));
  net.deliver();
  wantSame(sub, fanout);
  assert.deepEqual(seen, ['join', true, false]);
  assert.equal(sub.status, 'live');
});

test('a thread that does not exist yet', () => {
  const { fanout, net, client } = setup();
  const sub = client.subscribe('T');
  net.deliver();
  assert.equal(sub.status, 'absent');
  fanout.append('T', ...textTurn('t1', 'x'));
  net.deliver();
  wantSame(sub, fanout);
  assert.equal(sub.counts.resets, 0);
});

test('many threads on one connection, each with its own cursor', () => {
  const { fanout, net, client } = setup();
  const subs = ['A', 'B', 'C'].map((id) => client.subscribe(id, { from: 'start' }));
  for (let i = 0; i < 5; i++) for (const sub of subs) fanout.append(sub.thread, ...textTurn(`${sub.thread}${i}`, 'abc'));
  net.deliver();
  for (const sub of subs) wantSame(sub, fanout);
  assert.equal(net.sockets.length, 1);
});

test('resumes by cursor after a cut, without loss or repeat', () => {
  const { fanout, net, client, clock, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  const seqs = [];
  sub.on('events', ({ events }) => seqs.push(...events.map((ev) => ev.seq)));
  const events = Array.from({ length: 6 }, (_, i) => textTurn(`t${i}`, 'abcdef')).flat();
  events.forEach((ev, i) => {
    fanout.append('T', ev);
    if (i % 4 !== 0) net.deliver();
    if (i % 7 === 0) {
      socket().serverCloses(1006);
      clock.advance(60_000);
    }
  });
  net.deliver();
  wantSame(sub, fanout);
  assert.deepEqual(seqs, seqs.map((_, i) => i));
  assert.equal(seqs.length, fanout.threads.get('T').events.length);
  assert.ok(fanout.received.some((m) => m.op === 'subscribe' && /^1-\d+$/.test(m.from)));
});

test('a cut between a reset and its pair resumes from the old cursor', () => {
  const { fanout, net, client, clock, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  fanout.append('T', ...textTurn('t1', 'x'));
  net.deliver();
  const before = sub.cursor;
  const fold = sub.fold;
  socket().push(JSON.stringify({ op: 'reset', thread: 'T', reason: 'slow' }));
  net.deliver();
  assert.equal(sub.resetting, true);
  assert.equal(sub.fold, fold, 'what was known stays until its replacement is here');
  socket().serverCloses(1006);
  clock.advance(60_000);
  net.deliver();
  assert.equal(fanout.received[fanout.received.length - 1].from, before);
  wantSame(sub, fanout);
});

test('an old epoch is answered by a reset and a new fold', () => {
  const { fanout, net, client, clock, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  fanout.append('T', ...textTurn('t1', 'old'));
  net.deliver();
  socket().serverCloses(1006);
  fanout.rebuild('T', ...textTurn('t9', 'new'));
  clock.advance(60_000);
  net.deliver();
  assert.equal(sub.lastReset, 'epoch');
  wantSame(sub, fanout);
});

test('a pair that was cut or is wrong changes nothing, and the thread is asked for anew', () => {
  const { fanout, net, client, socket, clock } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  fanout.append('T', ...textTurn('t1', 'x'));
  net.deliver();
  const before = sub.fold.result();
  const why = [];
  sub.on('diverged', (d) => why.push(d.why));
  socket().push(JSON.stringify({ op: 'reset', thread: 'T', reason: 'slow' }));
  socket().push(
    JSON.stringify({
      op: 'events',
      thread: 'T',
      pair: true,
      cursor: '1-5',
      events: [
        { type: 'messages.snapshot', seq: 4, messages: [], turns: [] },
        { type: 'text.delta', seq: 5, id: 'nope', delta: 'x' },
      ],
    }),
  );
  net.deliver();
  assert.deepEqual(sub.fold.result(), before);
  assert.match(why[0], /no such block/);
  clock.advance(1);
  net.deliver();
  wantSame(sub, fanout);
});

test('a gap is noticed and refilled from the cursor', () => {
  const { fanout, net, client, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  socket().peer.faults.dropBatches = 1;
  fanout.append('T', ...textTurn('t2', 'b'));
  fanout.append('T', ...textTurn('t3', 'c'));
  net.deliver();
  assert.equal(sub.counts.gaps, 1);
  wantSame(sub, fanout);
});

test('a lost last batch shows in the heartbeat', () => {
  const { fanout, net, client, socket, clock } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  const turn = textTurn('t1', 'a');
  fanout.append('T', ...turn.slice(0, -1));
  net.deliver();
  socket().peer.faults.dropBatches = 1;
  fanout.append('T', turn[turn.length - 1]);
  fanout.beat();
  net.deliver();
  assert.equal(sub.open, false);
  assert.equal(sub.fold.isClosedTurn('t1'), false);
  clock.advance(2_001);
  net.deliver();
  assert.equal(sub.counts.behind, 1);
  assert.equal(sub.fold.isClosedTurn('t1'), true);
  wantSame(sub, fanout);
});

test('a head that the stream overtakes is no reason to ask again', () => {
  const { fanout, net, client, clock } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  fanout.append('T', ...textTurn('t1', 'a'));
  sub.heartbeat({ cursor: fanout.cursor('T'), open: false }, true);
  net.deliver();
  clock.advance(5_000);
  assert.equal(sub.counts.behind, 0);
});

test('what is delivered twice is folded once', () => {
  const { fanout, net, client, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  socket().peer.faults.repeat = true;
  const turn = textTurn('t1', 'abcdef');
  for (const batch of [turn.slice(0, 3), turn.slice(3, 7), turn.slice(7)]) fanout.append('T', ...batch);
  net.deliver();
  wantSame(sub, fanout);
  assert.equal(sub.fold.result().messages[0].content[0].text, 'abcdef');
  assert.deepEqual([sub.counts.gaps, sub.counts.diverged], [0, 0]);
});

test('events of an older subscription are not taken for those of the new one', () => {
  const { fanout, net, client, socket } = setup();
  const first = client.subscribe('T', { from: 'start' });
  net.deliver();
  fanout.append('T', ...textTurn('t1', 'a')); // on its way
  const second = client.subscribe('T');
  net.deliver();
  wantSame(second, fanout);
  assert.equal(first.cursor, '');
  client.unsubscribe(first);
  net.deliver();
  assert.equal(socket().peer.following.has('T'), true, 'only the present one ends the subscription');
  client.unsubscribe(second);
  net.deliver();
  assert.equal(socket().peer.following.has('T'), false);
});

test('subscribe, unsubscribe and subscribe again before any answer', () => {
  const { fanout, net, client } = setup();
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  client.unsubscribe(client.subscribe('T'));
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  wantSame(sub, fanout);
  assert.equal(sub.counts.resets, 0);
});

test('close codes: who comes back and who does not', () => {
  for (const [code, back] of [[1000, true], [1001, true], [1006, true], [1011, true], [4000, true], [4001, true], [4002, true], [4099, true], [4400, false], [4401, false], [4408, false], [4499, false]]) {
    const { net, client, clock, socket } = setup();
    client.subscribe('T');
    net.deliver();
    socket().serverCloses(code);
    assert.equal(client.state.name, back ? 'waiting' : 'stopped', String(code));
    assert.equal(client.state.code, code);
    clock.advance(120_000);
    net.deliver();
    assert.equal(net.sockets.length > 1, back, String(code));
  }
});

test('delays grow, are drawn at random, and start anew after a good connection', () => {
  const { net, client, clock, socket } = setup({ random: () => 1 });
  net.deliver();
  net.refuse = { code: 1006 };
  socket().serverCloses(1006);
  const waits = [];
  for (let i = 0; i < 8; i++) {
    waits.push(client.state.retryAt - clock.now());
    clock.advance(client.state.retryAt - clock.now());
    net.deliver();
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
  net.refuse = undefined;
  client.retryNow();
  net.deliver();
  assert.equal(client.state.name, 'live');
  clock.advance(11_000);
  socket().serverCloses(1006);
  assert.equal(client.state.retryAt - clock.now(), 500);
});

test('a server that accepts and drops at once is not hammered', () => {
  const { net, client, clock, socket } = setup({ random: () => 1 });
  net.deliver();
  const waits = [];
  for (let i = 0; i < 4; i++) {
    socket().serverCloses(1006);
    waits.push(client.state.retryAt - clock.now());
    clock.advance(client.state.retryAt - clock.now());
    net.deliver();
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000]);
});

test('a silent connection is given up and replaced', () => {
  const { fanout, net, client, clock, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  const dead = socket();
  dead.peer.faults.mute = true;
  clock.advance(37_501);
  assert.equal(dead.closedWith, 4002);
  clock.advance(60_000);
  net.deliver();
  fanout.append('T', ...textTurn('t2', 'b'));
  net.deliver();
  assert.notEqual(socket(), dead);
  wantSame(sub, fanout);
});

test('a server that never says hello is given up', () => {
  const { net, client, clock } = setup();
  clock.advance(15_001);
  assert.equal(client.state.name, 'waiting');
  clock.advance(60_000);
  assert.ok(net.sockets.length > 1);
});

test('a message that is no message ends the connection, not the client', () => {
  for (const bad of ['{', '[]', '{"op":5}', 'null']) {
    const { fanout, net, client, clock, socket } = setup();
    const sub = client.subscribe('T', { from: 'start' });
    net.deliver();
    socket().push(bad);
    net.deliver();
    assert.equal(client.state.name, 'waiting', bad);
    clock.advance(60_000);
    fanout.append('T', ...textTurn('t1', 'a'));
    net.deliver();
    wantSame(sub, fanout);
  }
});

test('an op of a later version is ignored', () => {
  const { net, client, socket } = setup();
  net.deliver();
  socket().push('{"op":"news","thread":"T"}');
  net.deliver();
  assert.equal(client.state.name, 'live');
});

test('SPEC §10.20: a malformed event is refused by name, not folded, and the thread is asked for anew', () => {
  const { fanout, net, client, socket, clock } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  const rejected = [];
  sub.on('rejected', (r) => rejected.push(r));
  const next = fanout.threads.get('T').events.length;
  socket().push(JSON.stringify({ op: 'events', thread: 'T', cursor: '1-99', events: [{ type: 'turn.start', seq: next, turnId: 5, threadId: 'secret' }] }));
  net.deliver();
  assert.equal(rejected.length, 1);
  assert.deepEqual({ ...rejected[0] }, { seq: next, type: 'turn.start', path: '/turnId', why: 'want a string' });
  clock.advance(1);
  net.deliver();
  wantSame(sub, fanout);
});

test('a log that keeps parking is asked for ever more rarely', () => {
  const { fanout, net, client, clock } = setup({ random: () => 1 });
  fanout.append('T', { type: 'turn.start', turnId: 't', threadId: 'th' }, { type: 'text.delta', id: 'nope', delta: 'x' });
  const sub = client.subscribe('T', { from: 'start' });
  net.deliver();
  for (let i = 0; i < 600; i++) {
    clock.advance(1_000);
    fanout.beat();
    net.deliver();
  }
  assert.ok(sub.counts.diverged > 3 && sub.counts.diverged < 20, String(sub.counts.diverged));
});

test('a cursor that the server does not know is dropped', () => {
  const { fanout, net, client, clock } = setup();
  fanout.append('T', ...textTurn('t1', 'a'));
  const sub = client.subscribe('T', { from: 'not-a-cursor', fold: new Fold() });
  net.deliver();
  clock.advance(1);
  net.deliver();
  wantSame(sub, fanout);
});

test('a thread that cannot be read at present is asked for again, from its cursor', () => {
  const { fanout, net, client, clock, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  const { fold } = sub;
  socket().peer.following.delete('T');
  fanout.append('T', ...textTurn('t2', 'b'));
  socket().push(JSON.stringify({ op: 'error', thread: 'T', code: 'unreadable', message: 'no' }));
  net.deliver();
  assert.equal(sub.status, 'subscribing');
  clock.advance(60_000);
  net.deliver();
  wantSame(sub, fanout);
  assert.equal(sub.fold, fold);
});

test('any other refusal fails the subscription alone', () => {
  const { fanout, net, client, socket } = setup();
  const a = client.subscribe('A', { from: 'start' });
  const b = client.subscribe('B', { from: 'start' });
  const errors = [];
  a.on('error', (e) => errors.push(e.code));
  net.deliver();
  socket().push(JSON.stringify({ op: 'error', thread: 'A', code: 'not_allowed', message: 'no' }));
  fanout.append('B', ...textTurn('t1', 'a'));
  net.deliver();
  assert.deepEqual(errors, ['not_allowed']);
  assert.equal(a.status, 'failed');
  wantSame(b, fanout);
});

test('live: no fold, only what is new, resumed where it was', () => {
  const { fanout, net, client, clock, socket } = setup();
  fanout.append('T', ...textTurn('t1', 'a'));
  const sub = client.subscribe('T', { from: 'live' });
  const types = [];
  sub.on('events', ({ events }) => types.push(...events.map((ev) => ev.type)));
  net.deliver();
  assert.equal(sub.fold, null);
  socket().serverCloses(4000);
  fanout.append('T', { type: 'turn.start', turnId: 't2', threadId: 'th' });
  clock.advance(60_000);
  net.deliver();
  assert.deepEqual(types, ['turn.start']);
});

test('a fold that was kept goes on from its cursor', () => {
  const { fanout, net, client } = setup();
  const turn = textTurn('t1', 'hello');
  fanout.append('T', ...turn.slice(0, 6));
  const fold = new Fold();
  for (const ev of fanout.threads.get('T').events) fold.push(ev);
  const cursor = fanout.cursor('T');
  fanout.append('T', ...turn.slice(6));
  const sub = client.subscribe('T', { from: cursor, fold });
  net.deliver();
  wantSame(sub, fanout);
  assert.equal(sub.counts.resets, 0);
});

test('a reset that no pair follows, and a subscribe that nothing answers, end the connection', () => {
  const { fanout, net, client, socket } = setup();
  const sub = client.subscribe('T', { from: 'start' });
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  socket().push(JSON.stringify({ op: 'reset', thread: 'T', reason: 'slow' }));
  for (let i = 0; i < 3; i++) {
    fanout.beat();
    net.deliver();
  }
  assert.equal(client.state.name, 'waiting');
  assert.equal(sub.status, 'live');
});

test('an answer that a cut swallowed is not waited for', () => {
  const { fanout, net, client, clock, socket } = setup();
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  socket().peer.faults.mute = true;
  const sub = client.subscribe('T');
  net.deliver();
  socket().serverCloses(1006);
  clock.advance(60_000);
  net.deliver();
  wantSame(sub, fanout);
});

test('a listener that throws does not stop the others', (t) => {
  const { fanout, net, client } = setup();
  const log = t.mock.method(console, 'error', () => {});
  const sub = client.subscribe('T', { from: 'start' });
  let called = 0;
  sub.on('change', () => {
    throw new Error('mine');
  });
  sub.on('change', () => called++);
  fanout.append('T', ...textTurn('t1', 'a'));
  net.deliver();
  assert.ok(called > 0);
  assert.ok(log.mock.callCount() > 0);
  wantSame(sub, fanout);
});

test('close leaves no timer behind', () => {
  const { net, client, clock } = setup();
  client.subscribe('T');
  net.deliver();
  client.close();
  assert.equal(clock.waiting, 0);
  assert.equal(client.state.name, 'stopped');
});

test('random faults: the fold always ends as the log has it (SPEC §5 INV-FOLD)', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  for (let round = 0; round < 60; round++) {
    const { fanout, net, client, clock, socket } = setup({ random });
    const sub = client.subscribe('T', { from: ['now', 'start'][round % 2] });
    const events = Array.from({ length: 4 }, (_, i) => textTurn(`t${i}`, 'abcdefgh')).flat();
    for (const ev of events) {
      fanout.append('T', ev);
      const dice = random();
      if (dice < 0.1) socket().serverCloses(1006);
      else if (dice < 0.2 && socket().peer !== undefined) socket().peer.faults.dropBatches = 1;
      else if (dice < 0.25) socket().peer?.reset?.('T', 'slow');
      else if (dice < 0.3) fanout.beat();
      if (random() < 0.7) net.deliver();
      if (random() < 0.3) clock.advance(random() * 5_000);
    }
    for (let i = 0; i < 5; i++) {
      clock.advance(30_000);
      net.deliver();
      fanout.beat();
      net.deliver();
    }
    wantSame(sub, fanout);
    assert.deepEqual(sub.fold.result(), reduce(fanout.threads.get('T').events).result);
  }
});
