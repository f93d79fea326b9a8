import { setTimeout as delay } from 'node:timers/promises';
import { Refused } from './platform-api.ts';
import type { CommandRecord, LogRecord } from './records.ts';
import { NAMESPACE, WORKER, type World } from './world.ts';

const OBJECT_PREFIX = 'deployed-';
const LABEL = 'svc.dev/project';
/** Timing out sooner than this is a finding; later, it means that the machine was overloaded. */
export const COMMAND_SECONDS = 120;
/** Keeps the agent below its limit of 1000 messages a minute: more would only measure that limit. */
const COMMAND_PAUSE_MS = 1000;
const POD_PAUSE_MS = 600;

export interface Workload {
  readonly commands: CommandRecord[];
  readonly logs: LogRecord[];
  /** Commands submitted and not known to be done. */
  inFlight(): number;
  /** Resolves when everything has stopped after the signal. */
  readonly done: Promise<unknown>;
}

/** Runs deploys, commands, a followed log and short-lived pods, all at once, until the signal aborts. */
export function startWorkload(world: World, round: string, random: () => number, signal: AbortSignal): Workload {
  const commands: CommandRecord[] = [];
  const logs: LogRecord[] = [];
  const some = (index: number): number => Math.floor(random() * index);
  const work = [
    ...['a', 'b', 'c'].flatMap((worker) => [
      every(COMMAND_PAUSE_MS, some, signal, (index) => {
        return submitDeploy(world, commands, `${OBJECT_PREFIX}${round}-${worker}-${index}`, signal);
      }),
      every(COMMAND_PAUSE_MS, some, signal, (index) =>
        submitExec(world, commands, `line-${round}-${worker}-${index}`, signal),
      ),
    ]),
    every(POD_PAUSE_MS, some, signal, (index) => podComesAndGoes(world, `event-${round}-${index}`)),
    followLogs(world, logs, signal),
  ];
  const done = Promise.all(work);
  done.catch(() => undefined); // awaited at the end of the round, which reports why
  const inFlight = (): number => commands.filter(({ answered }) => !answered).length;
  return { commands, logs, inFlight, done };
}

export function isDeployed(name: string): boolean {
  return name.startsWith(OBJECT_PREFIX);
}

/** The manifest of the object that this deploy creates. */
export function manifestOf(name: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { of: name } });
}

/** A pod that is never scheduled: only the API server knows it. */
export function idlePod(name: string, labels: Record<string, string> = { [LABEL]: 'events' }) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels },
    spec: {
      schedulerName: 'nobody',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'none:1' }],
    },
  };
}

async function every(
  pauseMs: number,
  some: (index: number) => number,
  signal: AbortSignal,
  act: (index: number) => Promise<void>,
): Promise<void> {
  for (let index = 0; !signal.aborted; index += 1) {
    await act(index);
    await delay(pauseMs / 2 + some(pauseMs));
  }
}

async function submitDeploy(world: World, commands: CommandRecord[], name: string, signal: AbortSignal): Promise<void> {
  const manifest = manifestOf(name);
  const body = { project_id: name, namespace: NAMESPACE, manifest, wait: false, timeout_seconds: COMMAND_SECONDS };
  await submit(world, commands, { kind: 'deploy', name }, body, signal);
}

async function submitExec(world: World, commands: CommandRecord[], name: string, signal: AbortSignal): Promise<void> {
  const command = ['sh', '-c', `echo ${name} >> /tmp/journal; sleep 0.2`];
  const body = { pod: WORKER, namespace: NAMESPACE, command, timeout_seconds: COMMAND_SECONDS };
  await submit(world, commands, { kind: 'exec', name }, body, signal);
}

async function submit(
  { api }: World,
  commands: CommandRecord[],
  what: Pick<CommandRecord, 'kind' | 'name'>,
  body: object,
  signal: AbortSignal,
): Promise<void> {
  const record: CommandRecord = { ...what, submittedAtMs: Date.now(), answered: false, id: null, seen: null };
  commands.push(record);
  record.id = await api.submit(what.kind, body, `chaos-${what.name}`, signal);
  record.answered = true;
}

async function podComesAndGoes({ client }: World, name: string): Promise<void> {
  const pod = idlePod(name);
  await client.create(pod);
  await delay(300);
  await client.delete({ apiVersion: 'v1', kind: 'Pod', namespace: NAMESPACE, name });
}

async function followLogs({ api }: World, logs: LogRecord[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const record: LogRecord = { numbers: [], remarks: [] };
    try {
      const body = await api.logs(WORKER, NAMESPACE, signal);
      logs.push(record);
      await readNumbers(body, record);
    } catch (error) {
      // The platform was killed or has no agent at the moment: the next attempt is another log.
      if (error instanceof Refused && error.status < 500 && error.status !== 429) throw error;
    }
    if (!signal.aborted) await delay(200);
  }
}

async function readNumbers(body: ReadableStream<Uint8Array>, { numbers, remarks }: LogRecord): Promise<void> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const number = /^n-(\d+)$/.exec(line)?.[1];
      if (number === undefined) remarks.push(line);
      else numbers.push(Number(number));
    }
  }
}
