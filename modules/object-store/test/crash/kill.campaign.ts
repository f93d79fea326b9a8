import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { answeredTotal, campaignState, CRASH_BUCKET, VERSIONED_BUCKET, type CampaignState } from './campaign-state.ts';
import { runRound, withServer, type Reader } from './rounds.ts';
import { startStore, type RunningStore } from '../support/running-store.ts';
import { campaignConfig } from './serve-campaign.ts';

/** Short by default. For a long campaign: `node modules/object-store/test/crash/main.ts --rounds 1000`. */
const ROUNDS = 20;
const SEED = 20_260_101;

describe('a store killed under load', () => {
  it(
    `keeps every acknowledged write through ${ROUNDS} kills, shows nothing torn, and keeps blobs and rows consistent`,
    async () => {
      await using folder = await temporaryFolder();
      const state = campaignState(SEED);
      for (let round = 0; round < ROUNDS; round += 1) {
        expect(await runRound({ folder: folder.path, state, seed: SEED, round })).toEqual([]);
      }
      expect(await withServer(folder.path, (reader) => reader.audit(state))).toEqual([]);
      expect(answeredTotal(state)).toBeGreaterThan(ROUNDS * 5);
      expect(state.cut).toBeGreaterThan(ROUNDS);
    },
    60_000 + ROUNDS * 15_000,
  );

  describe('the auditor', () => {
    /** Runs two rounds of load, tampers with the store like a fault would, and returns the next audit's findings. */
    async function findingsAfter(
      tamper: (store: RunningStore, folder: string, state: CampaignState) => Promise<void>,
    ): Promise<string[]> {
      await using folder = await temporaryFolder();
      const state = campaignState(SEED);
      for (let round = 0; round < 2; round += 1) {
        expect(await runRound({ folder: folder.path, state, seed: SEED, round, atLeastMs: 1_500 })).toEqual([]);
      }
      expect(await withServer(folder.path, (reader: Reader) => reader.audit(state))).toEqual([]);
      const store = await startStore(folder.path, { config: campaignConfig() });
      try {
        await tamper(store, folder.path, state);
      } finally {
        await store.close();
      }
      return await withServer(folder.path, (reader) => reader.audit(state));
    }

    const firstIn = async (store: RunningStore, name: string) => {
      const bucketId = (await store.metadata.findBucket({ name }))?.id ?? 0;
      const page = { prefix: '', delimiter: '', after: '', limit: 1, versioned: name === VERSIONED_BUCKET };
      const { objects } = await store.metadata.listObjects({ bucketId, ...page });
      return { bucketId, key: objects[0]?.key ?? '' };
    };
    const deletion = { nowMs: 1, versionToken: 't', trashDueAtMs: 1, conditions: {} };

    it('finds a lost acknowledged write', async () => {
      let key = '';
      const findings = await findingsAfter(async (store) => {
        const first = await firstIn(store, CRASH_BUCKET);
        key = first.key;
        await store.metadata.deleteObject({ ...first, ...deletion });
      });
      expect(findings).toEqual([expect.stringContaining(`${key}: found nothing`)]);
    });

    it('finds a lost version', async () => {
      const findings = await findingsAfter(async (store, _folder, { versions }) => {
        const { bucketId } = await firstIn(store, VERSIONED_BUCKET);
        // Not the newest version of a key: it may come from a write that was cut off, whose ID no client knows.
        const answered = [...versions.all()].map(({ key }) => ({ key, versionId: versions.toDelete(key, 0) }));
        const { key, versionId } = answered.find((each) => each.versionId !== null) ?? { key: '', versionId: null };
        await store.metadata.deleteObject({ bucketId, key, versionId: versionId ?? '', ...deletion });
      });
      expect(findings).toEqual([expect.stringContaining('versionId')]);
    });

    it('finds a changed byte', async () => {
      const findings = await findingsAfter(async (_store, folder) => {
        // Changes every blob: some belong to deleted or unfinished objects, which the audit does not read.
        const paths = await blobFiles(folder);
        expect(paths.length).toBeGreaterThan(0);
        for (const path of paths) {
          const bytes = await readFile(path);
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
          await writeFile(path, bytes);
        }
      });
      expect(findings.join('\n')).toContain('other bytes');
    });

    it('finds lost blobs through fsck alone', async () => {
      const findings = await findingsAfter(async (store, folder) => {
        for (const path of await blobFiles(folder)) await unlink(path);
        const found = await store.module.fsck();
        expect(found.clean).toBe(false);
        expect(found.missing.length).toBeGreaterThan(0);
      });
      expect(findings[0]).toContain('fsck');
    });
  });
});

async function blobFiles(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, 'objects', 'blobs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
