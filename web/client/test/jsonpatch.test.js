import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyPatch, equal, PatchError } from '../index.js';
import { withVectors } from './support.js';

test('vectors: jsonpatch.ndjson', (t) => {
  withVectors(t, 'jsonpatch.ndjson', (cases) => {
    cases.forEach(({ name, doc, patch, ok, value }, i) => {
      const before = JSON.stringify(doc);
      if (ok) assert.deepEqual(applyPatch(doc, patch), value, `${i + 1} ${name}`);
      else assert.throws(() => applyPatch(doc, patch), PatchError, `${i + 1} ${name}`);
      assert.equal(JSON.stringify(doc), before, `${i + 1} ${name}: the document was changed`);
    });
  });
});

const good = [
  ['a member named ""', { a: 1 }, [{ op: 'add', path: '/', value: 2 }], { a: 1, '': 2 }],
  ['escapes', { 'a/b': 1, 'm~n': 2 }, [{ op: 'remove', path: '/a~1b' }, { op: 'replace', path: '/m~0n', value: 3 }], { 'm~n': 3 }],
  ['~01 is ~1', { '~1': 1 }, [{ op: 'test', path: '/~01', value: 1 }], { '~1': 1 }],
  ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: [1] }, { op: 'add', path: '/-', value: 2 }], [1, 2]],
  ['move within a list', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
  ['move to itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
  ['copy is no alias', { a: { x: 1 } }, [{ op: 'copy', from: '/a', path: '/b' }, { op: 'add', path: '/b/x', value: 2 }], { a: { x: 1 }, b: { x: 2 } }],
  ['copy of what the patch touched is no alias', { a: {} }, [{ op: 'add', path: '/a/y', value: 1 }, { op: 'copy', from: '/a', path: '/b' }, { op: 'add', path: '/b/x', value: 2 }, { op: 'add', path: '/a/z', value: 3 }], { a: { y: 1, z: 3 }, b: { y: 1, x: 2 } }],
  ['test compares by value', { a: { x: 1, y: [1, 2] } }, [{ op: 'test', path: '/a', value: { y: [1, 2], x: 1 } }], { a: { x: 1, y: [1, 2] } }],
  ['a member that is null', { a: null }, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
  ['unknown members of an operation', {}, [{ op: 'add', path: '/a', value: 1, why: 'x' }], { a: 1 }],
];

for (const [name, doc, patch, want] of good) test(name, () => assert.deepEqual(applyPatch(doc, patch), want));

const bad = [
  ['a leading zero', [1, 2], [{ op: 'remove', path: '/01' }]],
  ['- only adds', [1], [{ op: 'remove', path: '/-' }]],
  ['an index beyond the end', [1], [{ op: 'add', path: '/2', value: 1 }]],
  ['a negative index', [1], [{ op: 'replace', path: '/-1', value: 1 }]],
  ['a member of a list', [1], [{ op: 'add', path: '/length', value: 1 }]],
  ['an inherited member', {}, [{ op: 'test', path: '/toString', value: 1 }]],
  ['an inherited parent', {}, [{ op: 'add', path: '/__proto__/x', value: 1 }]],
  ['into itself', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '/a/b' }]],
  ['no value', {}, [{ op: 'add', path: '/a' }]],
  ['no path', {}, [{ op: 'add', value: 1 }]],
  ['no slash', {}, [{ op: 'add', path: 'a', value: 1 }]],
  ['a bad escape', {}, [{ op: 'add', path: '/~2', value: 1 }]],
  ['no operation', {}, [{ op: 'spam', path: '/a' }]],
  ['replace of nothing', {}, [{ op: 'replace', path: '/a', value: 1 }]],
  ['test of a missing member against null', {}, [{ op: 'test', path: '/a', value: null }]],
  ['into a scalar', { a: 1 }, [{ op: 'add', path: '/a/b', value: 1 }]],
  ['no list', {}, { op: 'add' }],
];

for (const [name, doc, patch] of bad) {
  test(`refused: ${name}`, () => {
    const before = structuredClone(doc);
    assert.throws(() => applyPatch(doc, patch), PatchError);
    assert.deepEqual(doc, before);
  });
}

test('a patch that fails half way changes nothing, and one that works shares what it does not touch', () => {
  const doc = { a: [1], b: { deep: [2] } };
  assert.throws(() => applyPatch(doc, [{ op: 'add', path: '/a/-', value: 2 }, { op: 'test', path: '/a', value: 0 }]), /operation 1/);
  assert.deepEqual(doc, { a: [1], b: { deep: [2] } });
  assert.equal(applyPatch(doc, [{ op: 'add', path: '/a/-', value: 2 }]).b, doc.b);
});

test('equal', () => {
  assert.ok(equal({ a: 1, b: [null] }, { b: [null], a: 1 }));
  for (const [a, b] of [[[1, 2], [2, 1]], [{}, []], [null, {}], [{ a: undefined }, {}], ['1', 1], [{ a: 1 }, { b: 1 }], [[1], [1, 2]]]) assert.ok(!equal(a, b));
});
