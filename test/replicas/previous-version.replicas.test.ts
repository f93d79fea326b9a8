import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requirement, skippedTitle, temporaryFolder, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import type { ReadyLine } from '../system/running-platform.ts';
import { startEngine } from './engine.ts';
import { findPreviousVersion, unpackVersion, type PreviousVersion } from './previous-version.ts';
import { createReplicas, type Replicas } from './replicas.ts';
import { OWNER, useAt, writeAt, type Seen } from './walk.ts';

const previous = await findPreviousVersion();
const missing = requirement('postgres') ?? (typeof previous === 'string' ? previous : null);
const title = 'the previous version works beside the schema of this one, and starts again on it';
/** Sandboxes are part of it where they run. */
const withoutSandboxes = requirement(
  'linux',
  'root',
  'cgroups',
  'command:crun',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
);

it.skipIf(missing !== null)(missing === null ? title : skippedTitle(title, missing), { timeout: 300_000 }, async () => {
  await using folder = await temporaryFolder('svc-previous-');
  const root = join(folder.path, 'checkout');
  const version = previous as PreviousVersion; // else skipped
  await unpackVersion(version, root);
  await using engine = await startEngine();
  const services = ['clusters', 'object-store', ...(withoutSandboxes === null ? ['sandboxes'] : [])];
  await using replicas = await createReplicas(JSON.stringify(services));
  const environment = { ...engine.environment, SVC_OWNER_PASSWORD: OWNER.password };
  const startOld = () => replicas.start({ name: 'old', root, environment });
  const old = await startOld();
  const current = await replicas.start({ name: 'current', environment }); // migrates beside it
  await using sandbox = await createSandbox(old.ready, replicas);
  await expect(useAt(current.ready, await writeAt(old.ready, 'by-old'))).resolves.toMatchObject(expectedOf('by-old'));
  const written = await writeAt(current.ready, 'by-current');
  await expect(useAt(old.ready, written)).resolves.toMatchObject(expectedOf('by-current'));
  expect(await sandbox.stateAt(current.ready)).toBe(withoutSandboxes ?? 'running');
  if (!(await knowsTheRule(root))) {
    await sandbox.remove(old.ready);
    expect(await old.stop()).toBe(0);
    const refused = await startOld().catch((error: unknown) => String(error));
    expect(refused).toContain(`migration ${version.unknown[0] ?? ''} is unknown here`);
    return;
  }
  expect(await old.stop()).toBe(0);
  const again = await startOld();
  await expect(useAt(again.ready, await writeAt(current.ready, 'again'))).resolves.toMatchObject(expectedOf('again'));
  expect(await sandbox.stateAt(again.ready)).toBe(withoutSandboxes ?? 'running');
  await sandbox.remove(again.ready);
});

/** Versions from before decision 0048 are refused on every newer schema. */
async function knowsTheRule(root: string): Promise<boolean> {
  return (await readFile(join(root, 'packages/sql/src/migration.ts'), 'utf8')).includes('contractsAfter');
}

function expectedOf(name: string): Partial<Seen> {
  return {
    byToken: OWNER.email,
    bySession: OWNER.email,
    teams: expect.arrayContaining([name]),
    small: 'small',
    largeBytes: 300_000,
    uploaded: '4 bytes more: last',
    keys: ['large', 'parts', 'small'],
    deployment: 'superseded', // by the one that the other replica made
    deployments: ['queued', 'superseded'],
  };
}

/** A sandbox of the replica `old`; without what it needs, its state is the reason. */
async function createSandbox(old: ReadyLine, replicas: Replicas) {
  const path = '/api/sandboxes';
  const id =
    withoutSandboxes === null
      ? (await apiClient(old).post<{ id: string }>(path, { image: 'busybox', network: 'none' })).id
      : '';
  const stateAt = async (ready: ReadyLine): Promise<string> => {
    if (withoutSandboxes !== null) return withoutSandboxes;
    const read = () => apiClient(ready).get<{ status: string }>(`${path}/${id}`);
    const isSettled = async (): Promise<boolean> => (await read()).status !== 'creating';
    await waitFor(isSettled, { timeoutMs: 60_000, description: 'the sandbox to start' });
    return (await read()).status;
  };
  const disks = join(replicas.dataFolder('old'), 'sandboxes', 'disks');
  const remove = async (ready: ReadyLine): Promise<void> => {
    if (withoutSandboxes !== null || !existsSync(disks) || readdirSync(disks).length === 0) return;
    await apiClient(ready).delete(`${path}/${id}`);
    await waitFor(() => readdirSync(disks).length === 0, { timeoutMs: 60_000, description: 'no disks' });
  };
  return { stateAt, remove, [Symbol.asyncDispose]: () => remove(old).catch(() => undefined) };
}
