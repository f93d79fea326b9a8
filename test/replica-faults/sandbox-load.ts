import { WebSocket } from 'ws';
import { pick } from '../sandbox-kills/client.ts';
import { anyReplica, call, persist, type Answer, type Client } from './client.ts';
import type { KnownSandbox } from './journal.ts';
import type { Replica } from './world.ts';

const MOST_SANDBOXES = 3;
const TERMINAL_LIMIT_MS = 20_000;
const WAIT = 'wait_ms=15000';
/** Each command appends its number here. */
export const LINES_FILE = '/root/lines';

/** Creates, uses, forks and deletes sandboxes of its own until the signal. */
export async function useSandboxes(client: Client, signal: AbortSignal): Promise<void> {
  const own: KnownSandbox[] = client.journal.sandboxes.filter(({ label }) => label.startsWith(`${client.name}-`));
  while (!signal.aborted) await step(client, own);
}

async function step(client: Client, own: KnownSandbox[]): Promise<void> {
  const { random } = client;
  const usable = own.filter(({ existence, id }) => existence === 'there' && id !== null);
  const sandbox = pick(random, usable);
  const draw = random();
  if (sandbox === undefined || (usable.length < MOST_SANDBOXES && draw < 0.1)) {
    await create(client, own);
  } else if (usable.length < MOST_SANDBOXES && draw < 0.16) {
    await fork(client, sandbox, own);
  } else if (draw < 0.22) {
    await remove(client, sandbox);
  } else if (draw < 0.42) {
    await typeLine(client, sandbox);
  } else {
    await runLine(client, sandbox);
  }
}

async function create(client: Client, own: KnownSandbox[]): Promise<void> {
  const { journal, name } = client;
  const label = `${name}-${journal.nextNumber()}`;
  const known = journal.beginSandbox(label);
  own.push(known);
  const json = { image: 'busybox', network: 'none', labels: { campaign: label } };
  const send = (replica: Replica): Promise<Answer | null> =>
    call(replica, 'POST', `/api/sandboxes?${WAIT}`, { json, headers: { 'idempotency-key': label } });
  const answer = await persist(client, send, true);
  if (answer === null || answer.status >= 300) return;
  noteCreated(client, known, answer.body);
}

function noteCreated({ journal }: Client, known: KnownSandbox, body: Answer['body']): void {
  known.id = String(body['id']);
  known.existence = 'there';
  journal.count('sandboxes created');
}

async function fork(client: Client, source: KnownSandbox, own: KnownSandbox[]): Promise<void> {
  const { journal, name } = client;
  const label = `${name}-${journal.nextNumber()}`;
  const known = journal.beginSandbox(label, source.lines);
  own.push(known);
  const send = (replica: Replica): Promise<Answer | null> =>
    call(replica, 'POST', `/api/sandboxes/${source.id}/fork?${WAIT}`, { json: { name: label } });
  const answer = await persist(client, send, false);
  if (answer === null || answer.status >= 300) return revive(client, source, answer);
  const [made] = answer.body['containers'] as Answer['body'][]; // as the API documents it
  if (made !== undefined) noteCreated(client, known, made);
  journal.count('sandboxes forked');
}

async function remove(client: Client, sandbox: KnownSandbox): Promise<void> {
  sandbox.existence = 'open';
  const answer = await persist(client, (replica) => call(replica, 'DELETE', `/api/sandboxes/${sandbox.id}`), true);
  // Repeated after a lost answer, it may have been deleted before.
  if (answer === null || (answer.status >= 300 && answer.status !== 404)) return;
  sandbox.existence = 'gone';
  client.journal.count('sandboxes deleted');
}

async function runLine(client: Client, sandbox: KnownSandbox): Promise<void> {
  const { journal } = client;
  const number = journal.nextNumber();
  sandbox.lines.set(number, 'open');
  const json = { command: `echo ${number} >> ${LINES_FILE}` };
  const send = (replica: Replica): Promise<Answer | null> =>
    call(replica, 'POST', `/api/sandboxes/${sandbox.id}/exec`, { json });
  const answer = await persist(client, send, false);
  if (answer?.status === 200 && answer.body['exit_code'] === 0) {
    sandbox.lines.set(number, 'done');
    journal.count('commands run');
    return;
  }
  if (answer !== null && (answer.status === 503 || answer.status === 409)) sandbox.lines.set(number, 'refused');
  await revive(client, sandbox, answer);
}

/** Starts a sandbox that does not run, as its owner would. */
async function revive(client: Client, sandbox: KnownSandbox, answer: Answer | null): Promise<void> {
  if (answer?.status === 404) client.journal.wrong(`sandbox ${sandbox.label} (${sandbox.id}) was answered with 404`);
  if (answer?.code !== 'SANDBOX_NOT_RUNNING') return;
  await persist(client, (replica) => call(replica, 'POST', `/api/sandboxes/${sandbox.id}/start?${WAIT}`), true);
  client.journal.count('sandboxes started again');
}

/** Types the same command into a terminal. It ran once the shell has printed what it computed. */
async function typeLine(client: Client, sandbox: KnownSandbox): Promise<void> {
  const { journal } = client;
  const number = journal.nextNumber();
  sandbox.lines.set(number, 'open');
  const output = await typed(
    anyReplica(client),
    sandbox,
    `echo ${number} >> ${LINES_FILE} && echo ran $((${number}+0))\n`,
    `ran ${number}`,
  );
  if (output !== 'done') return journal.count(`terminals ${output}`);
  sandbox.lines.set(number, 'done');
  journal.count('terminals used');
}

function typed({ ready }: Replica, { id }: KnownSandbox, input: string, expected: string): Promise<string> {
  if (ready === null) return Promise.resolve('refused');
  const socket = new WebSocket(`${ready.url.replace('http', 'ws')}/ws/terminal/${id}`, {
    headers: { authorization: `Bearer ${ready.token}` },
    handshakeTimeout: TERMINAL_LIMIT_MS,
  });
  return new Promise((resolve) => {
    let output = '';
    let outcome = 'cut';
    const timer = setTimeout(() => end('late'), TERMINAL_LIMIT_MS);
    const end = (how: string): void => {
      outcome = how;
      socket.terminate();
    };
    socket.once('open', () => socket.send(input));
    socket.on('message', (data: Buffer) => {
      output += data.toString('utf8');
      if (output.includes(expected)) end('done');
    });
    socket.on('error', () => undefined);
    socket.once('unexpected-response', (_request, response) => end(`refused with ${response.statusCode ?? 0}`));
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(outcome);
    });
  });
}
