import type { SandboxRecord } from './api.ts';
import { ask, is, mayBe, pathOf, pick, type Client } from './client.ts';
import { VOLUME_FOLDER } from './file-operations.ts';
import { anySource, type Source } from './sources.ts';
import { freeVolume } from './volume-operations.ts';
import { stateOf, type KnownSandbox, type Wish } from './journal.ts';

const DEFAULTS = { cpu: 1, memory_mb: 128, disk_mb: 64, pids: 64 };
const OTHERS = [
  { ...DEFAULTS, memory_mb: 96 },
  { ...DEFAULTS, pids: 40, cpu: 0.5 },
  { ...DEFAULTS, disk_mb: 80 },
];
const WAIT = 'wait_ms=30000';

/** Resources of a sandbox whose request specifies none; the campaign's configuration uses the same. */
export { DEFAULTS as DEFAULT_RESOURCES };

export async function create(client: Client): Promise<boolean> {
  return (await createFrom(client, anySource(client))) !== null;
}

/** Creates a sandbox with default limits, like a warm one, or with others that require an adjustment. */
export async function createFrom(client: Client, source: Source): Promise<KnownSandbox | null> {
  const { random, journal, name } = client;
  const label = `${name}-${journal.nextNumber()}`;
  const other = random() < 0.5 ? pick(random, OTHERS) : undefined;
  const egressAllow = client.lacks?.has('egress_allow') !== true && random() < 0.15 ? ['example.com'] : null;
  const network = egressAllow !== null || random() < 0.6 ? 'egress' : 'none';
  const limits = other ?? DEFAULTS;
  const resources = { ...limits, disk_mb: source.diskMb ?? limits.disk_mb };
  const wish: Wish = { name: random() < 0.5 ? label : null, network, egressAllow, resources };
  const volume = random() < 0.5 ? (freeVolume(client) ?? null) : null;
  const known = journal.beginSandbox(label, wish, source.files, volume);
  client.sandboxes.push(known);
  const json = {
    ...source.fields,
    ...(wish.name === null ? {} : { name: wish.name }),
    ...(egressAllow === null ? {} : { egress_allow: egressAllow }),
    ...(volume === null ? {} : { volumes: [{ name: volume.name, path: VOLUME_FOLDER }] }),
    labels: { campaign: label },
    network,
    resources,
  };
  const { answer, isGood } = await ask(client, null, 'POST', `/api/containers?${WAIT}`, { json });
  if (!isGood) return null;
  noteMade(client, known, answer.body as unknown as SandboxRecord); // as the API documents it
  return known;
}

/** Records the result of a start; a failure without a kill that explains it is wrong. */
export function noteMade({ journal }: Client, known: KnownSandbox, record: SandboxRecord): void {
  journal.made(known, record.id);
  const state = stateOf(record);
  if (state === 'error' && !known.isDoubtful) {
    journal.wrong(`sandbox ${known.label} (${record.id}) could not be started: ${JSON.stringify(record.error)}`);
  }
  if (state !== null) is(known, state);
}

export async function remove(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  sandbox.existence = 'open';
  const { isGood } = await ask(client, sandbox, 'DELETE', pathOf(sandbox));
  sandbox.existence = isGood ? 'gone' : 'open';
  return isGood;
}

export async function stop(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  mayBe(sandbox, 'stopped');
  const { isGood } = await ask(client, sandbox, 'POST', pathOf(sandbox, '/stop'));
  if (isGood) is(sandbox, 'stopped');
  return isGood;
}

/** Starts a sandbox in any state; a paused one is resumed. */
export async function start(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  mayBe(sandbox, 'running');
  const { answer, isGood } = await ask(client, sandbox, 'POST', pathOf(sandbox, `/start?${WAIT}`));
  if (isGood) noteMade(client, sandbox, answer.body as unknown as SandboxRecord); // as above
  return isGood;
}

export async function pause(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  mayBe(sandbox, 'paused');
  const { isGood } = await ask(client, sandbox, 'POST', pathOf(sandbox, '/pause'));
  if (isGood) is(sandbox, 'paused');
  return isGood;
}
