import { ask, pick, type Client } from './client.ts';
import type { KnownVolume } from './journal.ts';

const SIZE_MB = 64;

export async function makeVolume(client: Client): Promise<boolean> {
  const { journal, name } = client;
  const known = journal.beginVolume(`${name}-volume-${journal.nextNumber()}`);
  client.volumes.push(known);
  const json = { name: known.name, size_mb: SIZE_MB };
  const { isGood } = await ask(client, null, 'POST', '/api/volumes', { json });
  if (isGood) known.existence = 'there';
  return isGood;
}

export async function removeVolume(client: Client): Promise<boolean> {
  const known = freeVolume(client);
  if (known === undefined) return false;
  known.existence = 'open';
  const { isGood } = await ask(client, null, 'DELETE', `/api/volumes/${known.name}`);
  if (isGood) known.existence = 'gone';
  return isGood;
}

/** A volume that no sandbox has. */
export function freeVolume({ journal, random, volumes }: Client): KnownVolume | undefined {
  return pick(
    random,
    volumes.filter((each) => journal.isFree(each)),
  );
}
