import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder extends AsyncDisposable {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Removes the folder and its contents; further calls have no effect. */
  remove(): Promise<void>;
}

/** Creates a temporary folder: `await using folder = await temporaryFolder()`, or call `remove()` in `afterEach`. */
export async function temporaryFolder(prefix = 'svc-test-'): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  return { path, remove, [Symbol.asyncDispose]: remove };
}
