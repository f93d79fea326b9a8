import { describeRequiring, selfSignedCertificate } from '@svc/testing';
import { expect, it } from 'vitest';
import { descendants } from '../system/process-facts.ts';
import { AcmeSession, getOverTls } from './client.ts';
import { startAcme } from './start.ts';

describeRequiring(['linux', 'command:pebble'], 'the local ACME server', () => {
  it('accepts an account and an order over TLS with its own authority, and stops', async () => {
    const acme = await startAcme();
    try {
      const other = await selfSignedCertificate();
      await expect(getOverTls(acme.directoryUrl, other.cert)).rejects.toThrow(/certificate/);
      const directory = JSON.parse((await getOverTls(acme.directoryUrl, acme.ca)).body) as Record<string, string>; // RFC 8555, 7.1.1
      const session = await AcmeSession.open(acme.ca, directory['newNonce'] ?? '');

      const account = await session.post(directory['newAccount'] ?? '', { termsOfServiceAgreed: true });
      expect(account.status).toBe(201);
      expect(JSON.parse(account.body)).toMatchObject({ status: 'valid' });
      session.useAccount(String(account.headers['location']));

      const identifiers = [{ type: 'dns', value: 'files.example.com' }];
      const order = await session.post(directory['newOrder'] ?? '', { identifiers });
      expect(order.status).toBe(201);
      expect(JSON.parse(order.body)).toMatchObject({ status: 'pending', identifiers });

      const root = await getOverTls(acme.rootUrl, acme.ca);
      expect(root.body).toMatch(/^-----BEGIN CERTIFICATE-----/);
    } finally {
      await acme.stop();
    }
    await expect(getOverTls(acme.directoryUrl, acme.ca)).rejects.toThrow('ECONNREFUSED');
    expect([...descendants(process.pid).values()].filter((line) => line.includes('pebble'))).toEqual([]);
  });
});
