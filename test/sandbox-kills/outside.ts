import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPlatform } from '../system/running-platform.ts';
import { archiveOf, furtherImages, makeArchives } from './further-images.ts';
import { clearTraces, runOnOwnGround } from './ground.ts';
import { DEFAULT_RESOURCES } from './lifecycle-operations.ts';

export interface Wanted {
  readonly kills: number;
  readonly seed: number;
  readonly controls: boolean;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** Uses no image registry, and no limits other than the machine's own. */
const UNLIMITED = { sandbox_cpus: 'unlimited', sandbox_memory: 'unlimited', sandbox_disk: 'unlimited' };
const CONFIGURATION = {
  services: ['sandboxes'],
  quotas: { workspace: UNLIMITED, owner: UNLIMITED },
  sandboxes: {
    image_registry: '',
    resources: DEFAULT_RESOURCES,
    max_per_caller: 10_000,
    max_snapshots_per_caller: 10_000,
    max_creates_per_minute: 1_000_000,
    warm_pool: [{ image: 'busybox', min: 1, max: 3 }],
  },
};

function configurationWith(folder: string, images: readonly string[]): unknown {
  const further = images.map((name) => ({ name, sources: [{ kind: 'rootfs_tar', path: archiveOf(folder, name) }] }));
  return { ...CONFIGURATION, sandboxes: { ...CONFIGURATION.sandboxes, images: further } };
}

export function dataFolderOf(folder: string): string {
  return join(folder, 'data');
}

export function configFileOf(folder: string): string {
  return join(folder, 'svc.yaml');
}

/** The file that records the platform's run folder, for the cleanup. */
export function runFolderFileOf(folder: string): string {
  return join(folder, 'run-folder');
}

/** Prepares a folder, runs the campaign in its own namespaces, and leaves nothing behind. Returns its exit code. */
export async function runOutside(wanted: Wanted & { readonly stop: AbortSignal }): Promise<number> {
  const { folder, say, stop } = wanted;
  const images = wanted.controls ? [] : furtherImages(wanted.kills);
  writeFileSync(configFileOf(folder), JSON.stringify(configurationWith(folder, images))); // JSON is YAML
  const dataFolder = dataFolderOf(folder);
  mkdirSync(dataFolder, { mode: 0o700 });
  // Install missing programs and create the data while there is still a network.
  await using first = await startPlatform({ dataFolder, flags: ['--config', configFileOf(folder)] });
  await makeArchives(folder, dataFolder, images);
  await first.stop();
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const flags = ['--inside', folder, '--kills', String(wanted.kills), '--seed', String(wanted.seed)];
  const argv = [process.execPath, main, ...flags, ...(wanted.controls ? ['--controls'] : [])];
  const exitCode = await runOnOwnGround({
    folder,
    argv,
    onLine: say,
    onComplaint: (text) => say(text.trimEnd()),
    stop,
  });
  const runFolder = existsSync(runFolderFileOf(folder)) ? readFileSync(runFolderFileOf(folder), 'utf8') : '';
  const traces = runFolder === '' ? [] : clearTraces(runFolder);
  // A failed campaign always leaves traces, so they are not reported; its namespaces are gone with all their
  // contents.
  if (exitCode === 0 && traces.length > 0) say(`left outside: ${traces.join(', ')}`);
  return exitCode === 0 && traces.length > 0 ? 1 : (exitCode ?? 1);
}
