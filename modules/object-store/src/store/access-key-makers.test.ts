import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrations } from '@svc/migrations';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { openSqliteMetadataStore } from './sqlite/store.ts';

it('migrates older keys as created by a sign-in, and drops presigning keys', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'objects.db');
  const before = migrations.filter(({ name }) => name < '0077');
  await (await openSqliteMetadataStore({ file, migrations: before })).close();
  const workspaceUuid = randomUUID();
  const database = new DatabaseSync(file);
  const insert = database.prepare(
    `insert into access_key (access_key_id, workspace_uuid, label, permissions, buckets, sealed_secret, created_at_ms,
       created_by, purpose) values (?, ?, 'label', '["read"]', null, 'sealed', 1, ?, ?)`,
  );
  insert.run('tid_user', workspaceUuid, 'some-user', 'user');
  insert.run('tid_presign', workspaceUuid, 'presign', 'presign');
  database.close();

  const store = await openSqliteMetadataStore({ file, migrations });
  expect(await store.findAccessKey({ accessKeyId: 'tid_user' })).toMatchObject({
    createdBy: { principalId: 'some-user', tokenId: null, kind: 'user', name: '' },
  });
  expect(await store.findAccessKey({ accessKeyId: 'tid_presign' })).toBeNull();
  await store.close();
});
