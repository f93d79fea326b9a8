import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readRequirements, requirementNames } from './needed-packages.ts';

describe('requirementNames', () => {
  it('finds the requirements of suites, even across several lines', () => {
    // In pieces, so that the runner does not take this for a requirement of this file.
    const source = [
      "describeRequiring([\n  'root',\n",
      "  'command:crun'], 'a sandbox', () => {});\n",
      'const reason = requirement',
      "('command:etcd', 'go');",
    ].join('');
    expect(requirementNames(source)).toEqual(['root', 'command:crun', 'command:etcd', 'go']);
  });

  it('finds nothing in an ordinary test', () => {
    expect(requirementNames(`it('requires a name', () => expect(requirementOf('x')).toBe(1));`)).toEqual([]);
  });
});

describe('readRequirements', () => {
  it('finds those of a list that several suites share', () => {
    const escapes = new URL('../../test/escapes/escapes.local.test.ts', import.meta.url);
    expect(readRequirements(fileURLToPath(escapes))).toEqual(expect.arrayContaining(['go', 'command:script']));
  });
});
