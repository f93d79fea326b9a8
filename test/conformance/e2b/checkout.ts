import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../../clients/python.ts';

/**
 * The commit that `known-failures.txt` refers to: JavaScript SDK 2.45.0, Python SDK 2.45.1. The suites are under the MIT
 * license; none of their code is in this repository.
 */
export const E2B_COMMIT = 'b8029973aa7da5f741f7bb1a9f833b38a0885438';

export const JAVASCRIPT_PACKAGE = 'packages/js-sdk';
export const PYTHON_PACKAGE = 'packages/python-sdk';

/** The SDKs and their tests. */
const FOLDERS = [
  `${JAVASCRIPT_PACKAGE}/src`,
  `${JAVASCRIPT_PACKAGE}/tests`,
  `${PYTHON_PACKAGE}/e2b`,
  `${PYTHON_PACKAGE}/tests`,
];

/** SHA-256 of these folders at that commit, as `digestOf` computes it. */
const DIGEST = '488157e71764891049dc3249b91726fe439bf2e28ea24ac7fe73935edcdbb1a1';

/** Folder of the checkout: `E2B_DIR`, or below the user's cache. */
export function checkoutFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env['E2B_DIR'] ?? join(cacheFolder(env), 'e2b-src', E2B_COMMIT);
}

/** Null if the suites are present, otherwise how to get them: no package registry has them. */
export function missingCheckout(env: NodeJS.ProcessEnv = process.env): string | null {
  if (FOLDERS.every((folder) => existsSync(join(checkoutFolder(env), folder)))) return null;
  return `needs a checkout of e2b-dev/E2B at ${E2B_COMMIT.slice(0, 12)} in E2B_DIR or the cache`;
}

/** Rejects if the SDKs or their tests were modified. */
export async function assertUnmodified(checkout: string): Promise<void> {
  const digest = await digestOf(checkout);
  if (digest !== DIGEST) throw new Error(`the SDKs in ${checkout} are not those of ${E2B_COMMIT} (${digest})`);
}

/** Of the path and content of each file. Ignores what Python compiles next to its sources. */
async function digestOf(checkout: string): Promise<string> {
  const paths: string[] = [];
  for (const folder of FOLDERS) {
    for (const entry of await readdir(join(checkout, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.name.endsWith('.pyc')) paths.push(join(entry.parentPath, entry.name));
    }
  }
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) {
    const content = await readFile(path);
    hash.update(`${path.slice(checkout.length + 1)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
