import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeRequiring, selfSignedCertificate, temporaryFolder } from '@svc/testing';
import { createServer as createTlsServer } from 'node:https';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultyProxy } from '../../support/faulty-proxy.ts';
import { imageStoreSubject } from '../../support/image-store-subject.ts';
import { HTPASSWD_LINE, startRegistry, type RegistryServer } from '../../support/registry-server.ts';
import { startTokenService, USER, type TokenService } from '../../support/token-service.ts';
import type { RegistrySettings } from '../../../src/adapters/images/registry/registries.ts';

const layers = [{ entries: [{ name: 'file', content: 'x' }] }, { entries: [{ name: 'other', content: 'y' }] }];

/** Pulls the image into a new store and returns its digest. */
async function pull(reference: string, ...settings: RegistrySettings[]): Promise<string> {
  await using subject = await imageStoreSubject();
  const store = await subject.open({ it: [{ kind: 'registry', reference }] }, { settings });
  try {
    return (await store.prepare('it', AbortSignal.timeout(30_000))).digest.replace('-', ':');
  } finally {
    await store.close();
  }
}

async function listen(server: Server): Promise<{ host: string; close(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP listener's address is never a string
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { host: `127.0.0.1:${port}`, close };
}

describeRequiring(['linux', 'root', 'command:docker-registry'], 'registries that want to know who asks', () => {
  describe('with a user name and a password', () => {
    let registry: RegistryServer;
    let digest: string;
    beforeAll(async () => {
      const authorization = `Basic ${Buffer.from('user:secret').toString('base64')}`;
      registry = await startRegistry({
        auth: '  htpasswd: {realm: test, path: "{folder}/htpasswd"}',
        files: { htpasswd: HTPASSWD_LINE },
        authorization: () => authorization,
      });
      ({ digest } = await registry.push('team/app', 'latest', { layers }));
    });
    afterAll(() => registry.close());

    it('pulls the image with valid credentials', async () => {
      expect(await pull(`${registry.host}/team/app`, { host: registry.host, ...USER })).toBe(digest);
    });

    it('reports missing and wrong credentials without revealing the password', async () => {
      await expect(pull(`${registry.host}/team/app`)).rejects.toThrow(/wants a user name and a password for team\/app/);
      const wrong = { host: registry.host, username: 'user', password: 'not-this-one' };
      const failure = await pull(`${registry.host}/team/app`, wrong).catch(String);
      expect(failure).toMatch(/refuses the user user for team\/app/);
      expect(failure).not.toContain('not-this-one');
    });
  });

  describe('with tokens', () => {
    let tokens: TokenService;
    let registry: RegistryServer;
    let digest: string;
    beforeAll(async () => {
      tokens = await startTokenService();
      registry = await startRegistry({
        auth: tokens.auth,
        files: tokens.files,
        authorization: (repository) => `Bearer ${tokens.tokenFor(repository)}`,
      });
      ({ digest } = await registry.push('team/app', 'latest', { layers }));
      await registry.push('public/app', 'latest', { layers });
    });
    afterAll(async () => {
      await registry?.close();
      await tokens?.close();
    });

    it('pulls public images without credentials', async () => {
      tokens.requests.length = 0;
      expect(await pull(`${registry.host}/public/app`)).toBe(digest);
      // One token for all requests of a pull.
      expect(tokens.requests).toEqual([{ scope: 'repository:public/app:pull', authorization: undefined }]);
    });

    it('pulls private images with credentials', async () => {
      expect(await pull(`${registry.host}/team/app`, { host: registry.host, ...USER })).toBe(digest);
      await expect(pull(`${registry.host}/team/app`)).rejects.toThrow(/wants a user name and a password for team\/app/);
    });

    it('renews a refused token, but not endlessly', async () => {
      tokens.requests.length = 0;
      tokens.setLife(-61); // already expired when issued; the registry tolerates a minute
      await expect(pull(`${registry.host}/public/app`)).rejects.toThrow(/wants a user name/);
      expect(tokens.requests.length).toBeGreaterThan(1);
      tokens.setLife(300);
      expect(await pull(`${registry.host}/public/app`)).toBe(digest);
    });
  });

  it('does not send credentials to the target of a redirect', async () => {
    await using registry = await disposable();
    const seen: (string | undefined)[] = [];
    const elsewhere = await listen(
      createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(307, { location: `http://${registry.host}${request.url ?? ''}` }).end();
      }),
    );
    const proxy = await faultyProxy(registry.host);
    const noise = Buffer.from(Array.from({ length: 9000 }, (_, index) => (index * 7919) % 251));
    await registry.push('app', 'latest', {
      layers: [{ entries: [{ name: 'big', content: noise }], compression: 'none' }],
    });
    proxy.wantBasic();
    proxy.redirectBlobs((path) => `http://${elsewhere.host}${path}`);
    try {
      await pull(`${proxy.host}/app`, { host: proxy.host, ...USER });
      expect(proxy.requests.some(({ authorization }) => authorization !== undefined)).toBe(true);
      expect(seen).toEqual([undefined]);
    } finally {
      await proxy.close();
      await elsewhere.close();
    }
  });

  describe('over TLS', () => {
    it('trusts a registry only by its own certificate, and never falls back to plain HTTP', async () => {
      await using folder = await temporaryFolder('svc-ca-');
      await using registry = await disposable();
      const { key, cert } = await selfSignedCertificate();
      const file = join(folder.path, 'ca.pem');
      await writeFile(file, cert);
      const { digest } = await registry.push('app', 'latest', { layers });
      const tls = await listen(
        createTlsServer({ key, cert }, (request, response) => {
          const forwarded = `http://${registry.host}${request.url ?? ''}`;
          if ((request.url ?? '').includes('/blobs/') && request.url?.includes('down') === true) {
            return void response.writeHead(307, { location: forwarded }).end();
          }
          void fetch(forwarded, { headers: { accept: request.headers.accept ?? '*/*' } }).then(async (answer) => {
            const type = answer.headers.get('content-type') ?? '';
            response.writeHead(answer.status, { 'content-type': type });
            response.end(Buffer.from(await answer.arrayBuffer()));
          });
        }),
      );
      await registry.push('down', 'latest', { layers });
      try {
        const settings = { host: tls.host, plain_http: false, ca_file: file };
        expect(await pull(`${tls.host}/app`, settings)).toBe(digest);
        await expect(pull(`${tls.host}/app`, { ...settings, ca_file: undefined })).rejects.toThrow(/cannot be reached/);
        await expect(pull(`${tls.host}/down`, settings)).rejects.toThrow(/redirects to an address without TLS/);
      } finally {
        await tls.close();
      }
    });

    it('pulls from a mirror instead of the registry', async () => {
      await using registry = await disposable();
      const { digest } = await registry.push('library/alpine', '3', { layers });
      expect(await pull('docker.io/library/alpine:3', { host: 'docker.io', mirror: registry.host })).toBe(digest);
    });
  });
});

async function disposable(): Promise<RegistryServer & AsyncDisposable> {
  const registry = await startRegistry();
  return { ...registry, [Symbol.asyncDispose]: () => registry.close() };
}
