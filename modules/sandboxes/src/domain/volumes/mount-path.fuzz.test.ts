import { posix } from 'node:path';
import { describeFuzz, orRefusal } from '@svc/testing';
import { expect } from 'vitest';
import { hostnameOf, NAME_PATTERN } from '../identifiers.ts';
import { parsePrefix } from '../mounts/bucket-mount.ts';
import { mountPathFault } from './volume.ts';

const NAME = new RegExp(NAME_PATTERN);
const RESERVED = ['/proc', '/sys', '/dev', '/.sandbox'];
const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

describeFuzz({
  name: 'names, paths and prefixes of volumes and mounts',
  corpus: new URL('./corpus/mount-path/', import.meta.url),
  seeds: [
    '/data\n/mnt/x\nmodels/2026',
    '/dev\n/dev/shm\n../x',
    '/a/../proc\n//a\na//b',
    '/a/b\n/a\nx/',
    '/\n/.sandbox\n.',
    'web_1-x\n-x-\n\0',
  ],
  dictionary: ['/', '//', '/..', '/.', '/proc', '/.sandbox', '\0', '\n', '-', '_', '\u00e9', 'x'.repeat(256)],
  run: (input) => {
    const [path = '', other = '', text = ''] = input.toString('utf8').split('\n');
    const others = mountPathFault(other, []) === null ? [{ path: other }] : [];
    if (mountPathFault(path, others) === null) {
      // The path is where the kernel mounts it: it names no other place, and none of the platform's.
      expect(posix.normalize(path)).toBe(path);
      expect(path).not.toContain('\0');
      expect(path !== '/' && posix.isAbsolute(path)).toBe(true);
      for (const folder of RESERVED) expect(isWithin(path, folder), path).toBe(false);
      for (const each of others) {
        expect(isWithin(path, each.path) || isWithin(each.path, path)).toBe(false);
        expect(mountPathFault(each.path, [{ path }]), 'in the other order').toBeNull();
      }
    }
    const prefix = orRefusal(() => parsePrefix(text, 'prefix'));
    if (prefix !== null && prefix !== '') {
      expect(prefix.endsWith('/') && !prefix.startsWith('/')).toBe(true);
      expect(parsePrefix(prefix, 'prefix')).toBe(prefix);
      expect(posix.normalize(`/root/${prefix}`)).toBe(`/root/${prefix}`);
      expect(prefix).not.toContain('\0');
    }
    if (NAME.test(path)) expect(hostnameOf(path)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
  },
});
