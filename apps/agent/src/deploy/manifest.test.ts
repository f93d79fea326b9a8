import { isAppError } from '@svc/errors';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Faults } from './faults.ts';
import { parseManifest, type ManifestObject } from './manifest.ts';

const limits = { maxDocuments: 10, maxObjects: 20 };
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

function parse(text: string): ManifestObject[] {
  const faults = new Faults();
  const objects = parseManifest(text, limits, faults);
  faults.assertNone();
  return objects;
}

function refusal(text: string): Record<string, unknown> {
  try {
    parse(text);
  } catch (error) {
    if (isAppError(error)) return { code: error.code, ...error.details };
    throw error;
  }
  throw new Error('accepted');
}

describe('a manifest', () => {
  it('contains the objects of all documents and lists, with their positions', () => {
    const text = `${head}---\n# nothing\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n---\n{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c"}}`;
    const objects = parse(text).map(({ object, field }) => [object.kind, object.metadata.name, field]);
    expect(objects).toEqual([
      ['ConfigMap', 'a', 'manifest[0]'],
      ['Secret', 'b', 'manifest[2].items[0]'],
      ['Deployment', 'c', 'manifest[3]'],
    ]);
  });

  it('parses numbers, modes and booleans like Kubernetes', () => {
    const text = `${head}data:\n  mode: 0644\n  yes: yes\n  off: off\n  text: "0644"\n  time: 12:30\n  date: 2020-01-01\n  big: 1e3\n  hex: 0x10\n  none: ~\n`;
    expect(parse(text)[0]?.object['data']).toEqual({
      mode: 420,
      true: true,
      false: false,
      text: '0644',
      time: '12:30',
      date: '2020-01-01',
      big: 1000,
      hex: 16,
      none: null,
    });
  });

  it('supports anchors and merge keys', () => {
    const text = `${head}x: &base {a: 1, b: 2}\ny: {<<: *base, b: 3}\n`;
    expect(parse(text)[0]?.object['y']).toEqual({ a: 1, b: 3 });
  });

  it.each([
    ['', 'manifest'],
    ['---\n---\n', 'manifest'],
    ['just text', 'manifest[0]'],
    ['- a\n- b', 'manifest[0]'],
    [`${head}a: 1\na: 2`, 'manifest[0]'],
    [`${head}a: {b: 1`, 'manifest[0]'],
    [`${head}---\nkind: X\nmetadata: {name: a}`, 'manifest[1].apiVersion'],
    [`${head}---\napiVersion: v1\nmetadata: {name: a}`, 'manifest[1].kind'],
    [`${head}---\napiVersion: v1\nkind: Pod`, 'manifest[1].metadata'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}', 'manifest[0].metadata.generateName'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: ../etc}', 'manifest[0].metadata.name'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: 5}', 'manifest[0].metadata.name'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: "x y"}', 'manifest[0].metadata.namespace'],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {b: 1}}', 'manifest[0].metadata.labels.b'],
    [Array.from({ length: 11 }, () => head).join('---\n'), 'manifest'],
  ])('is refused with the position of the fault: %j', (text, field) => {
    expect(refusal(text)).toMatchObject({ code: 'INVALID_REQUEST', field });
  });

  it('splits typed lists, whose items may omit their kind', () => {
    const text =
      'apiVersion: v1\nkind: ConfigMapList\nitems:\n- {metadata: {name: a}}\n- {kind: Secret, metadata: {name: b}}\n';
    expect(parse(text).map(({ object }) => [object.apiVersion, object.kind, object.metadata.name])).toEqual([
      ['v1', 'ConfigMap', 'a'],
      ['v1', 'Secret', 'b'],
    ]);
    const named = 'apiVersion: a.example/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [b]\n';
    expect(parse(named)[0]?.object.kind).toBe('AllowList');
  });

  it('is refused with all its faults at once', () => {
    const text = `kind: A\nmetadata: {name: "A B", labels: {a: 1, b: 2}}\n---\n${head}---\n{\n---\n- a\n`;
    const { code, field, reason, issues } = refusal(text);
    expect({ code, field }).toEqual({ code: 'INVALID_REQUEST', field: 'manifest[0].apiVersion' });
    expect((issues as { field: string }[]).map((issue) => issue.field)).toEqual([
      'manifest[0].apiVersion',
      'manifest[0].metadata.name',
      'manifest[0].metadata.labels.a',
      'manifest[0].metadata.labels.b',
      'manifest[2]',
      'manifest[3]',
    ]);
    expect(reason).toMatch(/^6 faults: manifest\[0\].apiVersion must be a string; manifest\[0\].metadata.name must/);
  });

  it('reports how many faults are not listed', () => {
    const labels = Array.from({ length: 60 }, (_, index) => `l${index}: 1`).join(', ');
    const { reason, issues } = refusal(`apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {${labels}}}\n`);
    expect(issues).toHaveLength(50);
    expect(reason).toMatch(/^60 faults: .*; and 10 more$/);
  });

  it('refuses an alias bomb at once', () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const previous = level === 0 ? 'x' : `*l${level - 1}`;
      return `l${level}: &l${level} [${Array.from({ length: 10 }, () => previous).join(', ')}]`;
    });
    expect(refusal(`${head}${levels.join('\n')}\n`)).toMatchObject({ code: 'INVALID_REQUEST' });
    const many = Array.from({ length: 2000 }, () => '*a').join(', ');
    expect(refusal(`${head}a: &a x\nb: [${many}]\n`)).toMatchObject({
      reason: expect.stringContaining('aliases') as string,
    });
  });

  it('refuses deep nesting', () => {
    expect(refusal(`${head}a: ${'['.repeat(300)}${']'.repeat(300)}`)).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(refusal('['.repeat(200_000))).toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('does not take quadratic time for many keys', () => {
    const keys = Array.from({ length: 60_000 }, (_, index) => `  k${index}: v`).join('\n');
    expect(parse(`${head}data:\n${keys}\n`)).toHaveLength(1);
  });

  it('parses any text to objects or INVALID_REQUEST', () => {
    const mangled = fc
      .tuple(
        fc.constant(`${head}data: {a: "1", b: [1, 2]}\n---\n${head}`),
        fc.nat(),
        fc.string({ maxLength: 6 }),
        fc.nat(10),
      )
      .map(
        ([text, at, insert, cut]) => text.slice(0, at % text.length) + insert + text.slice((at % text.length) + cut),
      );
    fc.assert(
      fc.property(fc.oneof(fc.string(), mangled), (text) => {
        try {
          expect(parse(text).length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_REQUEST' });
        }
      }),
      { numRuns: 1000 },
    );
  });
});
