import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRunsc } from './find-runsc.ts';

const log = createLogger({ level: 'silent', name: 'test' });

/** test/gvisor covers a working runtime, with the real program. */
describe("gVisor's runtime", () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const program = async (script: string): Promise<string> => {
    const path = join(folder.path, 'runsc');
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  };

  it('is unavailable if the configured path is not a program', async () => {
    const missing = join(folder.path, 'runsc');
    expect(await findRunsc(missing, log)).toEqual({ path: null, fault: 'sandboxes.runsc names no program' });
    await writeFile(missing, '');
    expect(await findRunsc(missing, log)).toEqual({ path: null, fault: 'sandboxes.runsc names no program' });
  });

  it('is not used if its trial run fails; its output goes only to the log', async () => {
    const path = await program('echo "cannot create /secret/place: permission denied" >&2; exit 128');
    const found = await findRunsc(path, log);
    expect(found).toEqual({ path, fault: 'runsc fails its trial run; the log of the platform says more' });
  });

  it('is not used if its trial run times out', async () => {
    const path = await program('exec sleep 600');
    const found = await findRunsc(path, log, { trialLimitMs: 100 });
    expect(found).toMatchObject({ path, fault: expect.stringContaining('did not end its trial run within 0.1 s') });
  });
});
