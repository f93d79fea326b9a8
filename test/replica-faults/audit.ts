import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { sql } from 'kysely';
import { namesIn } from '../sandbox-kills/ground.ts';
import { processes } from '../sandbox-kills/machine.ts';
import { pick } from '../sandbox-kills/client.ts';
import type { AgentLoad } from './agent-load.ts';
import { call } from './client.ts';
import type { Journal, KnownSandbox, SandboxFacts } from './journal.ts';
import { LINES_FILE } from './sandbox-load.ts';
import type { Store } from './store-load.ts';
import { complaintsOf, type Replica, type World } from './world.ts';

/** Time to settle; anything still wrong afterwards is a finding. */
const REST_LIMIT_MS = 90_000;
const LOOK_EVERY_MS = 500;
const READS_AT_ONCE = 8;
/** Objects that are read again although they have not changed since the last audit. */
const UNCHANGED_OBJECTS_READ = 20;

export interface Audited {
  readonly world: World;
  readonly journal: Journal;
  readonly store: Store;
  readonly agent: AgentLoad;
  readonly random: () => number;
}

interface Row extends SandboxFacts {
  readonly node: string;
  readonly status: string;
  readonly reason: string | null;
  readonly isRemoved: boolean;
}

/** Reports what is wrong once no request is pending and every fault is healed. */
export async function audit(audited: Audited, restLimitMs = REST_LIMIT_MS): Promise<string[]> {
  const { world, journal, agent } = audited;
  const ended = world.ended.map((replica) => `${replica.name} ended by itself: ${complaintsOf(replica).at(-1) ?? ''}`);
  if (ended.length > 0) return ended;
  await world.untilReady();
  const deadline = performance.now() + restLimitMs;
  let findings = await compareSandboxes(world);
  while (findings.length > 0 && performance.now() < deadline) {
    await delay(LOOK_EVERY_MS);
    findings = await compareSandboxes(world);
  }
  const rows = await readRows(world);
  return [
    ...journal.findings.splice(0),
    ...findings,
    ...journal.judgeSandboxes(rows.filter(({ isRemoved }) => !isRemoved)),
    ...(await compareLists(world, rows)),
    ...(await compareLines(audited, rows, restLimitMs)),
    ...(await compareObjects(audited, restLimitMs)),
    ...(await agent.audit(restLimitMs)),
    ...deadlocksIn(world),
  ];
}

function deadlocksIn({ database }: World): string[] {
  const count = database.newDeadlocks();
  return count === 0 ? [] : [`PostgreSQL broke ${count} deadlocks`];
}

async function readRows({ database }: World): Promise<Row[]> {
  return database.query(async ({ kysely }) => {
    const { rows } = await sql<{
      id: string;
      name: string;
      label: string | null;
      node: string;
      status: string;
      state_reason: string | null;
      removed_at: string | null;
    }>`select s.id, s.name, l.value as label, s.node, s.status, s.state_reason, s.removed_at
       from sandbox s left join sandbox_label l on l.sandbox_id = s.id and l.key = 'campaign' order by s.id`.execute(
      kysely,
    );
    return rows.map(({ id, name, label, node, status, state_reason: reason, removed_at: removedAt }) => {
      // A fork has a name of ours, and the label of its source.
      return {
        id,
        label: label === null || name.startsWith('boxes-') ? name : label,
        node,
        status,
        reason,
        isRemoved: removedAt !== null,
      };
    });
  });
}

/** Compares the records of sandboxes with what each machine has. */
async function compareSandboxes(world: World): Promise<string[]> {
  const rows = await readRows(world);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const live = new Set(processes().flatMap(({ sandboxId }) => sandboxId ?? []));
  const disks = world.replicas.map((replica) => ({ replica, ids: disksOf(replica) }));
  const places = new Map<string, Replica[]>();
  for (const { replica, ids } of disks) for (const id of ids) places.set(id, [...(places.get(id) ?? []), replica]);
  const findings: string[] = [];
  for (const [id, machines] of places) {
    const row = byId.get(id);
    const names = machines.map(({ name }) => name).join(' and ');
    if (row === undefined) findings.push(`sandbox ${id} is on the machine of ${names}, without a record`);
    else if (machines.length > 1) findings.push(`sandbox ${id} is doubled: on the machines of ${names}`);
    else if (machines[0]?.nodeId !== row.node)
      findings.push(`sandbox ${id} is on ${names}, its record says ${row.node}`);
  }
  for (const id of live) if (!byId.has(id)) findings.push(`sandbox ${id} has processes, but no record`);
  for (const { id, status, reason, isRemoved } of rows) {
    const subject = `sandbox ${id} (${status}${reason === null ? '' : `, ${reason}`})`;
    if (isRemoved) findings.push(`${subject} was deleted and its record is left over`);
    else if (status === 'creating') findings.push(`${subject} is stuck`);
    else if (status === 'running' && !live.has(id)) findings.push(`${subject} has no processes`);
    else if (status !== 'running' && live.has(id)) findings.push(`${subject} has processes`);
    else if (status !== 'error' && !places.has(id)) findings.push(`${subject} is on no machine`);
  }
  return findings;
}

