import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFuzz, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { isIgnored, readIgnoreRules } from './build-context.ts';

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder('svc-ignore-');
});
afterAll(() => folder.remove());

const PATHS = ['a', 'a/b.txt', 'a/b/c.log', '.git/config', 'node_modules/x/y.js', 'README.md', '{a}', 'a b', '\u00e9'];
/** Without wildcards, a rule is a path. */
const PLAIN = /^[\w.][\w. /-]*$/;

describeFuzz({
  name: 'ignore files of templates',
  corpus: new URL('./corpus/ignore/', import.meta.url),
  seeds: [
    '# c\n*.log\n!a/b\n',
    'a/\n/README.md\r\n**/*.js\n',
    '.git\n!.git/config',
    '*\n!a',
    '..\n../x\n./a\n//a//b.txt',
    '!',
  ],
  dictionary: ['*', '**/', '!', '#', '/', '..', './', '\r\n', '\n', '?', '[a-z]', '[', '\\', '{a,b}', '@(a)', ' '],
  maxBytes: 120,
  inputs: 200,
  run: async (input) => {
    await writeFile(join(folder.path, '.dockerignore'), input);
    const rules = await readIgnoreRules(folder.path);
    expect(rules.length).toBeLessThanOrEqual(input.length + 1);
    for (const path of PATHS) {
      const ignored = isIgnored(path, rules);
      // The last rule that matches decides, also for what is in a folder.
      const [top = ''] = path.split('/');
      if (PLAIN.test(top)) expect(isIgnored(path, [...rules, { pattern: top, isKept: true }]), path).toBe(false);
      expect(isIgnored(path, [...rules, ...rules])).toBe(ignored);
      if (rules.length === 0) expect(ignored).toBe(false);
    }
    for (const [index, { pattern, isKept }] of rules.entries()) {
      if (PLAIN.test(pattern) && index === rules.length - 1) expect(isIgnored(pattern, rules), pattern).toBe(!isKept);
    }
  },
});
