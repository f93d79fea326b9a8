import type { SandboxRecord, SnapshotRecord } from './api.ts';
import { ask, pathOf, pick, type Client } from './client.ts';
import type { KnownSandbox } from './journal.ts';
import { noteMade } from './lifecycle-operations.ts';

export async function snapshot(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  const { journal, name } = client;
  const known = journal.beginSnapshot(`${name}-snapshot-${journal.nextNumber()}`, sandbox);
  client.snapshots.push(known);
  const { answer, isGood } = await ask(client, sandbox, 'POST', pathOf(sandbox, '/snapshots'), {
    json: { name: known.name },
  });
  if (!isGood) return false;
  known.id = (answer.body as unknown as SnapshotRecord).id; // as the API documents it
  known.existence = 'there';
  return true;
}

export async function removeSnapshot(client: Client): Promise<boolean> {
  const known = pick(
    client.random,
    client.snapshots.filter(({ existence }) => existence === 'there'),
  );
  if (known === undefined) return false;
  known.existence = 'open';
  const { isGood } = await ask(client, null, 'DELETE', `/api/snapshots/${known.id}`);
  if (isGood) known.existence = 'gone';
  return isGood;
}

export async function fork(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  const { journal, name } = client;
  const label = `${name}-fork-${journal.nextNumber()}`;
  const known = journal.beginSandbox(label, { ...sandbox.wish, name: label }, sandbox.files);
  client.sandboxes.push(known);
  const path = pathOf(sandbox, '/fork?wait_ms=30000');
  const { answer, isGood } = await ask(client, sandbox, 'POST', path, { json: { name: label, count: 1 } });
  if (!isGood) return false;
  const [made] = answer.body['containers'] as readonly SandboxRecord[]; // as the API documents it
  if (made === undefined) throw new Error('a fork made nothing');
  noteMade(client, known, made);
  return true;
}
