/**
 * `node bench/object-client/main.ts [--clients svc,aws,rclone] [--rounds 5] [--large-mib 512] [--files 1000]`: compares
 * the CLI with other clients against one store in the same run. Prints every round, then a table.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { apiClient } from '@svc/test/api-client';
import { runProgram } from '@svc/test/run-program';
import { startPlatform } from '@svc/test/running-platform';
import { markdownTable } from '../markdown-table.ts';
import { createClient } from './clients.ts';
import { makeSources } from './measures.ts';
import { runRounds, type Timing } from './run-rounds.ts';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: 'svc,aws,rclone' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    'large-mib': { type: 'string', default: '512' },
    files: { type: 'string', default: '1000' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const loadBefore = loadavg().map((each) => each.toFixed(2));
const root = await mkdtemp(join(values.folder, 'svc-bench-'));
try {
  process.stdout.write(`${await measure(root)}\n`);
} finally {
  await rm(root, { recursive: true, force: true });
}

async function measure(folder: string): Promise<string> {
  const largeMib = Number(values['large-mib']);
  const files = Number(values.files);
  const sources = await makeSources(folder, { largeMib, files });
  const [home, targets] = [join(folder, 'home'), join(folder, 'targets')];
  await mkdir(home);
  await mkdir(targets);
  await using platform = await startPlatform({
    dataFolder: join(folder, 'data'),
    environment: { SVC_SERVICES: 'object-store', SVC_LOG_LEVEL: 'warn' },
  });
  const { ready } = platform;
  const api = apiClient(ready);
  const store = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const names = values.clients.split(',');
  for (const name of names) await api.post(`${store}/buckets`, { name: bucketOf(name) });
  const { data } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string } }>(`${store}/keys`, {});
  const access = { ...data, endpoint: ready.s3_endpoint, url: ready.url, token: ready.token, home };
  const clients = names.map((name) => createClient(name, access));
  const versions: string[] = [];
  for (const client of clients) {
    const { program, args, environment } = client.version();
    const [line = ''] = (await runProgram(program, args, { environment })).split('\n');
    versions.push(`${client.name}: ${line}`);
  }
  const timings = await runRounds({
    clients,
    sources,
    folder: targets,
    rounds: Number(values.rounds),
    bucketOf,
    only: values.only,
    say,
  });
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; load before: ${loadBefore.join(', ')}`;
  const sizes = `large: ${largeMib} MiB; small: ${files} files of 4 KiB; median of ${values.rounds} rounds, in milliseconds`;
  return [machine, versions.join('; '), sizes, '', tableOf(names, timings)].join('\n');
}

function bucketOf(client: string): string {
  return `bench-${client}`;
}

/** Renders the timings. A ratio above 1.0 means that the others take longer. */
function tableOf(names: readonly string[], timings: readonly Timing[]): string {
  const others = names.filter((name) => name !== 'svc');
  const rows = timings.map(({ measure: name, medians }) => {
    const ours = medians.get('svc');
    const ratios = others.map((other) =>
      ours === undefined ? '' : ((medians.get(other) ?? Number.NaN) / ours).toFixed(2),
    );
    return [name, ...names.map((each) => (medians.get(each) ?? Number.NaN).toFixed(0)), ...ratios];
  });
  return markdownTable(['measure', ...names, ...others.map((other) => `${other} / svc`)], rows);
}
