import { describe, expect, it } from 'vitest';
import { parseRemote, readLocations } from './object-location.ts';

const nothing = (_path: string): boolean => false;

describe('a location argument', () => {
  it('is a bucket and a literal key', () => {
    expect(parseRemote('svc://photos')).toEqual({ kind: 'remote', bucket: 'photos', key: '' });
    expect(parseRemote('s3://photos/a%20b//c/..')).toMatchObject({ bucket: 'photos', key: 'a%20b//c/..' });
    expect(parseRemote('photos/a')).toMatchObject({ bucket: 'photos', key: 'a' });
    for (const text of ['svc://', 'svc:///key', 'Photos/a', 'a/b', ''])
      expect(() => parseRemote(text), text).toThrow('does not name a bucket');
  });

  it('is identified by its scheme, its form or the other argument', () => {
    const kinds = (source: string, target: string, exists = nothing): string[] =>
      readLocations(source, target, exists).map(({ kind }) => kind);
    expect(kinds('a.txt', 'svc://photos/')).toEqual(['local', 'remote']);
    expect(kinds('svc://photos/a', '.')).toEqual(['remote', 'local']);
    expect(kinds('./photos/a', 'photos/a')).toEqual(['local', 'remote']);
    expect(kinds('photos/a', '/tmp/a')).toEqual(['remote', 'local']);
    expect(kinds('-', 'photos/a')).toEqual(['stream', 'remote']);
    expect(kinds('photos/a', '-')).toEqual(['remote', 'stream']);
    expect(kinds('photos/a', 'other/b', (path) => path === 'photos/a')).toEqual(['local', 'remote']);
    expect(() => kinds('./a', './b')).toThrow('neither argument is in a bucket');
  });
});
