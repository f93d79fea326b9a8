import { randomBytes } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, namesIn } from './files.ts';
import { isTokenAlive, ownToken } from './process-token.ts';

/** Nobody's: whoever needs it may take it. */
const NOBODY = '0.0';
const KEPT_MS = 24 * 3_600_000;

/**
 * Downloads that are under way or were cut short: `partial/<digest>.<owner>.<random>`. A file belongs to one process
 * alone; taking over one of a process that has ended is a rename, which only one can win.
 */
export class PartialFiles {
  readonly #folder: string;
  readonly #nowMs: () => number;

  constructor(folder: string, nowMs: () => number) {
    this.#folder = join(folder, 'partial');
    this.#nowMs = nowMs;
  }

  /** A file of our own for the digest, with what an earlier try left in it. */
  async take(digest: string): Promise<string> {
    const prefix = `${digest.replace(':', '-')}.`;
    const own = join(this.#folder, `${prefix}${ownToken()}.${randomBytes(4).toString('hex')}`);
    for (const name of await namesIn(this.#folder)) {
      if (name.startsWith(prefix) && !isOwned(name) && (await taken(join(this.#folder, name), own))) return own;
    }
    return own;
  }

  /** Leaves what is there to whoever tries next. */
  async leave(file: string): Promise<void> {
    await taken(file, file.replace(`.${ownToken()}.`, `.${NOBODY}.`));
  }

  /** Removes what nobody came back for. */
  async sweep(): Promise<void> {
    for (const name of await namesIn(this.#folder)) {
      if (isOwned(name)) continue;
      const file = join(this.#folder, name);
      const found = await stat(file).catch(() => null); // taken meanwhile: then it is not ours to remove
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
