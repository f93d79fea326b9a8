import { describe, expect, it } from 'vitest';
import { parseSandboxPath } from './sandbox-path.ts';

describe('a path of svc sandbox cp', () => {
  it('is remote if it begins with a name and a colon', () => {
    expect(parseSandboxPath('box:/etc/hosts')).toEqual({ sandbox: 'box', path: '/etc/hosts' });
    expect(parseSandboxPath('box:a:b')).toEqual({ sandbox: 'box', path: 'a:b' });
    expect(parseSandboxPath('box:')).toEqual({ sandbox: 'box', path: '.' });
  });

  it('is local otherwise', () => {
    for (const path of ['file', '/a:b', './a:b', '../a:b', '-', ':x']) expect(parseSandboxPath(path)).toBeNull();
  });
});
