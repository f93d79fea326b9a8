/**
 * `node bench/mounts/main.ts [--rounds 3] [--mib 64] [--keys 0]`: a bucket mounted in a sandbox against the same bucket mounted
 * by s3fs on the host, through the same platform. Files to read were uploaded over S3, so no mount has them in memory.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { apiClient, type ApiClient } from '@svc/test/api-client';
import { startPlatform, type ReadyLine } from '@svc/test/running-platform';
import { markdownTable } from '../markdown-table.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    mib: { type: 'string', default: '64' },
    keys: { type: 'string', default: '0' },
  },
});
const [ROUNDS, MIB, KEYS] = [Number(values.rounds), Number(values.mib), Number(values.keys)];
const BUCKET = 'bench';
const UPLOADS_AT_ONCE = 64;
const run = promisify(execFile);

/** Runs a shell command beside a mount, and tells how long it took. */
type Shell = (command: string) => Promise<number>;

const folder = await mkdtemp(join(tmpdir(), 'svc-bench-mounts-'));
try {
  await using platform = await startPlatform({
    dataFolder: join(folder, 'data'),
    environment: { SVC_SERVICES: 'object-store,sandboxes', SVC_LOG_LEVEL: 'warn', SVC_SANDBOXES_IMAGE_REGISTRY: '' },
  });
  process.stdout.write(`${await measureAll(platform.ready)}\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureAll(ready: ReadyLine): Promise<string> {
  const load = loadavg().map((each) => each.toFixed(2));
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; load before: ${load.join(', ')}`;
  const api = apiClient(ready);
  const store = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${store}/buckets`, { name: BUCKET });
  const { data: key } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string } }>(`${store}/keys`, {});
  const credentials = { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey };
  const s3 = new S3Client({ endpoint: ready.s3_endpoint, region: 'auto', forcePathStyle: true, credentials });
  const mounts = join(folder, 's3fs');
  await mountS3fs(mounts, ready.s3_endpoint, `${key.accessKeyId}:${key.secretAccessKey}`);
  const sandbox = await createSandbox(api);
  try {
    const peers = { svc: inSandbox(api, sandbox), s3fs: onHost(mounts) };
    const rows = await measureTransfers(s3, peers);
    if (KEYS > 0) rows.push(...(await measureListing(s3, peers)));
    const table = markdownTable(['', 'svc', 's3fs', 'times s3fs'], rows);
    return `${machine}; best of ${ROUNDS} rounds of ${MIB} MiB\n\n${table}`;
  } finally {
    s3.destroy();
    await run('umount', [mounts]);
    await api.delete(`/api/sandboxes/${sandbox}`);
  }
}

async function measureTransfers(s3: S3Client, peers: Record<'svc' | 's3fs', Shell>): Promise<string[][]> {
  const best = { svc: { read: Infinity, write: Infinity }, s3fs: { read: Infinity, write: Infinity } };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of ['svc', 's3fs'] as const) {
      const shell = peers[name];
      const file = `${name}-${round}`;
      await s3.send(
        new PutObjectCommand({ Bucket: BUCKET, Key: `read-${file}`, Body: randomBytes(MIB * 1024 * 1024) }),
      );
      const read = await shell(`dd if=read-${file} of=/dev/null bs=1M`);
      const write = await shell(`dd if=/dev/zero of=write-${file} bs=1M count=${MIB}`);
      best[name] = { read: Math.min(best[name].read, read), write: Math.min(best[name].write, write) };
    }
  }
  return (['read', 'write'] as const).map((kind) => {
    const [ours, theirs] = [best.svc[kind], best.s3fs[kind]];
    return [`sequential ${kind}`, rate(ours), rate(theirs), `${(theirs / ours).toFixed(1)}x`];
  });
}

async function measureListing(s3: S3Client, peers: Record<'svc' | 's3fs', Shell>): Promise<string[][]> {
  for (let at = 0; at < KEYS; at += UPLOADS_AT_ONCE) {
    const names = Array.from({ length: Math.min(UPLOADS_AT_ONCE, KEYS - at) }, (_, index) => `many/${at + index}`);
    await Promise.all(names.map((Key) => s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }))));
  }
  const rows: string[][] = [];
  for (const [what, command] of [
    [`first names of ${KEYS}`, 'test $(find many | head -n 3 | wc -l) = 3'],
    [`all names of ${KEYS}`, `test $(find many | wc -l) = ${KEYS + 1}`],
    [`all attributes of ${KEYS}`, `test $(ls -ln many | tail -n +2 | wc -l) = ${KEYS}`],
  ] as const) {
    const [ours, theirs] = [await peers.svc(command), await peers.s3fs(command)];
    rows.push([what, `${ours.toFixed(0)} ms`, `${theirs.toFixed(0)} ms`, `${(theirs / ours).toFixed(1)}x`]);
  }
  return rows;
}

function rate(ms: number): string {
  return `${(MIB / (ms / 1000)).toFixed(0)} MiB/s`;
}

async function createSandbox(api: ApiClient): Promise<string> {
  const body = { image: 'busybox', resources: { disk_mb: 4096 }, mounts: [{ bucket: BUCKET, path: '/data' }] };
  const { id } = await api.post<{ id: string }>('/api/sandboxes?wait_ms=30000', body);
  await api.get(`/api/sandboxes/${id}?wait_for=running&timeout=60`);
  return id;
}

/** Includes the request, in the peer's favour. */
function inSandbox(api: ApiClient, id: string): Shell {
  return (command) =>
    timed(async () => {
      const done = await api.post<{ exit_code: number }>(`/api/sandboxes/${id}/exec`, {
        command: `cd /data && ${command}`,
      });
      if (done.exit_code !== 0) throw new Error(`${command} failed in the sandbox`);
    });
}

function onHost(cwd: string): Shell {
  return (command) => timed(() => run('sh', ['-c', command], { cwd }));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function mountS3fs(mounts: string, url: string, secret: string): Promise<void> {
  const passwords = join(folder, 's3fs-password');
  await writeFile(passwords, secret, { mode: 0o600 });
  await mkdir(mounts);
  const options = `passwd_file=${passwords},url=${url},use_path_request_style`;
  await run('s3fs', [BUCKET, mounts, '-o', options]);
}
