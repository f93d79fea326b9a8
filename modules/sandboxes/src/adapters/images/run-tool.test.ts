import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirement, skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runTool, ToolFailure } from './run-tool.ts';

const reason = requirement('command:setsid');
const title = 'a program of the distribution';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const run = (script: string, signal = new AbortController().signal): Promise<string> =>
    runTool('/bin/sh', ['-c', script], { signal });

  it('returns its output, or fails with the end of its error output', async () => {
    expect(await run('echo one; echo two >&2')).toBe('one\n');
    const failure: unknown = await run('echo wrong; echo no such thing >&2; exit 3').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(String(failure)).toContain('no such thing');
  });

  it('ends on abort, even if a process outside its group keeps the output open', async () => {
    const pidFile = join(folder.path, 'pid');
    const stop = new AbortController();
    const ended = run(`setsid sh -c 'echo $$ > ${pidFile}; exec sleep 600' & wait`, stop.signal).catch(
      (error: unknown) => error,
    );
    await waitFor(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
    try {
      stop.abort(new Error('enough'));
      expect(await ended).toEqual(new Error('enough'));
    } finally {
      process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    }
  });
});
