/**
 * `node bench/images/main.ts [--rounds 3] [--folders A,B]`: time from a registry to an unpacked image, compared to
 * skopeo with umoci and to Docker on the same machine in the same run. Rounds are interleaved; prints the median.
 */
import { execFile, type ExecFileOptions } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { temporaryFolder } from '@svc/testing';
import { startDocker } from './docker-daemon.ts';
import { pushImage } from './push-image.ts';
import { startRegistry } from './registry.ts';

const run = promisify(execFile);
const PROJECT_ROOT = join(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { rounds: { type: 'string' }, folders: { type: 'string' } } });
const rounds = Number(values.rounds ?? 3);
const folders = (values.folders ?? '/usr/lib/python3.11,/usr/lib/git-core,/usr/share/perl').split(',');
const options: ExecFileOptions = { maxBuffer: 64 * 1024 * 1024 };

await using folder = await temporaryFolder('svc-bench-images-');
await using registry = await startRegistry(join(folder.path, 'registry'));
const { compressedBytes, unpackedBytes, files } = await pushImage(`http://${registry.host}`, 'bench', folders);
await using docker = await startDocker(join(folder.path, 'docker'));
const work = join(folder.path, 'work');
const configuration = join(folder.path, 'config.yaml');
const reference = `${registry.host}/bench:latest`;
await writeFile(
  configuration,
  `sandboxes:\n  image_registry: ''\n  images:\n    - name: bench\n      sources: [{ kind: registry, reference: "${reference}" }]\n`,
);

const svc = (...args: string[]) =>
  run(join(PROJECT_ROOT, 'svc'), ['images', ...args, '--data', work, '--config', configuration], options);
const measures: Record<string, { measured(): Promise<unknown>; after?(): Promise<unknown> }> = {
  'svc images pull': {
    async measured() {
      const { stdout } = await svc('pull', 'bench', '--json');
      const [pulled] = JSON.parse(String(stdout)) as { duration_ms: number }[]; // as documented for the command
      add('of that: the pull alone', pulled?.duration_ms ?? 0);
    },
  },
  'svc images ls (what starting it costs)': { measured: () => svc('ls') },
  'skopeo copy + umoci unpack': {
    async measured() {
      const layout = join(work, 'layout');
      await run('skopeo', ['copy', '--src-tls-verify=false', `docker://${reference}`, `oci:${layout}:latest`], options);
      await run('umoci', ['unpack', '--image', `${layout}:latest`, join(work, 'bundle')], options);
      await run('sync', ['-f', work]);
    },
  },
  'docker pull': {
    measured: () => docker.command('pull', '--quiet', reference),
    after: () => docker.command('image', 'rm', '--force', reference),
  },
};

const times = new Map<string, number[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, { measured, after }] of Object.entries(measures)) {
    await rm(work, { recursive: true, force: true });
    await mkdir(work, { recursive: true });
    await run('sync', []);
    const begunMs = performance.now();
    await measured();
    add(name, performance.now() - begunMs);
    await after?.();
  }
}
console.log(
  `${folders.length} layers, ${mib(compressedBytes)} MiB gzip, ${mib(unpackedBytes)} MiB in ${files} files, ${rounds} rounds`,
);
for (const [name, figures] of times) {
  const medianMs = figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0;
  console.log(
    `${name.padEnd(44)} ${(medianMs / 1000).toFixed(2).padStart(8)} s ${figures.map((each) => (each / 1000).toFixed(2)).join(' ')}`,
  );
}

function add(name: string, durationMs: number): void {
  times.set(name, [...(times.get(name) ?? []), durationMs]);
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
