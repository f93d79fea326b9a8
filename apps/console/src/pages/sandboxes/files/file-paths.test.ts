import { describe, expect, it } from 'vitest';
import { fileNameFault, joinPath, nameOf, parentOf, resolvePath, stepsOf } from './file-paths.ts';

describe('paths of files', () => {
  it('are joined and split, including the root', () => {
    expect([joinPath('/', 'a'), joinPath('/a', 'b')]).toEqual(['/a', '/a/b']);
    expect([parentOf('/a/b'), parentOf('/a'), parentOf('/')]).toEqual(['/a', '/', '/']);
    expect(nameOf('/a/b.txt')).toBe('b.txt');
    expect(stepsOf('/a/b')).toEqual([
      { name: 'a', path: '/a' },
      { name: 'b', path: '/a/b' },
    ]);
  });

  it('may be typed relative to a folder', () => {
    expect(resolvePath('/a/b', '../c/./d')).toBe('/a/c/d');
    expect(resolvePath('/a', '/x//y/')).toBe('/x/y');
    expect(resolvePath('/', '../..')).toBe('/');
  });

  it('have names without slashes and within the length limit', () => {
    expect(fileNameFault('a/b')).toMatch(/slash/);
    expect(fileNameFault('..')).toMatch(/reserved/);
    expect(fileNameFault('é'.repeat(128))).toMatch(/255/);
    expect(fileNameFault('é'.repeat(127))).toBeUndefined();
  });
});
