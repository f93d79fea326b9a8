import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../kubernetes/commands.ts';
import type { Outcome } from './outcome.ts';

const SECRET = 'a-secret-of-this-host';

/** A file of this host that everybody here can read, and no sandbox. */
export async function withSecret(body: (path: string, secret: string) => Promise<Outcome>): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-secret-'));
  try {
    await runCommand('chmod', ['755', folder]);
    const path = join(folder, 'secret');
    await writeFile(path, SECRET, { mode: 0o644 });
    return await body(path, SECRET);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
