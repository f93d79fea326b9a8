import { randomBytes } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, namesIn } from './files.ts';
import { isTokenAlive, ownToken } from './process-token.ts';

/** Owner token of a file that any process may take. */
const NO_OWNER = '0.0';
const KEPT_MS = 24 * 3_600_000;

/**
 * Downloads that are in progress or were interrupted: `partial/<digest>.<owner>.<random>`. A file belongs to a single
 * process. Taking over a file of an ended process is a rename, which only one process can win.
 */
export class PartialFiles {
  readonly #folder: string;
  readonly #nowMs: () => number;

  constructor(folder: string, nowMs: () => number) {
    this.#folder = join(folder, 'partial');
    this.#nowMs = nowMs;
  }

  /** Returns a file for the digest owned by this process, including the data of an earlier try. */
  async take(digest: string): Promise<string> {
    const prefix = `${digest.replace(':', '-')}.`;
    const own = join(this.#folder, `${prefix}${ownToken()}.${randomBytes(4).toString('hex')}`);
    for (const name of await namesIn(this.#folder)) {
      if (name.startsWith(prefix) && !isOwned(name) && (await taken(join(this.#folder, name), own))) return own;
    }
    return own;
  }

  /** Releases the file for the next try. */
  async leave(file: string): Promise<void> {
    await taken(file, file.replace(`.${ownToken()}.`, `.${NO_OWNER}.`));
  }

  /** Removes abandoned files. */
  async sweep(): Promise<void> {
    for (const name of await namesIn(this.#folder)) {
      if (isOwned(name)) continue;
      const file = join(this.#folder, name);
      const found = await stat(file).catch(() => null); // taken meanwhile, so not ours to remove
      if (found !== null && found.mtimeMs < this.#nowMs() - KEPT_MS) await rm(file, { force: true });
    }
  }
}

function isOwned(name: string): boolean {
  const [, pid = '', start = ''] = name.split('.');
  return isTokenAlive(`${pid}.${start}`);
}

async function taken(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
