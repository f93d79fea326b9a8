import { describe, expect, it } from 'vitest';
import { entityTag, parseEntry } from './file-entry.ts';
import { parsePrecondition } from './file-precondition.ts';

const ENTRY = {
  name: 'a',
  size: 4_294_967_296,
  mode: 0o100644,
  mod_time: '2026-11-22T08:00:01.000000009Z',
  type: 'file',
  link_target: null,
  uid: 0,
  gid: 0,
  // An inode number that JSON rounds.
  inode: 2 ** 64 - 2 ** 12,
};

describe('parsePrecondition', () => {
  it('parses weak and strong entity tags, alone or in a list', () => {
    const tag = entityTag(parseEntry(ENTRY));
    const { inode, size, mod_time } = ENTRY;
    for (const header of [tag, tag.replace('W/', ''), `"other", ${tag}`]) {
      expect(parsePrecondition({ 'if-match': header })).toEqual({ versions: [{ inode, size, mod_time }] });
    }
  });

  it('parses `*`, and treats a missing header as no condition', () => {
    expect(parsePrecondition({})).toBeUndefined();
    expect(parsePrecondition({ 'if-match': '*' })).toEqual({ present: true });
    expect(parsePrecondition({ 'if-none-match': ' * ' })).toEqual({ absent: true });
  });

  it('matches nothing for a foreign tag', () => {
    expect(parsePrecondition({ 'if-match': '"d41d8cd98f00b204e9800998ecf8427e"' })).toEqual({ versions: [] });
  });

  it.each([
    [{ 'if-match': 'abc' }, 'If-Match'],
    [{ 'if-match': '' }, 'If-Match'],
    [{ 'if-match': '"a",' }, 'If-Match'],
    [{ 'if-match': Array.from({ length: 33 }, () => '"a"').join(',') }, 'If-Match'],
    [{ 'if-none-match': '"a"' }, 'If-None-Match'],
    [{ 'if-none-match': '*', 'if-match': '*' }, 'If-None-Match'],
  ])('refuses %j and names the header', (headers, field) => {
    expect(() => parsePrecondition(headers)).toThrow(
      expect.objectContaining({ code: 'INVALID_FIELD', details: expect.objectContaining({ field }) }),
    );
  });
});
