import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeployCommand } from '@svc/protocol';
import { replaceFile } from '@svc/runtime';

const FOLDER = 'deploys';

/**
 * Deploys that began and have no result, one file each. Kept outside the journal because a manifest may contain
 * secrets: its file is deleted with the result, whereas a journal line stays until the next rewrite.
 */
export class UnfinishedDeploys {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes files of other commands: a process was killed between the result and the removal. */
  static async open(stateFolder: string, commandIds: readonly string[]): Promise<UnfinishedDeploys> {
    const folder = join(stateFolder, FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const wanted = new Set(commandIds.map(fileName));
    for (const name of await readdir(folder)) {
      if (!wanted.has(name)) await rm(join(folder, name), { force: true });
    }
    return new UnfinishedDeploys(folder);
  }

  /** On disk when it resolves. */
  async write(commandId: string, deploy: DeployCommand): Promise<void> {
    await replaceFile(this.#path(commandId), JSON.stringify(deploy));
  }

  async read(commandId: string): Promise<DeployCommand | null> {
    try {
      return JSON.parse(await readFile(this.#path(commandId), 'utf8')) as DeployCommand; // written by `write`
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }

  async remove(commandId: string): Promise<void> {
    await rm(this.#path(commandId), { force: true });
  }

  #path(commandId: string): string {
    return join(this.#folder, fileName(commandId));
  }
}

/** An id may contain any printable character, even a slash. */
function fileName(commandId: string): string {
  return `${createHash('sha256').update(commandId).digest('hex')}.json`;
}
