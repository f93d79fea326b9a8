import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { copySourceKeyHeaders, customerKeyHeaders, readCustomerKey } from './customer-key.ts';

it('reads a key as raw bytes, Base64 or hex, and rejects anything else', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'key');
  const key = randomBytes(32);
  for (const content of [key, `${key.toString('base64')}\n`, `${key.toString('hex')}\n`]) {
    await writeFile(path, content);
    expect((await readCustomerKey(path))?.base64).toBe(key.toString('base64'));
  }
  for (const content of ['', key.subarray(1), key.toString('hex').slice(2), 'not a key at all, though long enough']) {
    await writeFile(path, content);
    await expect(readCustomerKey(path)).rejects.toMatchObject({ exitCode: 2 });
  }
  expect(await readCustomerKey(undefined)).toBe(null);
});

it('sends no headers without a key, and separate ones for a copy source', () => {
  expect(customerKeyHeaders(null)).toEqual({});
  const headers = Object.keys(copySourceKeyHeaders({ base64: 'k', md5Base64: 'm' }));
  expect(headers.every((name) => name.startsWith('x-amz-copy-source-server-side-encryption-customer-'))).toBe(true);
});
