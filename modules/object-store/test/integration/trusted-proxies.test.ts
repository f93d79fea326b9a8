import { randomUUID } from 'node:crypto';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { sendRaw, signed } from '../support/raw-request.ts';
import { startStore } from '../support/running-store.ts';

const POLICY = JSON.stringify({
  Statement: [
    {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: 'arn:aws:s3:::alpha/*',
      Condition: { IpAddress: { 'aws:SourceIp': '203.0.113.0/24' } },
    },
    {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObjectTagging',
      Resource: 'arn:aws:s3:::alpha/*',
      Condition: { Bool: { 'aws:SecureTransport': 'true' } },
    },
  ],
});

/** Statuses for an anonymous reader that claims a source address and TLS. */
async function read(trustedProxies: readonly string[]): Promise<{ byAddress: number; byTransport: number }> {
  const folder = await temporaryFolder();
  const store = await startStore(folder.path, { trustedProxies });
  try {
    const key = await store.createKey({ workspaceUuid: randomUUID() });
    const { host } = new URL(store.endpoint);
    await sendRaw(store.endpoint, signed({ method: 'PUT', target: '/alpha' }, { key, host }));
    await sendRaw(store.endpoint, signed({ method: 'PUT', target: '/alpha/object', body: 'x' }, { key, host }));
    await sendRaw(store.endpoint, signed({ method: 'PUT', target: '/alpha?policy', body: POLICY }, { key, host }));
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    const byAddress = await sendRaw(store.endpoint, { target: '/alpha/object', headers });
    const byTransport = await sendRaw(store.endpoint, { target: '/alpha/object?tagging', headers });
    return { byAddress: byAddress.status, byTransport: byTransport.status };
  } finally {
    await store.close();
    await folder.remove();
  }
}

describe('a policy on the source of a request', () => {
  it('sees the client behind a trusted proxy', async () => {
    expect(await read(['127.0.0.1'])).toEqual({ byAddress: 200, byTransport: 200 });
  });

  it('ignores headers forwarded by anyone else', async () => {
    expect(await read([])).toEqual({ byAddress: 403, byTransport: 403 });
  });
});
