import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '@svc/test/commands';
import { PROJECT_ROOT, startPlatform } from '@svc/test/running-platform';
import { waitFor } from '@svc/testing';
import type { Subject } from './subject.ts';
import { closed, svcClient, untilPrompt, type SvcClient } from './svc-client.ts';

export interface SvcSubject extends Subject {
  readonly pid: number;
  readonly client: SvcClient;
  /** Creates a running sandbox, from the subject's image by default; `settle` removes it. */
  make(image?: string): Promise<string>;
}

export interface SvcOptions {
  readonly folder: string;
  readonly imageCache: string;
  readonly image: string;
  /** Number of prestarted sandboxes; 0 for none. */
  readonly pool: number;
  /** Further images to build before the platform starts, since some take minutes. */
  readonly prepare?: readonly string[];
  /** Path of `runsc` for sandboxes behind gVisor; if absent, they share the kernel. */
  readonly runsc?: string;
  /** Where sandboxes are pods; if absent, this machine runs them. */
  readonly cluster?: BenchCluster;
}

export interface BenchCluster {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** References of images that the node has. */
  readonly image: string;
  readonly helperImage: string;
}

const READY_MS = 300_000;

/** Starts `svc up` with only sandboxes. Caller limits are lifted, since there is only one caller. */
export async function startSvc(options: SvcOptions): Promise<SvcSubject> {
  const { folder, image, pool, prepare = [] } = options;
  await mkdir(folder, { recursive: true });
  const configuration = join(folder, 'config.yaml');
  await writeFile(configuration, configurationOf(options));
  const dataFolder = join(folder, 'data');
  if (prepare.length > 0) {
    const command = ['images', 'pull', ...prepare, '--data', dataFolder, '--config', configuration];
    await runCommand(join(PROJECT_ROOT, 'svc'), command);
  }
  const platform = await startPlatform({
    dataFolder,
    flags: ['--config', configuration],
    environment: { SVC_SERVICES: 'sandboxes', SVC_LOG_LEVEL: 'warn' },
  });
  const client = svcClient(platform.ready.url, platform.ready.token);
  const made: string[] = [];
  const make = async (named = image): Promise<string> => {
    const { status, body } = await client.call('POST', '/api/sandboxes?wait_ms=30000', { image: named });
    const { id, status: state } = JSON.parse(body.toString()) as { id: string; status: string }; // the contract's shape
    if (status !== 201 || state !== 'running') throw new Error(`create answered ${status}: ${body.toString()}`);
    made.push(id);
    return id;
  };
  const settle = async (): Promise<void> => {
    for (const id of made.splice(0)) await client.call('DELETE', `/api/sandboxes/${id}`);
    if (pool > 0) await waitFor(() => warmOf(client, pool), { timeoutMs: READY_MS, description: 'a filled pool' });
  };
  const stop = async (): Promise<void> => {
    await settle().catch(() => undefined); // the measurement reports earlier failures
    client.close();
    await platform.stop();
  };
  try {
    await make(); // the first use prepares the image
    await settle();
  } catch (error) {
    await stop();
    throw new Error(`svc did not make a sandbox: ${platform.log()}`, { cause: error });
  }
  return {
    name: `svc${kindOf(options)}, ${pool > 0 ? `${pool} warm` : 'cold'}`,
    pid: platform.ready.pid,
    client,
    make,
    settle,
    stop,
    async create() {
      const begunMs = performance.now();
      const id = await make();
      const runningMs = performance.now() - begunMs;
      const socket = client.open(id);
      await untilPrompt(socket);
      const promptMs = performance.now() - begunMs;
      await closed(socket);
      return { runningMs, promptMs };
    },
  };
}

async function warmOf(client: SvcClient, pool: number): Promise<boolean> {
  const { body } = await client.call('GET', '/metrics');
  return new RegExp(`^svc_sandbox_pool_ready\\{[^}]*\\} ${pool}$`, 'm').test(body.toString());
}

/** Quotas to lift, so that only the machine limits the measurement. */
const QUOTAS_TAKEN = ['sandbox_cpus', 'sandbox_memory', 'sandbox_disk', 'terminals'];

function kindOf({ runsc, cluster }: SvcOptions): string {
  if (cluster !== undefined) return ' with pods';
  return runsc === undefined ? '' : ' with gVisor';
}

function podsOf({ kubeconfig, namespace, image, helperImage }: BenchCluster, name: string): object {
  return {
    driver: 'kubernetes',
    network: 'none',
    images: [{ name, sources: [{ kind: 'registry', reference: image }] }],
    kubernetes: {
      kubeconfig,
      namespace,
      helper_image: helperImage,
      user_namespaces: false,
      network_policies: 'trust', // what enforces them costs a pod the same, whoever creates it
    },
  };
}

function configurationOf({ imageCache, image, pool, runsc, cluster }: SvcOptions): string {
  const sandboxes = {
    image_cache: imageCache,
    image_registry: '',
    ...(cluster === undefined ? {} : podsOf(cluster, image)),
    ...(runsc === undefined ? { isolation: 'namespaces' } : { isolation: 'gvisor', runsc }),
    max_per_caller: 100_000,
    max_creates_per_minute: 1_000_000,
    max_terminals_per_minute: 1_000_000,
    ...(pool === 0 ? {} : { warm_pool: [{ image, min: pool, max: pool }] }),
  };
  const unlimited = Object.fromEntries(QUOTAS_TAKEN.map((name) => [name, 'unlimited']));
  return JSON.stringify({ sandboxes, quotas: { workspace: unlimited, owner: unlimited } }); // JSON is YAML
}
