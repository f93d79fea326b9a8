import { readFile } from 'node:fs/promises';
import { replaceFile } from '@svc/runtime';

/** `owner.json` of the data folder, readable only by its owner. */
export interface OwnerFile {
  email: string;
  /** Password of the first start; null if it was configured or has been changed since. */
  password: string | null;
  /** API token of the current start. */
  token: string;
}

export async function readOwnerFile(path: string): Promise<OwnerFile | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as OwnerFile; // written by this program only
  } catch {
    return null; // absent on the first start; a damaged one is rewritten
  }
}

/** Atomic, so that a script waiting for the file never reads half of it. */
export async function writeOwnerFile(path: string, content: OwnerFile): Promise<void> {
  await replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
}