function disksOf({ dataFolder }: Replica): string[] {
  return namesIn(join(dataFolder, 'sandboxes', 'disks')).filter((name) => name.startsWith('sbx_'));
}

/** Every replica lists the same sandboxes in the same states. */
async function compareLists({ replicas }: World, rows: readonly Row[]): Promise<string[]> {
  const expected = rows.filter(({ isRemoved }) => !isRemoved).map(({ id, status }) => `${id} ${status}`);
  const findings: string[] = [];
  for (const replica of replicas) {
    const answer = await call(replica, 'GET', '/api/sandboxes?page_size=200');
    const list = (answer?.body['containers'] ?? []) as readonly { id: string; status: string }[]; // as the API documents it
    const seen = list.map(({ id, status }) => `${id} ${status}`);
    const differing = [
      ...expected.filter((each) => !seen.includes(each)),
      ...seen.filter((each) => !expected.includes(each)),
    ];
    if (differing.length > 0)
      findings.push(`${replica.name} lists other sandboxes than the records: ${differing.join(', ')}`);
  }
  return findings;
}

/** Reads what commands appended, each sandbox through another replica. */
async function compareLines(audited: Audited, rows: readonly Row[], limitMs: number): Promise<string[]> {
  const { world, journal } = audited;
  const findings: string[] = [];
  for (const [index, known] of journal.sandboxes.entries()) {
    const row = rows.find(({ id }) => id === known.id);
    const replica = world.replicas[index % world.replicas.length];
    if (row?.status !== 'running' || replica === undefined) continue;
    // A replica may remember for a moment where the sandbox was.
    const options = { timeoutMs: limitMs, intervalMs: LOOK_EVERY_MS };
    const text = await waitFor(() => readLines(replica, known), options).catch(() => null);
    if (text === null) findings.push(`${replica.name} does not return the lines of ${known.id}`);
    else findings.push(...journal.judgeLines(known, text));
  }
  return findings;
}

async function readLines(replica: Replica, { id }: KnownSandbox): Promise<string | null> {
  const json = { command: `cat ${LINES_FILE} 2>/dev/null || true` };
  const answer = await call(replica, 'POST', `/api/sandboxes/${id}/exec`, { json });
  const output = answer?.body['stdout'];
  return typeof output === 'string' ? output : null;
}

/** Every replica lists the objects that clients know, and those that changed have the right bytes at each of them. */
async function compareObjects({ world, journal, store, random }: Audited, limitMs: number): Promise<string[]> {
  const findings: string[] = [];
  const unchanged = [...journal.objects].filter(([, { isFresh }]) => !isFresh).map(([key]) => key);
  const read = new Set([...journal.objects].filter(([, { isFresh }]) => isFresh).map(([key]) => key));
  for (let left = UNCHANGED_OBJECTS_READ; left > 0; left -= 1) read.add(pick(random, unchanged) ?? '');
  read.delete('');
  const listed = new Set<string>();
  for (const replica of world.replicas) {
    const sizes = await patiently(limitMs, () => store.list(replica));
    for (const key of sizes.keys()) listed.add(key);
    for (const [key, { possible }] of journal.objects) {
      const size = sizes.get(key);
      const isPossible = possible.some((content) => content?.sizeBytes === size);
      if (isPossible) continue;
      findings.push(`${replica.name} lists object ${key} with ${size ?? 'no'} bytes`);
      read.add(key);
    }
  }
  for (const key of listed) if (!journal.objects.has(key)) read.add(key);
  const queue = [...read];
  const readSome = async (): Promise<void> => {
    for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
      findings.push(...journal.judgeObject(key, await patiently(limitMs, () => readEverywhere(world, store, key))));
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readSome));
  return findings;
}

function readEverywhere({ replicas }: World, store: Store, key: string): Promise<(Buffer | null)[]> {
  return Promise.all(replicas.map((replica) => store.read(replica, key)));
}

/** A busy machine may not answer in time; what fails until the limit is a finding. */
async function patiently<Value>(limitMs: number, read: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
      await delay(LOOK_EVERY_MS);
    }
  }
}
