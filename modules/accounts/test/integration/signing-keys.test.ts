import { createSecretKey, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalKeyWrapper } from '@svc/keys';
import { migrations } from '@svc/migrations';
import { createSealedSecrets } from '@svc/replicas';
import { describeDialects, fakeClock, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SigningKeyFiles } from '../../src/adapters/signing-key-files.ts';
import { SigningKeySecrets } from '../../src/adapters/signing-key-secrets.ts';
import { SigningKeys } from '../../src/domain/jwt/signing-keys.ts';

const LIFETIME_SECONDS = 3_600;
const current = createSecretKey(randomBytes(32));
const wrapper = createLocalKeyWrapper({ loadMasterKeys: async () => ({ current, others: [] }), random: randomBytes });

describeDialects<unknown>('signing keys of several replicas', migrations, (database) => {
  let folder: TemporaryFolder;
  const clock = fakeClock();
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const files = (replica: string) => new SigningKeyFiles(join(folder.path, replica));
  const open = (replica: string): Promise<SigningKeys> => {
    const secrets = createSealedSecrets(database(), wrapper);
    return SigningKeys.open(new SigningKeySecrets(secrets, files(replica)), clock, LIFETIME_SECONDS);
  };

  it('are the same without a shared folder', async () => {
    const first = await open('first');
    const second = await open('second');
    expect(second.signer().kid).toBe(first.signer().kid);
    await expect(readdir(join(folder.path, 'first'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('verify what another replica signs after a rotation', async () => {
    const first = await open('first');
    const second = await open('second');
    const old = first.signer().kid;
    const fresh = await first.rotate();
    await second.reload();
    expect(second.signer().kid).toBe(fresh);
    expect(await second.verifier(old)).toBeDefined();
  });

  it('are taken from the files of an earlier version by the first start only', async () => {
    const old = (await SigningKeys.open(files('first'), clock, LIFETIME_SECONDS)).signer().kid;
    const other = (await SigningKeys.open(files('second'), clock, LIFETIME_SECONDS)).signer().kid;
    expect((await open('first')).signer().kid).toBe(old);
    const second = await open('second');
    expect(second.signer().kid).toBe(old);
    expect(await second.verifier(other)).toBeUndefined();
  });

  it('leave no private half in a file once they are retired', async () => {
    await SigningKeys.open(files('first'), clock, LIFETIME_SECONDS);
    const keys = await open('first');
    const old = keys.signer().kid;
    await keys.rotate();
    expect(await readdir(join(folder.path, 'first'))).toEqual([]);
    expect(await (await open('first')).verifier(old)).toBeDefined();
  });
});
