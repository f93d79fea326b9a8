import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGo, GO_BUILD_FLAGS } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';

export interface BuiltProbe {
  readonly file: string;
  remove(): Promise<void>;
}

/** Builds the probe as a static program that runs both on this host and in any sandbox. */
export async function buildProbe(): Promise<BuiltProbe> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-probe-'));
  const file = join(folder, 'probe');
  const go = findGo() ?? 'go';
  await runCommand(go, ['build', ...GO_BUILD_FLAGS, '-ldflags=-s -w', '-o', file, '.'], {
    cwd: join(import.meta.dirname, 'probe'),
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' },
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
