import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { createGrantedAccess } from '@svc/access';
import { describeFuzz, fakeAccess, fakeClock, orRefusal, orRefusalLater } from '@svc/testing';
import { expect } from 'vitest';
import type { AccessRecord } from '../../domain/access/access-tokens.ts';
import type { SandboxAccess } from '../../domain/access/sandbox-access.ts';
import { filePath, queryText } from '../../domain/files/file-path.ts';
import { METADATA_PREFIX, parseMetadata, toMetadataView } from './file-metadata.ts';
import { findSigned, type SignedFile } from './file-signature.ts';
import { cleanPath } from './paths.ts';

const TOKEN = `svc_sba_${'a'.repeat(26)}-${'B'.repeat(43)}`;
const { principal } = fakeAccess().user('owner');
const record: AccessRecord = {
  id: 'sba_a',
  subjectId: 'sbx_a',
  granted: createGrantedAccess(principal, new Date(0), 'sandbox:files-read', null),
};
const access = {
  find: async (_named: string | null, accepts: (token: string) => boolean) => (accepts(TOKEN) ? record : null),
} as unknown as SandboxAccess; // nothing else is used
const clock = fakeClock();

/** As E2B's SDK signs. */
function sign([path = '', operation = '', username = '', expiration = '']: readonly string[]): string {
  const parts = [path, operation, username, TOKEN, ...(expiration === '' ? [] : [expiration])];
  return `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replaceAll('=', '')}`;
}

describeFuzz({
  name: 'signatures of files',
  corpus: new URL('./corpus/file-signature/', import.meta.url),
  seeds: [
    'a/b\nread\nroot\n9999999999\na/b\nread\nroot\n9999999999',
    'a\nread\nuser\n\na\nwrite\nuser\n',
    'a:write:b\nread\n\n\na\nwrite\nb:read:\n',
    `a\nread\nb\n9999999999\na:read:b:${TOKEN}\nread\n\n9999999999`,
    'a\nread\nb\n-1\na\nread\nb\n-1',
  ],
  dictionary: [':', '\n', ':read:', ':write:', 'read', 'write', TOKEN, '9999999999', '-', '1e99', '\u00e9', '%3A'],
  run: async (input) => {
    const lines = input.toString('utf8').split('\n');
    const signed = lines.slice(0, 4);
    const [path = '', operation = '', username = '', expiration = ''] = lines.slice(4);
    // What clients sign: one of two operations, a user who can exist, and a time.
    if (!/^(?:read|write)$/.test(signed[1] ?? '') || signed[2]?.includes(':') !== false) return;
    if (!/^(?:read|write)$/.test(operation) || !/^-?\d*$/.test(signed[3] ?? '')) return;
    const file: SignedFile = {
      path,
      operation: operation === 'read' ? 'read' : 'write',
      username,
      signature: sign(signed),
      expiration: expiration === '' ? undefined : expiration,
    };
    const found = await orRefusalLater(() => findSigned(file, null, { access, clock }));
    const isSame = [path, operation, username, expiration].every((each, at) => each === (signed[at] ?? ''));
    const isInTime = expiration === '' || Number(expiration) * 1000 > clock.nowMs();
    if (found !== null) expect([isSame, isInTime], 'accepted for another file').toEqual([true, true]);
    else if (isSame && isInTime) expect(expiration.length, 'a right signature is refused').toBeGreaterThan(15);
  },
});

describeFuzz({
  name: 'paths, users and metadata of uploaded files',
  corpus: new URL('./corpus/file-path/', import.meta.url),
  seeds: [
    '/files?path=a%2Fb&username=root\nx-metadata-a: b',
    '/files?path=/home/user/../a//b/./c&path=other\nx-metadata-__proto__: c',
    '/files?path=%c3%a9+%2B&username\nX-Metadata-: d',
    '/files?path=%ff%fe\nx-metadata-a: \u00e9',
    `/files?path=${'..%2F'.repeat(20)}etc\nx-metadata-${'n'.repeat(250)}: e`,
  ],
  dictionary: [
    'path=',
    '&',
    '+',
    '%',
    '%2F',
    '%00',
    '%2e',
    '..',
    '/',
    '//',
    '/./',
    '?',
    '#',
    'x-metadata-',
    'constructor',
    '\n',
    '%F0%9F%98%80',
  ],
  run: (input) => {
    const [url = '', header = ''] = input.toString('utf8').split('\n');
    const given = orRefusal(() => queryText(url, 'path'));
    // Where a browser's reader of queries understands the same bytes, it reads the same text.
    const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
    if (typeof given === 'string' && url.includes('path='))
      expect([query.get('path'), ...query.getAll('path')]).toContain(given);
    if (typeof given === 'string') {
      expect(given.isWellFormed()).toBe(true);
      const path = orRefusal(() => filePath(given, '/home/user/'));
      if (path !== null) {
        expect(path.startsWith('/') && !path.includes('\0') && Buffer.byteLength(path) <= 4096).toBe(true);
        const clean = cleanPath(path);
        expect(clean).toBe(posix.normalize(path).replace(/(?!^)\/$/, ''));
        expect(cleanPath(clean)).toBe(clean);
        expect(decodeURIComponent(encodeURIComponent(clean))).toBe(clean);
      }
    }
    const [name = '', value = ''] = header.toLowerCase().split(': ');
    const attributes = orRefusal(() => parseMetadata({ [name]: value }));
    if (attributes === null) return;
    const isKept = name.startsWith('x-metadata-');
    expect(Object.keys(attributes)).toEqual(isKept ? [`${METADATA_PREFIX}${name.slice('x-metadata-'.length)}`] : []);
    if (isKept) expect(Object.entries(toMetadataView(attributes))).toEqual([[name.slice('x-metadata-'.length), value]]);
  },
});
