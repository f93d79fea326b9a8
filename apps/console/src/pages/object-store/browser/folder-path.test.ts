import { describe, expect, it } from 'vitest';
import { folderNameFault, folderOf, nameIn, stepsOf } from './folder-path.ts';

describe('the path of a folder', () => {
  it('has a step for each slash, even between empty names', () => {
    expect(stepsOf('')).toEqual([]);
    expect(stepsOf('a/b c/')).toEqual([
      { name: 'a', prefix: 'a/' },
      { name: 'b c', prefix: 'a/b c/' },
    ]);
    expect(stepsOf('/x/')).toEqual([
      { name: '(unnamed)', prefix: '/' },
      { name: 'x', prefix: '/x/' },
    ]);
    expect(stepsOf('a/part')).toEqual([{ name: 'a', prefix: 'a/' }]);
  });

  it('splits a key into its folder and name', () => {
    expect(folderOf('a/b/c.txt')).toBe('a/b/');
    expect(folderOf('a/b/')).toBe('a/');
    expect(folderOf('c.txt')).toBe('');
    expect(nameIn('a/', 'a/b/')).toBe('b/');
  });

  it('rejects names that would lead elsewhere', () => {
    expect(folderNameFault('2026/photos')).toBeUndefined();
    expect(folderNameFault('/x')).toMatch(/slash/);
    expect(folderNameFault('a//b')).toMatch(/slash/);
    expect(folderNameFault('a/../b')).toMatch(/\.\./);
  });
});
