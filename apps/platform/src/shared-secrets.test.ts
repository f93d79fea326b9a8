import { createSecretKey, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalKeyWrapper } from '@svc/keys';
import { migrations } from '@svc/migrations';
import { createSealedSecrets, type SealedSecrets } from '@svc/replicas';
import { sqliteSource, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAuthorityStore, loadPreviewKey, loadSshHostKey } from './shared-secrets.ts';

let folder: TemporaryFolder;
let secrets: SealedSecrets;
let close: () => Promise<void>;

beforeEach(async () => {
  folder = await temporaryFolder();
  const source = await sqliteSource(migrations);
  const database = await source.open<unknown>();
  const current = createSecretKey(randomBytes(32));
  const loadMasterKeys = async () => ({ current, others: [] });
  secrets = createSealedSecrets(database, createLocalKeyWrapper({ loadMasterKeys, random: randomBytes }));
  close = async () => {
    await database.close();
    await source.close();
  };
});
afterEach(async () => {
  await close();
  await folder.remove();
});

it('takes the preview key of an earlier version in, for every replica', async () => {
  const kept = randomBytes(32);
  await writeFile(join(folder.path, 'preview.key'), kept);
  expect((await loadPreviewKey(secrets, { sandboxesFolder: folder.path })).export()).toEqual(kept);
  const other = await loadPreviewKey(secrets, { sandboxesFolder: join(folder.path, 'absent') });
  expect(other.export()).toEqual(kept);
});

it('creates one preview key and one authority for all', async () => {
  const absent = { sandboxesFolder: join(folder.path, 'absent') };
  const key = await loadPreviewKey(secrets, absent);
  expect((await loadPreviewKey(secrets, absent)).equals(key)).toBe(true);
  const store = createAuthorityStore(secrets);
  const first = await store.ensure(async () => ({ cert: 'one', key: 'one' }));
  expect(await store.ensure(async () => ({ cert: 'two', key: 'two' }))).toEqual(first);
});

it('creates one SSH host key for all', async () => {
  expect(await loadSshHostKey(secrets, () => 'first')).toBe('first');
  expect(await loadSshHostKey(secrets, () => 'second')).toBe('first');
});
