import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Removes the folder and all that is in it; a second call does nothing. */
  remove(): Promise<void>;
}

/** `await using folder = await temporaryFolder()`, or `remove()` in `afterEach`. */
export async function temporaryFolder(prefix = 'svc-test-'): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  return { path, remove, [Symbol.asyncDispose]: remove };
}
