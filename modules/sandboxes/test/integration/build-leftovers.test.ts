import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { openMigratedFile, temporaryFolder } from '@svc/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { SandboxTemplate } from '../../src/domain/templates/sandbox-template.ts';
import { BuildingDriver } from '../support/building-driver.ts';
import { startPlatform } from '../support/platform.ts';

const OF_BUILD: SandboxTemplate = {
  digest: 'image busybox',
  buildId: null,
  user: null,
  workingFolder: null,
  startCommand: null,
  building: true,
};

it('a start removes sandboxes of builds whose template was deleted when the platform ended, and keeps forks of them', async () => {
  await using folder = await temporaryFolder();
  const driver = new BuildingDriver();
  const database = await openMigratedFile<unknown>(join(folder.path, 'svc.db'), migrations);
  const platform = await startPlatform({ driver, database });
  const create = async (template: SandboxTemplate | null, snapshotId: string | null): Promise<string> => {
    const { body } = await platform.call('POST', '/api/containers?wait_ms=5000', { body: { image: 'busybox' } });
    expect(body['status']).toBe('running');
    const column = template === null ? null : JSON.stringify(template);
    const row = sql`UPDATE sandbox SET template = ${column}, snapshot_id = ${snapshotId} WHERE id = ${body['id']}`;
    await row.execute(database.kysely);
    return body['id'];
  };
  try {
    await create(OF_BUILD, null);
    const fork = await create(OF_BUILD, `snp_${'a'.repeat(26)}`);
    const ofTemplate = await create({ ...OF_BUILD, buildId: 'b', building: false }, null);
    const plain = await create(null, null);
    await platform.close();
    await platform.reopen();
    const { body } = await platform.call('GET', '/api/containers');
    const ids: string[] = body['containers'].map(({ id }: { id: string }) => id);
    expect(ids.toSorted()).toEqual([fork, ofTemplate, plain].toSorted());
  } finally {
    await platform.dispose();
    await driver.dispose();
    await database.close();
  }
});
