import { readFile, rename, writeFile } from 'node:fs/promises';

/** `owner.json` of the data folder, readable by its owner alone. */
export interface OwnerFile {
  email: string;
  /** Of the first start; null when it was given by configuration or has been changed since. */
  password: string | null;
  /** API token of the running start. */
  token: string;
}

export async function readOwnerFile(path: string): Promise<OwnerFile | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as OwnerFile; // written by this program alone
  } catch {
    return null; // absent on first start; a damaged one is written anew below
  }
}

/** Atomic, so that a script that waits for the file never reads half of it. */
export async function writeOwnerFile(path: string, content: OwnerFile): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
