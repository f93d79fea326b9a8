import { describeFuzz, orRefusal } from '@svc/testing';
import { expect } from 'vitest';
import { ProtocolViolation } from '../helper/frames.ts';
import { entityTag, modeOctal, modeText, modifiedMs, parseEntry, type FileEntry } from './file-entry.ts';
import { parsePrecondition } from './file-precondition.ts';

function parse(value: unknown): FileEntry | null {
  try {
    return parseEntry(value);
  } catch (error) {
    if (error instanceof ProtocolViolation) return null;
    throw error;
  }
}

const entry = {
  name: 'a',
  type: 'file',
  size: 5,
  mode: 33_188,
  mod_time: '2026-03-01T12:00:00.123456789Z',
  uid: 0,
  gid: 1000,
  inode: 7,
};

describeFuzz({
  name: 'entries of files as hostile helpers describe them',
  corpus: new URL('./corpus/file-entry/', import.meta.url),
  seeds: [
    JSON.stringify(entry),
    JSON.stringify({ ...entry, name_b64: '/w==', link_target: '../x', attributes: { 'user.e2b.a': 'b' } }),
    JSON.stringify({ ...entry, mod_time: '9999-99-99T99:99:99.999999999Z', inode: 1e300 }),
    JSON.stringify({ ...entry, inode: -1, mode: Number.MAX_SAFE_INTEGER, attributes: { __proto__: null } }),
    '[]',
  ],
  dictionary: [
    '"mod_time":"',
    '2026-02-30T24:60:60.000000000Z',
    '"inode":',
    '1e308',
    '-0',
    '0.5',
    'null',
    '"__proto__":',
    '"type":"symlink"',
    '"attributes":{',
    ',',
    '}',
  ],
  run: (input) => {
    let value: unknown;
    try {
      value = JSON.parse(input.toString('utf8'));
    } catch {
      return;
    }
    const found = parse(value);
    if (found === null) return;
    expect(new Date(modifiedMs(found)).toISOString().length).toBeGreaterThan(20);
    expect(modeText(found.mode)).toMatch(/^[-dlbcps](?:[-r][-w][-xsStT]){3}$/);
    expect(modeOctal(found.mode)).toMatch(/^[0-7]{4}$/);
    // A client may send the tag back as the condition of a write.
    const tag = entityTag(found);
    expect(tag).toMatch(/^W\/"[0-9a-z]+-[0-9a-z]+-\d{23}"$/);
    const condition = orRefusal(() => parsePrecondition({ 'if-match': tag }));
    if (found.inode <= Number.MAX_SAFE_INTEGER) {
      const version = { inode: found.inode, size: found.sizeBytes, mod_time: found.modifiedAt };
      expect(JSON.stringify(condition)).toBe(JSON.stringify({ versions: [version] })); // -0 is 0
    }
  },
});
