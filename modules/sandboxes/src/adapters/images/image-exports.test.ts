import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderRegistryError } from '@svc/http';
import { isAppError } from '@svc/errors';
import { unlimitedQuotas } from '@svc/quotas';
import { unlimitedDisk } from '@svc/runtime';
import { LimitedDisk, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_SETTINGS } from '../../domain/images/image-settings.ts';
import type { PullCredential, PullCredentials } from '../../domain/images/pull-credentials.ts';
import { readIfThere } from './disk/files.ts';
import { ImageRecords } from './disk/image-records.ts';
import { ImageExports } from './image-exports.ts';
import { PlatformRegistry } from './platform-registry.ts';
import { REPOSITORIES } from './repository-name.ts';

/** Notes the folder that it packs, and waits until it may go on. */
const PACKER = (folder: string): string => `#!/bin/sh
echo "$3" >> ${folder}/started
while [ ! -e ${folder}/go ]; do /bin/sleep 0.02; done
echo content
`;
const never = new AbortController().signal;

describe('packing images for nodes', () => {
  let folder: TemporaryFolder;
  let exports: ImageExports;

  beforeEach(async () => {
    folder = await temporaryFolder();
    const packer = join(folder.path, 'packer');
    await writeFile(packer, PACKER(folder.path));
    await chmod(packer, 0o755);
    for (const name of ['layers', 'leases', 'work']) await mkdir(join(folder.path, name));
    const shareOf = (workspaceUuid: string): string => workspaceUuid.split(' ', 1)[0] ?? '';
    const given = { folder: folder.path, owner: folder.path, disk: unlimitedDisk, shareOf };
    exports = new ImageExports({ ...given, packer: async () => packer });
  });
  afterEach(async () => {
    await exports.close();
    await folder.remove();
  });

  /** Adds an image of one layer, which others may have. */
  async function add(number: number, layerNumber = number): Promise<string> {
    const hexOf = (each: number): string => each.toString(16).padStart(4, '0');
    const layer = { name: `sha256-${hexOf(layerNumber)}`, bytes: 10, entries: 1 };
    await mkdir(join(folder.path, 'layers', layer.name), { recursive: true });
    const digest = `built-${hexOf(number)}`;
    await new ImageRecords(folder.path).writeImage({ digest, layers: [layer], settings: NO_SETTINGS });
    return digest;
  }
  const started = async (): Promise<string[]> =>
    ((await readIfThere(join(folder.path, 'started'))) ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `built-${/sha256-([0-9a-f]+)/.exec(line)?.[1] ?? ''}`);
  const letGo = (): Promise<void> => writeFile(join(folder.path, 'go'), '');
  /** The images 0 to 9 are those of a workspace, or of two of its owner. */
  async function request(workspaces: readonly string[], signal = never) {
    const images: string[] = [];
    const made: Promise<unknown>[] = [];
    for (let number = 0; number < 10; number += 1) {
      images.push(await add(number));
      made.push(exports.get(images[number] ?? '', workspaces[number % workspaces.length] ?? '', signal));
      if (number === 0) await expect.poll(started).toHaveLength(1);
    }
    return { images, made };
  }

  it('serves owners in turns: the many of one delay those of another by none', async () => {
    const { images, made } = await request(['ann 1', 'ann 2']);
    const [bob, catalog] = [await add(100), await add(101)];
    made.push(exports.get(bob, 'bob', never));
    await expect.poll(started).toEqual([images[0], bob]);
    made.push(exports.get(catalog, null, never));
    await exports.find(catalog); // by then, it waits
    await letGo();
    await Promise.all(made);
    const order = await started();
    expect(order.slice(0, 4)).toContain(catalog);
    expect(order).toHaveLength(12);
  });

  it('ends with its last waiter, and packs nothing that was queued', async () => {
    const gone = new AbortController();
    const { images, made } = await request(['ann 1'], gone.signal);
    gone.abort();
    expect((await Promise.allSettled(made)).map(({ status }) => status)).toEqual(made.map(() => 'rejected'));
    await expect.poll(() => readdir(join(folder.path, 'work'))).toEqual([]);
    await letGo();
    const again = await add(100);
    expect(await exports.get(again, 'ann 1', never)).not.toBeNull();
    expect(await started()).toEqual([images[0], again]);
    expect(await exports.find(images[0] ?? '')).toBeNull();
  });

  it('goes on for the others when one caller gives up', async () => {
    const gone = new AbortController();
    const image = await add(1);
    const given = Promise.allSettled([exports.get(image, 'ann', gone.signal)]);
    const other = exports.get(image, 'ann', never);
    await expect.poll(started).toEqual([image]);
    gone.abort();
    await given;
    await letGo();
    expect(await other).not.toBeNull();
    expect(await started()).toEqual([image]);
  });

  it('packs a layer once for the images that have it', async () => {
    const [one, other] = [await add(1, 1), await add(2, 1)];
    const made = [exports.get(one, 'ann', never), exports.get(other, 'bob', never)];
    await expect.poll(started).toHaveLength(1);
    await letGo();
    const [first, second] = await Promise.all(made);
    expect(second?.layers).toEqual(first?.layers);
    expect(await started()).toHaveLength(1);
  });

  it('is refused to a workspace with too many images that wait, not to others', async () => {
    const all: Promise<unknown>[] = [];
    for (let number = 0; number < 34; number += 1) {
      const made = exports.get(await add(number), 'ann', never);
      made.catch(() => undefined); // awaited below
      all.push(made);
      if (number === 0) await expect.poll(started).toHaveLength(1);
    }
    const refusal: unknown = await all[33]?.catch((error: unknown) => error);
    if (!isAppError(refusal)) throw refusal;
    expect([refusal.status, refusal.headers]).toEqual([429, { 'retry-after': '30' }]);
    expect(renderRegistryError(refusal, '')).toMatchObject({ errors: [{ code: 'TOOMANYREQUESTS' }] });
    const bob = exports.get(await add(100), 'bob', never);
    await letGo();
    expect(await bob).not.toBeNull();
    await Promise.all(all.slice(0, 33));
  });

  it('stops before it uses up the reserve of the disk, and leaves nothing', async () => {
    const packer = join(folder.path, 'noise');
    await writeFile(packer, '#!/bin/sh\nexec /usr/bin/head -c 4000000 /dev/urandom\n');
    await chmod(packer, 0o755);
    const disk = new LimitedDisk(1_000_000);
    const shareOf = (workspaceUuid: string): string => workspaceUuid;
    const small = new ImageExports({
      folder: folder.path,
      owner: folder.path,
      disk,
      shareOf,
      packer: async () => packer,
    });
    await expect(small.get(await add(1), 'ann', never)).rejects.toMatchObject({ code: 'HOST_DISK_FULL' });
    expect(disk.freeBytes).toBeGreaterThanOrEqual(0);
    expect(await readdir(join(folder.path, 'work'))).toEqual([]);
    expect(await readdir(join(folder.path, 'layers', 'sha256-0001'))).toEqual([]);
    await small.close();
  });

  it('fails for the holder of a credential without words of this machine, which are the cause', async () => {
    const digest = await add(1);
    const registry = new PlatformRegistry({
      images: { prepare: () => Promise.reject(new Error('not used')), byDigest: async () => null },
      exports: new ImageExports({
        folder: folder.path,
        owner: folder.path,
        disk: unlimitedDisk,
        shareOf: (workspaceUuid) => workspaceUuid,
        packer: async () => join(folder.path, 'missing'),
      }),
      credentials: {} as PullCredentials, // not used
      templates: { findBuild: async () => null },
      node: 'n',
      imageService: { secureUrl: () => 'https://svc.example.org', servesAll: false },
      quotaLimits: unlimitedQuotas,
    });
    const pull: PullCredential = { id: 'spc_a', subject: 'cls-a', workspaceUuid: 'w', createdAt: '' };
    const name = { kind: REPOSITORIES.templates, source: 'build', image: digest };
    const failure: unknown = await registry.get(name, pull, never).catch((error: unknown) => error);
    if (!isAppError(failure)) throw failure;
    expect(failure).toMatchObject({ code: 'IMAGE_PULL_FAILED', details: { reason: 'it could not be packed' } });
    expect(JSON.stringify([failure.message, failure.details])).not.toContain(folder.path);
    expect(String(failure.cause)).toContain('ENOENT');
  });
});
