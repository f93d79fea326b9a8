import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startWebhookReceiver, temporaryFolder, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';

interface Event {
  id: number;
  workspace_uuid: string;
  sandbox_id: string;
  type: string;
}

interface Served {
  url: string;
  headers: Record<string, string>;
}

const PROGRAM = fileURLToPath(new URL('../support/serve-webhooks.ts', import.meta.url));
const ROUNDS = 3;
const SANDBOXES = 5;

async function serve(file: string): Promise<Served & { kill(): Promise<void> }> {
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    exited.then(() => Promise.reject(new Error('the platform ended at its start'))),
  ]);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { ...(JSON.parse(line) as Served), kill }; // printed by the program
}

it(
  'delivers every event of an acknowledged change, in order, although the platform is killed with deliveries under way',
  {
    timeout: 600_000,
  },
  async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'svc.db');
    const receiver = await startWebhookReceiver((body) => JSON.parse(body) as Event);
    const created: string[] = [];
    let platform: Awaited<ReturnType<typeof serve>> | null = null;
    try {
      // Some are refused and some hang, so that the platform dies with deliveries in every state.
      receiver.answer = ({ event }) => (event.id % 3 === 0 ? 503 : event.id % 4 === 1 ? 'hang' : 200);
      for (let round = 0; round < ROUNDS; round += 1) {
        platform = await serve(file);
        const { url, headers } = platform;
        const post = async (path: string, body: object) => {
          const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
          const response = await fetch(`${url}${path}`, { ...init, body: JSON.stringify(body) });
          expect(response.status).toBe(201);
          return (await response.json()) as { id: string };
        };
        await post('/api/webhooks', { url: receiver.url });
        for (let count = 0; count < SANDBOXES; count += 1) {
          created.push((await post('/api/sandboxes?wait_ms=20000', { image: 'busybox' })).id);
        }
        const before = receiver.received.length;
        await waitFor(() => receiver.received.length > before);
        await platform.kill();
      }
      receiver.answer = () => 200;
      platform = await serve(file);
      const of = (id: string): Event[] =>
        receiver.taken.flatMap(({ event }) => (event.sandbox_id === id ? [event] : []));
      const isComplete = (id: string): boolean =>
        ['created', 'running'].every((type) => of(id).some((event) => event.type === type));
      await waitFor(() => created.every(isComplete), { timeoutMs: 300_000 });
      for (const id of created) {
        const first = (type: string): number => of(id).findIndex((event) => event.type === type);
        expect(first('created')).toBeLessThan(first('running'));
      }
      expect(created).toHaveLength(ROUNDS * SANDBOXES);
    } finally {
      await platform?.kill();
      await receiver.close();
    }
  },
);
