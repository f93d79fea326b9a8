import { describe, expect, it } from 'vitest';
import { parseRemotePath } from './remote-path.ts';

describe('a path of svc sandbox cp', () => {
  it('is remote if it begins with a name and a colon', () => {
    expect(parseRemotePath('box:/etc/hosts')).toEqual({ name: 'box', path: '/etc/hosts' });
    expect(parseRemotePath('box:a:b')).toEqual({ name: 'box', path: 'a:b' });
    expect(parseRemotePath('box:')).toEqual({ name: 'box', path: '.' });
  });

  it('is local otherwise', () => {
    for (const path of ['file', '/a:b', './a:b', '../a:b', '-', ':x']) expect(parseRemotePath(path)).toBeNull();
  });
});
