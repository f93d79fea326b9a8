import { describe, expect, it } from 'vitest';
import { folderNameFault, folderOf, nameIn, stepsOf } from './folder-path.ts';

describe('the path of a folder', () => {
  it('has a step for each slash, also for names that are empty', () => {
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

  it('leads from a key to its folder and to its name there', () => {
    expect(folderOf('a/b/c.txt')).toBe('a/b/');
    expect(folderOf('a/b/')).toBe('a/');
    expect(folderOf('c.txt')).toBe('');
    expect(nameIn('a/', 'a/b/')).toBe('b/');
  });

  it('refuses names that would lead elsewhere', () => {
    expect(folderNameFault('2026/photos')).toBeUndefined();
    expect(folderNameFault('/x')).toMatch(/slash/);
    expect(folderNameFault('a//b')).toMatch(/slash/);
    expect(folderNameFault('a/../b')).toMatch(/\.\./);
  });
});
