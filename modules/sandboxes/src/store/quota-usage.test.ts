import { migrations } from '@svc/migrations';
import { passQuotaGate, type Limits, type Quota } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { sandboxQuotas } from '../quotas.ts';
import { breachIn, usageByWorkspace } from './quota-usage.ts';
import type { SandboxTables } from './tables.ts';
import { createVolumeRepository } from './volume-repository.ts';

const { sandbox_disk: disk, secrets, volumes } = sandboxQuotas;

function limits(workspace: Limits['workspace'], owner: Limits['owner'] = {}): Limits {
  return { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['other', 'w'], workspace, owner };
}

/** The gate's table belongs to no module. */
type Tables = SandboxTables & { quota_gate: { subject: string; passes: number } };

describeDialects<Tables>('usage for quotas', migrations, (database) => {
  const kysely = (): Kysely<SandboxTables> => database().kysely;
  const insertVolume = async (id: string, workspaceUuid: string): Promise<void> => {
    const volume = {
      id,
      kind: 'volume',
      workspaceUuid,
      ownerId: 'o',
      node: 'n',
      driver: 'd',
      name: id.slice(4),
    } as const;
    const size = { sizeMb: 100, sizeBytes: 0, sourceId: null, state: 'making' } as const;
    const made = { ...volume, ...size, createdAt: '2026-01-01T00:00:00.000Z' };
    await createVolumeRepository(kysely()).insert(made, { ...limits({}), workspaceUuid });
  };
  const breach = (given: Limits, demand: Parameters<typeof breachIn>[2]) =>
    kysely()
      .transaction()
      .execute((transaction) => breachIn(transaction, given, demand));

  it('is counted for the quotas that are asked for', async () => {
    await insertVolume('vol_a', 'w');
    const usage = async (...quotas: Quota[]) => (await usageByWorkspace(kysely(), ['w'], quotas)).get('w');
    expect(await usage(secrets)).toEqual({});
    expect(await usage(volumes)).toMatchObject({ volumes: 1 });
    expect(await usage(disk)).toMatchObject({ sandbox_disk: 100 });
  });

  it('breaches a limit of the workspace or of its owner, in any of the demands', async () => {
    await insertVolume('vol_a', 'w');
    await insertVolume('vol_b', 'other');
    const demand = [
      [volumes, 1],
      [disk, 50],
    ] as const;
    expect(await breach(limits({}), demand)).toBeNull();
    expect(await breach(limits({ secrets: 0 }), demand)).toBeNull();
    expect(await breach(limits({ sandbox_disk: 150 }), demand)).toBeNull();
    expect(await breach(limits({ sandbox_disk: 149 }), demand)).toMatchObject({ scope: 'workspace', used: 100 });
    expect(await breach(limits({}, { sandbox_disk: 249 }), demand)).toMatchObject({ scope: 'owner', used: 200 });
    expect(await breach(limits({ volumes: 1 }), demand)).toMatchObject({ quota: volumes, used: 1, wanted: 1 });
  });

  it('is behind a gate that lets callers with the same subjects in, one after another', async () => {
    const subjects = ['owner/o', 'workspace/w', 'caller/c'];
    const enter = (order: readonly string[]) =>
      kysely()
        .transaction()
        .execute((transaction) => passQuotaGate(transaction, 'sandboxes', order));
    await Promise.all(
      Array.from({ length: 24 }, (_, index) => enter(index % 2 === 0 ? subjects : subjects.toReversed())),
    );
    await enter([]);
    const rows = await database().kysely.selectFrom('quota_gate').selectAll().execute();
    const passed = Object.fromEntries(rows.map(({ subject, passes }) => [subject, Number(passes)]));
    expect(passed).toEqual(Object.fromEntries(subjects.map((subject) => [`sandboxes/${subject}`, 24])));
  });
});
