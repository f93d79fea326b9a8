import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { runSvc, type RunningPlatform } from '../system/running-platform.ts';
import { startEngine } from './engine.ts';
import { createReplicas } from './replicas.ts';

const password = 'correct horse battery staple';

/** Signs in as the owner, and returns the token. */
async function signIn({ ready }: RunningPlatform): Promise<string> {
  const response = await fetch(`${ready.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@localhost', password }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { access_token: string }).access_token; // the documented answer
}

async function statusWith({ ready }: RunningPlatform, token: string): Promise<number> {
  const response = await fetch(`${ready.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  await response.body?.cancel();
  return response.status;
}

async function publishedKeys({ ready }: RunningPlatform): Promise<string[]> {
  const response = await fetch(`${ready.url}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: { kid: string }[] }; // RFC 7517
  return keys.map(({ kid }) => kid).toSorted();
}

describeRequiring(['postgres'], 'two replicas without a shared folder', () => {
  it('accept each other’s tokens, also after a rotation, and have one local authority', async () => {
    await using engine = await startEngine();
    await using replicas = await createReplicas('["object-store"]');
    const environment = { ...engine.environment, SVC_OWNER_PASSWORD: password };
    const first = await replicas.start({ name: 'first', environment });
    const second = await replicas.start({ name: 'second', environment });
    const token = await signIn(first);
    expect(await statusWith(second, token)).toBe(200);
    const authority = (name: string) => readFile(join(replicas.dataFolder(name), 'tls', 'ca.crt'), 'utf8');
    expect(await authority('second')).toBe(await authority('first'));

    const before = await publishedKeys(second);
    const rotated = await runSvc(['admin', 'rotate-keys', '--no-wait', '--data', replicas.dataFolder('first')], {
      SVC_DATABASE_URL: replicas.databaseUrl,
      SVC_MASTER_KEY: replicas.masterKey,
      SVC_SERVICES: 'object-store',
      ...engine.environment,
    });
    expect(rotated.exitCode).toBe(0);
    await waitFor(async () => (await publishedKeys(second)).length === before.length + 1);
    expect(await statusWith(first, await signIn(second))).toBe(200);
    expect(await statusWith(second, token)).toBe(200);
  });
});
