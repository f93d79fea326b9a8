import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SealedSecrets } from '@svc/replicas';
import type { DataFolderPaths } from './data-folder.ts';
import type { AuthorityStore } from './local-authority.ts';
import type { PemPair } from '@svc/certificates';

const PREVIEW_KEY = 'preview';
const LOCAL_AUTHORITY = 'local-authority';
const SSH_HOST_KEY = 'ssh-host-key';
const PREVIEW_KEY_BYTES = 32;

/** The key that signs preview links. The first start takes the file of an earlier version in. */
export async function loadPreviewKey(
  secrets: SealedSecrets,
  { sandboxesFolder }: Pick<DataFolderPaths, 'sandboxesFolder'>,
): Promise<KeyObject> {
  const content = await secrets.ensure(PREVIEW_KEY, async () => {
    const kept = await readIfThere(join(sandboxesFolder, 'preview.key'));
    return kept?.length === PREVIEW_KEY_BYTES ? kept : randomBytes(PREVIEW_KEY_BYTES);
  });
  return createSecretKey(content);
}

/** The authority that certifies the local names of all replicas. */
export function createAuthorityStore(secrets: SealedSecrets): AuthorityStore {
  return {
    async ensure(create) {
      const content = await secrets.ensure(LOCAL_AUTHORITY, async () => Buffer.from(JSON.stringify(await create())));
      return JSON.parse(content.toString()) as PemPair; // written by the line above
    },
  };
}

/** The private key with which every replica identifies itself to SSH clients. */
export async function loadSshHostKey(secrets: SealedSecrets, create: () => string): Promise<string> {
  return (await secrets.ensure(SSH_HOST_KEY, async () => Buffer.from(create()))).toString();
}

async function readIfThere(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
