import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../clients/python.ts';

/**
 * The commit that `known-failures.txt` refers to. The suite is under the MIT license; none of its code is in this
 * repository.
 */
export const S3_TESTS_COMMIT = '8f0ae7b404a3a2fcf7038bf1e6bf29544fe9b6a3';

/** The only file of the suite that runs. */
export const TEST_FILE = 's3tests/functional/test_s3.py';

/** Git blob id of that file at that commit. */
const TEST_FILE_BLOB = 'c34c1e46946105c721784c1172e35e70aa32b9cf';

/** Folder of the checkout: `S3_TESTS_DIR`, or below the user's cache. */
export function checkoutFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env['S3_TESTS_DIR'] ?? join(cacheFolder(env), 's3-tests-src', S3_TESTS_COMMIT);
}

/** Null if the suite is present, otherwise how to get it: no package registry has it. */
export function missingCheckout(env: NodeJS.ProcessEnv = process.env): string | null {
  if (existsSync(join(checkoutFolder(env), TEST_FILE))) return null;
  return `needs a checkout of ceph/s3-tests at ${S3_TESTS_COMMIT.slice(0, 12)} in S3_TESTS_DIR or the cache`;
}

/** Rejects if the tests were modified. */
export async function assertUnmodified(folder: string): Promise<void> {
  const content = await readFile(join(folder, TEST_FILE));
  const blob = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
  if (blob !== TEST_FILE_BLOB) throw new Error(`${TEST_FILE} in ${folder} is not the one of ${S3_TESTS_COMMIT}`);
}
