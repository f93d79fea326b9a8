import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { temporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureLocalCertificate, type AuthorityStore, type TlsMaterial } from './local-authority.ts';

const YEAR_MS = 365 * 24 * 3600_000;

describe('ensureLocalCertificate', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: AuthorityStore;
  beforeEach(async () => {
    folder = await temporaryFolder();
    store = createStore();
  });
  afterEach(() => folder.remove());

  it('makes a certificate that a client with the authority accepts by name and by address', async () => {
    const material = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(), store);
    await expect(handshake(material, 'localhost')).resolves.toBe(true);
    const certificate = new X509Certificate(material.cert);
    expect(certificate.checkHost('localhost')).toBeDefined();
    expect(certificate.subjectAltName).toContain('DNS:*.localhost');
    for (const address of ['127.0.0.1', '::1']) expect(certificate.checkIP(address)).toBeDefined();
  });

  it('is not accepted under another name', async () => {
    const material = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(), store);
    await expect(handshake(material, 'example.org')).rejects.toThrow(/altnames/);
  });

  it('keeps the certificate over starts and keeps every key to its owner', async () => {
    const first = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(), store);
    const second = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(), store);
    expect(second).toEqual(first);
    expect(statSync(join(folder.path, 'server.key')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(folder.path, 'ca.key'))).toBe(false);
  });

  it('renews the certificate under the same authority before it ends', async () => {
    const first = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(), store);
    const later = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(Date.now() + YEAR_MS), store);
    expect(later.ca).toBe(first.ca);
    expect(later.cert).not.toBe(first.cert);
  });

  it('makes a new certificate when the host changes', async () => {
    const first = await ensureLocalCertificate(folder.path, ['127.0.0.1'], new Date(), store);
    const named = await ensureLocalCertificate(folder.path, ['svc.test'], new Date(), store);
    expect(named.cert).not.toBe(first.cert);
    expect(new X509Certificate(named.cert).checkHost('svc.test')).toBe('svc.test');
  });

  it('makes a new certificate, for all names below it, when the domain of previews changes', async () => {
    const first = await ensureLocalCertificate(folder.path, ['127.0.0.1', '*.sandboxes.localhost'], new Date(), store);
    await expect(handshake(first, '8080-sbx.sandboxes.localhost')).resolves.toBe(true);
    await expect(handshake(first, 'x.sandboxes.test')).rejects.toThrow(/altnames/);
    const names = ['127.0.0.1', '*.sandboxes.test'];
    const second = await ensureLocalCertificate(folder.path, names, new Date(), store);
    await expect(handshake(second, 'x.sandboxes.test')).resolves.toBe(true);
    expect(second.ca).toBe(first.ca);
    expect(await ensureLocalCertificate(folder.path, names, new Date(), store)).toEqual(second);
  });
});

it('certifies every replica by one authority', async () => {
  await using one = await temporaryFolder();
  await using two = await temporaryFolder();
  const store = createStore();
  const names = ['127.0.0.1'];
  const first = await ensureLocalCertificate(one.path, names, new Date(), store);
  const other = await ensureLocalCertificate(two.path, names, new Date(), createStore());
  const second = await ensureLocalCertificate(two.path, names, new Date(), store);
  expect(other.ca).not.toBe(first.ca);
  expect(second.ca).toBe(first.ca);
  await expect(handshake({ ...second, ca: first.ca }, 'localhost')).resolves.toBe(true);
});

/** Replicas of one database share it. */
function createStore(): AuthorityStore {
  let kept: Awaited<ReturnType<AuthorityStore['ensure']>> | null = null;
  return {
    ensure: async (create) => {
      kept ??= await create();
      return kept;
    },
  };
}

async function handshake(material: TlsMaterial, servername: string): Promise<boolean> {
  const server = createServer({ key: material.key, cert: material.cert }, (socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo; // a TCP listener's address is never a string
    const client = connect({ port, host: '127.0.0.1', servername, ca: material.ca });
    await once(client, 'secureConnect');
    const { authorized } = client;
    client.destroy();
    return authorized;
  } finally {
    server.close();
  }
}
