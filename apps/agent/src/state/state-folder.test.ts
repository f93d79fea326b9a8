import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimStateFolder } from './state-folder.ts';

const OURS = { clusterId: 'cls-one', clusterName: 'production' };
const log = createLogger({ level: 'silent', name: 'test' });

describe('the state folder', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder.path, 'events.jsonl'), 'known\n');
    await mkdir(join(folder.path, 'expected'));
  });
  afterEach(() => folder.remove());

  it.each([
    ['the same cluster', OURS],
    ['one that was renamed', { ...OURS, clusterName: 'prod' }],
    ['one of that name whose id is not configured', { ...OURS, clusterId: null }],
  ])('keeps what it holds for %s, also when it did not say whose it is', async (_what, owner) => {
    await claimStateFolder(folder.path, OURS, log);
    await claimStateFolder(folder.path, owner, log);
    expect((await readdir(folder.path)).toSorted()).toEqual(['cluster.json', 'events.jsonl', 'expected']);
  });

  it.each([
    ['another id', { ...OURS, clusterId: 'cls-two' }],
    ['another name and no id', { clusterId: null, clusterName: 'staging' }],
  ])('sets what it holds aside for a cluster of %s, each time', async (_what, owner) => {
    await claimStateFolder(folder.path, OURS, log);
    await claimStateFolder(folder.path, owner, log);
    expect((await readdir(folder.path)).toSorted()).toEqual(['cluster.json', 'of-another-cluster']);
    const aside = join(folder.path, 'of-another-cluster');
    expect((await readdir(aside)).toSorted()).toEqual(['cluster.json', 'events.jsonl', 'expected']);
    expect(JSON.parse(await readFile(join(aside, 'cluster.json'), 'utf8'))).toEqual(OURS);
    await claimStateFolder(folder.path, OURS, log);
    expect((await readdir(folder.path)).toSorted()).toEqual(['cluster.json', 'of-another-cluster']);
  });

  it('is refused with the key to change when it cannot be used', async () => {
    await expect(claimStateFolder(join(folder.path, 'events.jsonl'), OURS, log)).rejects.toMatchObject({
      code: 'STATE_DIR_UNUSABLE',
      details: { key: 'agent.state_dir' },
    });
  });
});
