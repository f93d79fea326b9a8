import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '@svc/runtime';
import { inspectManifest } from './inspect.ts';
import { createManifestInspector } from './inspector.ts';

const OBJECT = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n';

describe('inspectManifest', () => {
  it('counts the objects and skips empty documents and comments', () => {
    expect(inspectManifest(`# first\n---\n${OBJECT}---\n---\n${OBJECT}---\n# last\n`)).toEqual({
      ok: true,
      documents: 2,
    });
    expect(inspectManifest('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}')).toMatchObject({
      ok: true,
    });
    expect(inspectManifest('apiVersion: v1\nkind: List\nitems: []\n')).toMatchObject({ ok: true });
  });

  it.each([
    ['', 'has no document'],
    ['just text', 'document 1: must be a mapping'],
    [`${OBJECT}---\n- a\n`, 'document 2: must be a mapping'],
    ['kind: A\nmetadata: {name: a}', 'document 1: apiVersion is missing'],
    ['apiVersion: v1\nkind: 7\nmetadata: {name: a}', 'document 1: kind is missing'],
    ['apiVersion: v1\nkind: A\nmetadata: {generateName: a}', 'document 1: metadata.name is missing'],
    [`${OBJECT}data: {a: 1, a: 2}\n`, 'document 1 has the key "a" twice in one mapping'],
    [`${OBJECT}? {a: 1}\n: b\n`, 'document 1: has a key that is not a text'],
    ['a: b: c', 'document 1 is not YAML at line 1, column 4: Nested mappings are not allowed in compact mappings'],
    [`${OBJECT}data:\n  a: "\\q secret"\n`, 'document 1 is not YAML at line 6, column 7: Invalid escape sequence \\q'],
  ])('refuses %j', (text, reason) => {
    expect(inspectManifest(text)).toEqual({ ok: false, code: 'INVALID_REQUEST', reason });
  });

  it('names the fault of each document, up to a limit', () => {
    const text = `${OBJECT}---\nkind: A\n---\n- a\n---\n{\n`;
    expect(inspectManifest(text)).toMatchObject({
      code: 'INVALID_REQUEST',
      reason: expect.stringMatching(
        /^document 2: apiVersion is missing; document 3: must be a mapping; document 4 is not YAML/,
      ) as string,
    });
    expect(inspectManifest('---\nkind: A\n'.repeat(30))).toMatchObject({
      reason: expect.stringMatching(/document 20: apiVersion is missing; and 10 more$/) as string,
    });
  });

  it('leaves typed lists to the agent', () => {
    const list = 'apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}]\n';
    expect(inspectManifest(list)).toEqual({ ok: true, documents: 1 });
    expect(inspectManifest('apiVersion: v1\nkind: ConfigMapList\n')).toMatchObject({ ok: false });
  });

  it('refuses an alias bomb by its size, without expanding it', () => {
    const lines = Array.from({ length: 9 }, (_, level) => {
      const inner = level === 0 ? 'x' : `*a${level - 1}`;
      return `a${level}: &a${level} [${Array.from({ length: 9 }, () => inner).join(', ')}]`;
    });
    expect(inspectManifest(`${OBJECT}data:\n  ${lines.join('\n  ')}\n`)).toMatchObject({
      ok: false,
      code: 'MANIFEST_TOO_LARGE',
    });
  });

  it('refuses deep nesting and too many documents', () => {
    const deep = `${OBJECT}data: ${'['.repeat(100)}${']'.repeat(100)}\n`;
    expect(inspectManifest(deep)).toMatchObject({
      code: 'MANIFEST_TOO_LARGE',
      reason: expect.stringMatching('deeper') as string,
    });
    expect(inspectManifest(`---\n${OBJECT}`.repeat(501))).toMatchObject({ code: 'MANIFEST_TOO_LARGE' });
  });
});

describe('createManifestInspector', () => {
  const options = {
    clock: systemClock,
    maxSizeBytes: 900 * 1024,
    inlineSizeBytes: 16 * 1024,
    timeoutMs: 120_000,
    maxWaitingOfOwner: 1,
    shareOf: (workspaceUuid: string) => workspaceUuid,
  };
  const inspector = createManifestInspector({ ...options, maxWaiting: 1, maxWaitingOfWorkspace: 1 });
  afterAll(() => inspector.close());

  it('inspects a large manifest in its own thread', async () => {
    const object = `---\n${OBJECT}data:\n${Array.from({ length: 500 }, (_, key) => `  key-${key}: value\n`).join('')}`;
    expect(await inspector.inspect('workspace', object.repeat(20))).toBe(20);
  });

  it.each([
    ['keys without end', Array.from({ length: 60_000 }, (_, key) => `k${key}: 1`).join('\n')],
    ['complex keys in one another', '? '.repeat(50_000)],
    ['brackets without end', '['.repeat(100_000)],
    ['anchors without end', '&a '.repeat(30_000)],
  ])('refuses %s within the time limit', async (_name, manifest) => {
    await expect(inspector.inspect('workspace', manifest)).rejects.toMatchObject({ details: { field: 'manifest' } });
  });

  it('refuses a manifest above the limit, and more at once than it may hold', async () => {
    await expect(inspector.inspect('workspace', '#'.repeat(900 * 1024 + 1))).rejects.toMatchObject({ status: 413 });
    const large = '#'.repeat(20_000);
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => inspector.inspect('workspace', large)));
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : 'ok',
    );
    expect(codes).toEqual(['INVALID_REQUEST', 'INVALID_REQUEST', 'RATE_LIMITED']);
  });

  it('terminates a thread that takes too long', async () => {
    const impatient = createManifestInspector({ ...options, timeoutMs: 1, maxWaiting: 1, maxWaitingOfWorkspace: 1 });
    await expect(impatient.inspect('workspace', '['.repeat(400_000))).rejects.toMatchObject({
      code: 'MANIFEST_TOO_LARGE',
      details: { reason: 'manifest takes too long to read' },
    });
    await impatient.close();
  });
});
