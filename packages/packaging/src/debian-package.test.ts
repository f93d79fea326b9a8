import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { writeDebianPackage } from './debian-package.ts';

const PACKAGE = {
  name: 'example',
  version: '1.2.3',
  architecture: 'arm64',
  fields: { Maintainer: 'Example <packages@example.com>', Depends: 'libc6', Description: 'an example' },
  scripts: { postinst: '#!/bin/sh\ntrue\n' },
  conffiles: ['etc/example.yaml'],
  entries: [
    { type: 'file', path: 'usr/bin/example', mode: 0o755, content: '#!/bin/sh\n' },
    { type: 'file', path: 'etc/example.yaml', content: 'a: 1\n' },
    { type: 'link', path: 'usr/bin/other', target: 'example' },
  ],
} as const;

describeRequiring(['command:dpkg-deb'], 'writeDebianPackage', () => {
  it('writes what dpkg-deb reads: control fields, scripts, files, modes and links', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'example.deb');
    await writeDebianPackage({ ...PACKAGE, output });
    const dpkg = (...args: string[]): string => execFileSync('dpkg-deb', args, { encoding: 'utf8' });
    expect(dpkg('--field', output, 'Package', 'Version', 'Architecture', 'Installed-Size')).toBe(
      'Package: example\nVersion: 1.2.3\nArchitecture: arm64\nInstalled-Size: 3\n',
    );
    expect(dpkg('--info', output, 'conffiles')).toBe('/etc/example.yaml\n');
    expect(dpkg('--info', output, 'postinst')).toBe(PACKAGE.scripts.postinst);
    const contents = dpkg('--contents', output);
    expect(contents).toMatch(/-rwxr-xr-x 0\/0\s+10 .* usr\/bin\/example\n/);
    expect(contents).toMatch(/usr\/bin\/other -> example\n/);
    expect(dpkg('--info', output, 'md5sums')).toMatch(/^[0-9a-f]{32} {2}usr\/bin\/example\n$/);
  });

  it('writes the same bytes, whatever the order of the entries', async () => {
    await using folder = await temporaryFolder();
    const [first, second] = [join(folder.path, 'first.deb'), join(folder.path, 'second.deb')];
    await writeDebianPackage({ ...PACKAGE, output: first });
    await writeDebianPackage({ ...PACKAGE, entries: PACKAGE.entries.toReversed(), output: second });
    expect((await readFile(first)).equals(await readFile(second))).toBe(true);
  });
});
