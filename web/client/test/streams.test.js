import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkEvent, equal, reduce } from '../index.js';
import { pairOf } from '../testserver/fanout.js';
import { delegatingTurn, hostileTurn, weatherTurn } from '../testserver/scenes.js';
import { stamp } from './support.js';

const golden = fileURLToPath(new URL('../../../pkg/agjson/normalizer', import.meta.url));

/** The events that the normalizers make of real frames, by file. */
function goldenStreams() {
  return readdirSync(golden, { recursive: true })
    .filter((name) => name.endsWith('.events.ndjson'))
    .sort()
    .map((name) => ({ name, events: lines(readFileSync(path.join(golden, name), 'utf8')) }));
}

function lines(text) {
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

test('real streams fold without parking, and so they do for a client that joins at any event', (t) => {
  const streams = goldenStreams();
  assert.ok(streams.length > 50, 'the goldens of the normalizers are elsewhere');
  let cuts = 0;
  for (const { name, events } of streams) {
    for (const ev of events) assert.equal(checkEvent(ev, { strict: true }), undefined, `${name} seq ${ev.seq}`);
    const { result, why } = reduce(events);
    assert.equal(why, '', name);
    const apart = Math.max(1, Math.floor(events.length / 25));
    for (let k = 1; k <= events.length; k += apart) {
      const joined = reduce([...pairOf(events.slice(0, k)), ...events.slice(k)]);
      assert.equal(joined.why, '', `${name} cut at ${k}`);
      assert.deepEqual(joined.result.messages, result.messages, `${name} cut at ${k}`);
      assert.deepEqual(joined.result.state, result.state, `${name} cut at ${k}`);
      cuts++;
    }
  }
  t.diagnostic(`${streams.length} streams, ${cuts} cuts`);
});

test('this fold and the one in Go agree, on hostile streams too (SPEC §5 INV-FOLD)', (t) => {
  const agwire = process.env.AGWIRE_BIN;
  if (agwire === undefined) {
    t.diagnostic('AGWIRE_BIN does not name an agwire binary: THE TWO FOLDS WERE NOT COMPARED');
    return;
  }
  const base = [...goldenStreams().map((s) => s.events), ...vectorStreams(), ...[weatherTurn, delegatingTurn, hostileTurn].map((turn) => stamp(turn(1)))].filter((events) => events.length > 0);
  const random = randomFrom(42);
  const streams = [...base, ...Array.from({ length: 3_000 }, () => mutated(base, random))];
  const input = streams.map((events) => JSON.stringify(events.filter((ev) => checkEvent(ev) === undefined))).join('\n');
  const cases = lines(input); // as both read it: what a double cannot hold, such as 1e400, is null by now
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AGWIRE_'))); // they are its settings
  const run = spawnSync(agwire, ['fold', '--lines'], { env, input: `${input}\n`, maxBuffer: 1 << 30 });
  assert.equal(run.status, 0, run.stderr.toString());
  const answers = lines(run.stdout.toString());
  assert.equal(answers.length, cases.length);
  let parked = 0;
  answers.forEach((go, i) => {
    const js = reduce(cases[i]);
    assert.deepEqual(go.rejected ?? [], [], `case ${i}: Go refuses what passed the check here`);
    assert.equal(js.needsResync, go.needsResync, `case ${i}: ${js.why || 'live'}: ${JSON.stringify(cases[i]).slice(0, 2_000)}`);
    if (!equal(js.result, go.result)) assert.deepEqual(js.result, go.result, `case ${i}`);
    if (js.needsResync) parked++;
  });
  t.diagnostic(`${cases.length} streams, ${parked} of them park`);
  assert.ok(parked > 500);
});

function vectorStreams() {
  const folder = process.env.AGWIRE_VECTORS;
  if (folder === undefined) return [];
  return globReduce(folder).flatMap((file) => lines(readFileSync(file, 'utf8')).map((c) => c.events));
}

function globReduce(folder) {
  return readdirSync(folder).filter((name) => /^reduce.*\.ndjson$/.test(name)).map((name) => path.join(folder, name));
}

function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** A stream with a few faults: events lost, doubled, swapped, of other streams, under other ids, without owners. */
function mutated(base, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const events = structuredClone(pick(base).slice(0, 400));
  const faults = [
    (i) => events.splice(i, 1),
    (i) => events.splice(i, 0, structuredClone(events[i])),
    (i) => events.splice(i, 1, ...events.splice(Math.floor(random() * events.length), 1, events[i])),
    (i) => delete events[i].turnId,
    (i) => delete events[i].messageId,
    (i) => borrowIds(events[i], pick(events), random),
    (i) => events.splice(i, 0, structuredClone(pick(pick(base)))),
    (i) => events.splice(i, 0, structuredClone(pick(events))),
  ];
  for (let n = 1 + Math.floor(random() * 3); n > 0 && events.length > 1; n--) pick(faults)(Math.floor(random() * events.length));
  const kept = events.filter((ev) => ev !== undefined);
  return random() < 0.9 ? stamp(kept) : kept;
}

function borrowIds(ev, other, random) {
  for (const name of ['id', 'turnId', 'messageId', 'toolCallId', 'candidateIndex']) {
    if (ev[name] !== undefined && other[name] !== undefined && random() < 0.6) ev[name] = other[name];
  }
}
