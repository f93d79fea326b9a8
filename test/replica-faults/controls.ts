import { mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { sql } from 'kysely';
import { controllerMounts } from '../sandbox-kills/ground.ts';
import { PARENT_GROUP } from '../sandbox-kills/machine.ts';
import type { Audited } from './audit.ts';
import type { Campaign } from './campaign.ts';
import { call } from './client.ts';
import type { KnownObject, KnownSandbox } from './journal.ts';
import { LINES_FILE } from './sandbox-load.ts';
import type { Replica, World } from './world.ts';

/** What the faults are planted in. */
interface Subject extends Audited {
  readonly key: string;
  readonly bytes: Buffer;
  /** Of a running sandbox, with a line of a command. */
  readonly id: string;
  readonly known: KnownSandbox;
  readonly line: number;
  /** The replica whose machine it is on, and another one. */
  readonly holder: Replica;
  readonly other: Replica;
}

interface Control {
  readonly name: string;
  /** What the auditor must report. */
  readonly expected: readonly RegExp[];
  /** Returns the function that removes the fault. */
  readonly plant: (subject: Subject) => Promise<() => Promise<unknown> | void>;
}

const PLANTED = 'sbx_planted';
const REFUSED_LIMIT_MS = 15_000;

/** Every fault that the auditor must find, each planted on purpose. */
export const CONTROLS: readonly Control[] = [
  {
    name: 'a lost object',
    expected: [/object \S+ is none and none and none, expected \d+ bytes/, /lists object \S+ with no bytes/],
    plant: async ({ store, other, key, bytes }) => {
      await store.remove(other, key);
      return () => store.put(other, key, bytes);
    },
  },
  {
    name: 'an object with other bytes',
    expected: [/object \S+ is \d+ bytes of "x+" and .*, expected \d+ bytes/],
    plant: async ({ store, journal, other, key, bytes }) => {
      await store.put(other, key, Buffer.alloc(bytes.length, 'x'));
      Object.assign(journal.objects.get(key) ?? {}, { isFresh: true }); // of the others, some are read
      return () => store.put(other, key, bytes);
    },
  },
  {
    name: 'an object that was deleted',
    expected: [/object planted is there, though no client wrote it/],
    plant: async ({ store, other }) => {
      await store.put(other, 'planted', Buffer.from('x'));
      return () => store.remove(other, 'planted');
    },
  },
  {
    name: 'a replica that has nothing',
    expected: [
      / lists object \S+ with no bytes/,
      / lists other sandboxes than the records/,
      /object \S+ is .*none/,
      /the tunnel does not answer at \w+/,
    ],
    plant: async ({ other }) => {
      const { ready } = other;
      const server = createServer((request, response) => {
        const isList = request.url?.includes('list-type=2') === true;
        if (request.url?.startsWith('/api/') === true) response.setHeader('content-type', 'application/json').end('{}');
        else if (isList) response.end('<ListBucketResult></ListBucketResult>');
        else response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has no other address
      if (ready !== null) other.ready = { ...ready, url, s3_endpoint: url };
      return () => {
        other.ready = ready;
        server.close();
        server.closeAllConnections();
      };
    },
  },
  {
    name: 'a lost sandbox',
    expected: [/sandbox boxes-\S+ \(sbx_\w+\) is lost/],
    plant: async ({ known }) => {
      const { id } = known;
      known.id = 'sbx_another';
      return () => {
        known.id = id;
      };
    },
  },
  {
    name: 'a sandbox that was deleted',
    expected: [/sandbox boxes-\S+ \(sbx_\w+\) was deleted and is there/],
    plant: async ({ known }) => {
      known.existence = 'gone';
      return () => undefined;
    },
  },
  {
    name: 'a sandbox that was created twice',
    expected: [/sandbox boxes-\S+ \(sbx_\w+\) was created 2 times/],
    plant: async ({ other, known }) => {
      const json = { image: 'busybox', network: 'none', labels: { campaign: known.label } };
      const { body } = await answered(other, 'POST', '/api/sandboxes?wait_ms=30000', json);
      return () => answered(other, 'DELETE', `/api/sandboxes/${String(body['id'])}`);
    },
  },
  {
    name: 'a sandbox on two machines',
    expected: [/sandbox sbx_\w+ is doubled: on the machines of \w+ and \w+/],
    plant: async ({ other, id }) => folder(join(disksOf(other), id)),
  },
  {
    name: 'a sandbox on a machine without a record',
    expected: [/sandbox sbx_planted is on the machine of \w+, without a record/],
    plant: async ({ other }) => folder(join(disksOf(other), PLANTED)),
  },
  {
    name: 'processes of a sandbox without a record',
    expected: [/sandbox sbx_planted has processes, but no record/],
    plant: async () => {
      const groups = controllerMounts().map((point) => join(point, PARENT_GROUP, PLANTED));
      const child = spawn('sleep', ['1000']);
      await once(child, 'spawn');
      for (const group of groups) mkdirSync(group);
      for (const group of groups) writeFileSync(join(group, 'cgroup.procs'), String(child.pid));
      return async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
        for (const group of groups) rmdirSync(group);
      };
    },
  },
  {
    name: 'a sandbox whose disk is gone',
    expected: [/sandbox sbx_\w+ \(running\) is on no machine/],
    plant: async ({ holder, id }) => {
      const away = join(holder.dataFolder, 'planted');
      renameSync(join(disksOf(holder), id), away);
      return () => renameSync(away, join(disksOf(holder), id));
    },
  },
  record('a sandbox that another machine claims', /sandbox sbx_\w+ is on \w+, its record says elsewhere/, {
    node: 'elsewhere',
  }),
  record('a sandbox that is being created for ever', /sandbox sbx_\w+ \(creating\) is stuck/, { status: 'creating' }),
  record('a stopped sandbox that runs', /sandbox sbx_\w+ \(stopped\) has processes/, { status: 'stopped' }),
  record('a deleted sandbox whose record stays', /was deleted and its record is left over/, {
    node: 'elsewhere',
    removed_at: '2026-01-01T00:00:00.000Z',
  }),
  {
    name: 'a running sandbox without processes',
    expected: [/sandbox sbx_\w+ \(running[^)]*\) has no processes/],
    plant: async (subject) => {
      await answered(subject.other, 'POST', `/api/sandboxes/${subject.id}/stop`);
      await setColumns(subject, { status: 'running' });
      return async () => {
        await setColumns(subject, { status: 'stopped' });
        await answered(subject.other, 'POST', `/api/sandboxes/${subject.id}/start?wait_ms=30000`);
      };
    },
  },
  {
    name: 'a command that ran twice',
    expected: [/command \d+ of sandbox \S+ \(sbx_\w+\) ran 2 times/],
    plant: async ({ other, id, line }) => {
      await run(other, id, `echo ${line} >> ${LINES_FILE}`);
      return () => run(other, id, `sed -i '$d' ${LINES_FILE}`);
    },
  },
  {
    name: 'a lost command',
    expected: [/command \d+ of sandbox \S+ \(sbx_\w+\) was answered and is lost/],
    plant: async ({ other, id, line, known }) => {
      await run(other, id, `sed -i '/^${line}$/d' ${LINES_FILE}`);
      return () => void known.lines.delete(line);
    },
  },
  {
    name: 'a refused command that ran',
    expected: [/command \d+ of sandbox \S+ \(sbx_\w+\) was refused and ran/],
    plant: async ({ known, line }) => {
      known.lines.set(line, 'refused');
      return () => void known.lines.set(line, 'done');
    },
  },
  {
    name: 'requests through a tunnel that arrived twice, never, or though they were refused',
    expected: [
      /tunnel request -1 arrived 2 times/,
      /request -2 was answered and did not/,
      /request -3 was refused and/,
    ],
    plant: async ({ agent }) => {
      agent.plant();
      return () => undefined;
    },
  },
  {
    name: 'an agent that needed many attempts to connect to another replica',
    expected: [/the agent needed 4 attempts to connect to another replica/],
    plant: async ({ agent }) => agent.plantTakeover(),
  },
  {
    name: 'a deadlock in the database',
    expected: [/PostgreSQL broke \d+ deadlocks/],
    plant: async ({ world }) => {
      await Promise.allSettled([lockBoth(world, [1, 2]), lockBoth(world, [2, 1])]);
      return () => undefined;
    },
  },
  {
    name: 'a replica that ended by itself',
    expected: [/\w+ ended by itself/],
    plant: async ({ world, other }) => {
      process.kill(other.platform?.ready.pid ?? -1, 'SIGKILL');
      await waitFor(() => world.ended.length > 0, { description: 'the end of the replica' });
      return async () => {
        await world.kill(other);
        await world.start(other);
      };
    },
  },
];

/** Plants every fault in turn and returns those that the auditor misses. */
export async function proveControls(campaign: Campaign, say: (line: string) => void): Promise<string[]> {
  const missed: string[] = [];
  for (const { name, expected, plant } of CONTROLS) {
    const subject = await prepare(campaign);
    const clean = await campaign.audit();
    if (clean.length > 0) return [`before the control "${name}": ${clean.join('; ')}`];
    const undo = await plant(subject);
    const findings = await campaign.audit(0);
    await undo();
    const isFound = expected.every((each) => findings.some((finding) => each.test(finding)));
    say(`control ${name}: ${isFound ? 'found' : 'MISSED'}: ${findings.slice(0, 3).join('; ')}`);
    if (!isFound) missed.push(`${name} was not found; the auditor said: ${findings.join('; ') || 'nothing'}`);
  }
  return missed;
}

/** An object and a sandbox of its own for the next control. */
async function prepare(campaign: Campaign): Promise<Subject> {
  const { audited, journal, world } = campaign;
  const [first, second, third] = world.replicas;
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are too few replicas');
  const content = { number: journal.nextNumber(), sizeBytes: 1_000 };
  const key = `control/${content.number}`;
  const object: KnownObject = journal.beginObject(key, content);
  await audited.store.put(first, key, journal.bytesOf(content));
  object.possible = [content];
  const known =
    journal.sandboxes.find(({ label }) => label === 'boxes-control') ?? (await createSandbox(campaign, second));
  const line = journal.nextNumber();
  const id = known.id ?? '';
  await run(first, id, `echo ${line} >> ${LINES_FILE}`);
  known.lines.set(line, 'done');
  return { ...audited, key, bytes: journal.bytesOf(content), known, id, line, holder: second, other: third };
}

async function createSandbox({ journal }: Campaign, holder: Replica): Promise<KnownSandbox> {
  const label = 'boxes-control';
  const known = journal.beginSandbox(label);
  const json = { image: 'busybox', network: 'none', labels: { campaign: label } };
  const { body } = await answered(holder, 'POST', '/api/sandboxes?wait_ms=30000', json);
  known.id = String(body['id']);
  known.existence = 'there';
  return known;
}

/** Repeats what is refused with 503 for a moment, as clients do: replicas remember owners, also a planted one. */
async function answered(replica: Replica, method: string, path: string, json?: unknown) {
  const deadline = performance.now() + REFUSED_LIMIT_MS;
  let answer = await call(replica, method, path, json === undefined ? {} : { json });
  while (answer?.status === 503 && performance.now() < deadline) {
    await delay(1_000);
    answer = await call(replica, method, path, json === undefined ? {} : { json });
  }
  if (answer === null || answer.status >= 300)
    throw new Error(`${method} ${path} answered ${answer?.status ?? 'nothing'}`);
  return answer;
}

function run(replica: Replica, id: string, command: string): Promise<unknown> {
  return answered(replica, 'POST', `/api/sandboxes/${id}/exec`, { command });
}

function disksOf({ dataFolder }: Replica): string {
  return join(dataFolder, 'sandboxes', 'disks');
}

function folder(path: string): () => void {
  mkdirSync(path, { recursive: true });
  return () => rmdirSync(path);
}

/** A transaction that waits after the first lock until another one has the second. */
function lockBoth({ database }: World, [first, second]: readonly [number, number]): Promise<unknown> {
  return database.query(({ kysely }) =>
    kysely.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${first})`.execute(transaction);
      await delay(1_000);
      await sql`select pg_advisory_xact_lock(${second})`.execute(transaction);
    }),
  );
}

type Columns = Readonly<Partial<Record<'node' | 'status' | 'removed_at', string | null>>>;

/** A fault in the record of the sandbox. */
function record(name: string, expected: RegExp, columns: Columns): Control {
  return {
    name,
    expected: [expected],
    plant: async (subject) => {
      await setColumns(subject, columns);
      return async () => {
        const { journal, known, holder } = subject;
        await setColumns(subject, { node: holder.nodeId, status: 'running', removed_at: null });
        known.existence = 'there';
        if (!journal.sandboxes.includes(known)) journal.sandboxes.push(known); // the auditor took it for lost
      };
    },
  };
}

async function setColumns({ world, id }: Subject, columns: Columns): Promise<void> {
  const changes = Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  await world.database.query(({ kysely }) =>
    sql`update sandbox set ${sql.join(changes)} where id = ${id}`.execute(kysely),
  );
}
