import { randomBytes } from 'node:crypto';
import { migrations } from '@svc/migrations';
import { unlimitedQuotas, type QuotaLimits } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import { describeDialects, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createArchiveNodes, type ArchiveNode, type ArchiveNodes } from '../support/nodes-with-archives.ts';
import type { Answer } from '../support/platform.ts';

const MIB = 1024 * 1024;
const DISK_MB = 64;

/** A disk with this much room above the reserve. */
function diskOf(roomBytes: number): DiskSpace {
  const fits = async (sizeBytes: number): Promise<boolean> => sizeBytes <= roomBytes;
  return { hasRoom: fits, take: fits };
}

describeDialects<unknown>('the size of archived images', migrations, (database) => {
  let nodes: ArchiveNodes;
  let a: ArchiveNode;
  let b: ArchiveNode;
  let diskLimit: number | null;

  beforeEach(async () => {
    diskLimit = null;
    const quotaLimits: QuotaLimits = {
      ...unlimitedQuotas,
      readLimits: async (uuid) => ({
        ...(await unlimitedQuotas.readLimits(uuid)),
        workspace: diskLimit === null ? {} : { sandbox_disk: diskLimit },
      }),
    };
    nodes = await createArchiveNodes(database(), quotaLimits);
    a = await nodes.start('a');
    b = await nodes.start('b');
  });
  afterEach(() => nodes[Symbol.asyncDispose]());

  /** A template of its own image. Returns the path of its build. */
  const build = async (name: string): Promise<string> => {
    const body = { from: 'busybox', steps: [{ env: { NAME: name } }] };
    const started = await a.call('POST', `/api/templates/${name}/builds`, body);
    const path = `/api/templates/${name}/builds/${started.body['id']}`;
    await waitFor(async () => (await a.call('GET', path)).body['status'] === 'ready');
    return path;
  };
  const read = async (path: string): Promise<Answer['body']> => (await b.call('GET', path)).body;
  const isSettled = async (path: string): Promise<boolean> => {
    const { archived_at: at, archive_error: error } = await read(path);
    return at !== null || error !== null;
  };
  const used = async (): Promise<number> =>
    (await b.platform.module.quotaUsage([nodes.owner.workspaceUuid]))['sandbox_disk'] ?? 0;
  const create = async (node: ArchiveNode, body: Record<string, unknown>): Promise<Answer['body']> => {
    const resources = { disk_mb: DISK_MB };
    return (await node.call('POST', '/api/sandboxes?wait_ms=10000', { ...body, resources })).body;
  };
  const layersOf = (node: string) =>
    nodes.kysely.selectFrom('template_layer').select('size_bytes').where('node', '=', node).execute();

  it('counts towards the disk quota: with any number of tags, no more is stored than it allows', async () => {
    a.driver.files = randomBytes(3 * MIB);
    diskLimit = 11;
    const paths: string[] = [];
    for (let index = 0; index < 6; index += 1) paths.push(await build(`tools-${index}`));
    let mostBytes = 0;
    await nodes.until(async () => {
      mostBytes = Math.max(mostBytes, await nodes.storedBytes());
      return (await Promise.all(paths.map(isSettled))).every(Boolean);
    });
    const builds = await Promise.all(paths.map(read));
    expect(builds.filter(({ archived_at: at }) => at !== null)).toHaveLength(3);
    const refused = builds.filter(({ archived_at: at }) => at === null);
    for (const { archive_error: reason } of refused) expect(reason).toContain('quota sandbox_disk is exceeded');
    expect(mostBytes).toBeGreaterThan(9 * MIB);
    expect(mostBytes).toBeLessThanOrEqual(11 * MIB);
    expect(await used()).toBeLessThanOrEqual(11);
    diskLimit = null;
    // On its own node, it is used without an archive.
    expect(await create(a, { template: refused[0]?.['id'] })).toMatchObject({ status: 'running' });
    await nodes.until(async () => (await Promise.all(paths.map(read))).every(({ archived_at: at }) => at !== null));
    expect(await nodes.storedBytes()).toBeGreaterThan(18 * MIB);
  });

  it('is refused beyond what was counted, and then nothing is stored', async () => {
    a.driver.files = randomBytes(3 * MIB);
    a.driver.claimedBytes = () => MIB;
    const path = await build('tools');
    await nodes.until(async () => (await read(path))['archive_error'] !== null);
    expect((await read(path))['archive_error']).toContain('The archive is too large');
    expect([await nodes.stored(), await used()]).toEqual([[], 0]);
  });

  it('counts unpacked on each node that fetches the image, which the quota refuses by name', async () => {
    a.driver.files = Buffer.alloc(30 * MIB); // small as an archive
    const path = await build('tools');
    await nodes.until(async () => typeof (await read(path))['archived_at'] === 'string');
    expect(await used()).toBe(1);
    diskLimit = 1 + DISK_MB + 20;
    const failed = await create(b, { template: 'tools' });
    expect(failed).toMatchObject({ status: 'error', error: { code: 'IMAGE_PULL_FAILED' } });
    expect(failed['error'].message).toContain('quota sandbox_disk is exceeded');
    expect([b.driver.added, await layersOf('b')]).toEqual([[], []]);
    diskLimit += 11;
    const started = await b.call('POST', `/api/sandboxes/${failed['id']}/start?wait_ms=10000`);
    expect(started.body).toMatchObject({ status: 'running' });
    expect(await used()).toBe(1 + DISK_MB + 31); // with its settings, it is a little more than 30 MiB
  });

  it('counts on the node of a sandbox from a snapshot on the image, too', async () => {
    a.driver.files = Buffer.alloc(30 * MIB);
    const path = await build('tools');
    await nodes.until(async () => typeof (await read(path))['archived_at'] === 'string');
    const sandbox = await create(a, { template: 'tools' });
    const { digest } = await nodes.kysely.selectFrom('template_build').select('digest').executeTakeFirstOrThrow();
    a.driver.image = digest ?? '';
    b.driver.image = digest ?? '';
    b.driver.images.add(digest ?? ''); // as after it was added
    const taken = await a.call('POST', `/api/sandboxes/${sandbox['id']}/snapshots`, {});
    const snapshot = String(taken.body['id']);
    await nodes.until(async () => typeof (await read(`/api/snapshots/${snapshot}`))['archived_at'] === 'string');
    const made = await create(b, { snapshot_id: snapshot });
    expect(made).toMatchObject({ status: 'running' });
    expect(b.driver.added).toEqual([digest]);
    const [layer] = await layersOf('b');
    expect(Number(layer?.size_bytes)).toBeGreaterThan(30 * MIB);
  });

  it('is compared with the free disk of the node as it is unpacked, of images as of snapshots', async () => {
    a.driver.files = Buffer.alloc(30 * MIB);
    const path = await build('tools');
    await nodes.until(async () => typeof (await read(path))['archived_at'] === 'string');
    const c = await nodes.start('c', { disk: diskOf(20 * MIB) });
    const failed = await create(c, { template: 'tools' });
    expect(failed).toMatchObject({ status: 'error', error: { code: 'HOST_DISK_FULL' } });
    expect([c.driver.added, await layersOf('c')]).toEqual([[], []]);

    const sandbox = await create(a, { image: 'busybox' });
    const taken = await a.call('POST', `/api/sandboxes/${sandbox['id']}/snapshots`, {});
    const snapshot = String(taken.body['id']);
    await nodes.until(async () => typeof (await read(`/api/snapshots/${snapshot}`))['archived_at'] === 'string');
    const archives = nodes.kysely.updateTable('sandbox_archive').where('snapshot_id', '=', snapshot);
    await archives.set({ unpacked_bytes: 30 * MIB }).execute();
    const refused = await create(c, { snapshot_id: snapshot });
    expect(refused).toMatchObject({ status: 'error', error: { code: 'HOST_DISK_FULL' } });
    expect(c.driver.restored.size).toBe(0);
  });
});
