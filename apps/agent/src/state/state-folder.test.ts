import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@svc/runtime';
import { claimStateFolder, type StateOwner } from './state-folder.ts';

const OURS = { clusterId: 'cls-one', clusterName: 'production' };
const options = { clock: systemClock, log: createLogger({ level: 'silent', name: 'test' }) };
/** The lock files always remain. */
const LOCK = ['agent.lock', 'agent.pid'];

describe('the state folder', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder.path, 'events.jsonl'), 'known\n');
    await mkdir(join(folder.path, 'expected'));
  });
  afterEach(() => folder.remove());

  /** Like a process from start to end. */
  async function claim(owner: StateOwner): Promise<void> {
    const lock = await claimStateFolder({ ...options, folder: folder.path, owner });
    lock.release();
  }

  it.each([
    ['the same cluster', OURS],
    ['one that was renamed', { ...OURS, clusterName: 'prod' }],
    ['one of that name whose id is not configured', { ...OURS, clusterId: null }],
  ])('keeps its contents for %s, even if the cluster was not recorded', async (_what, owner) => {
    await claim(OURS);
    await claim(owner);
    expect((await readdir(folder.path)).toSorted()).toEqual([...LOCK, 'cluster.json', 'events.jsonl', 'expected']);
  });

  it.each([
    ['another id', { ...OURS, clusterId: 'cls-two' }],
    ['another name and no id', { clusterId: null, clusterName: 'staging' }],
  ])('sets its contents aside for a cluster of %s, every time', async (_what, owner) => {
    await claim(OURS);
    await claim(owner);
    expect((await readdir(folder.path)).toSorted()).toEqual([...LOCK, 'cluster.json', 'of-another-cluster']);
    const aside = join(folder.path, 'of-another-cluster');
    expect((await readdir(aside)).toSorted()).toEqual(['cluster.json', 'events.jsonl', 'expected']);
    expect(JSON.parse(await readFile(join(aside, 'cluster.json'), 'utf8'))).toEqual(OURS);
    await claim(OURS);
    expect((await readdir(folder.path)).toSorted()).toEqual([...LOCK, 'cluster.json', 'of-another-cluster']);
  });

  it('is refused with the key to change if it is unusable', async () => {
    await expect(
      claimStateFolder({ ...options, owner: OURS, folder: join(folder.path, 'events.jsonl') }),
    ).rejects.toMatchObject({
      code: 'STATE_DIR_UNUSABLE',
      details: { key: 'agent.state_dir' },
    });
  });
});
