import { execFileSync } from 'node:child_process';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { describeRequiring, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { startTestAgent, TestPlatform, type TestAgent } from '../../support/index.ts';
import { channelUrl } from '../../../src/channel/dial.ts';

describe('the channel URL', () => {
  it.each([
    ['https://platform.example', 'wss://platform.example/v1/agent/connect'],
    ['https://platform.example:8443/base/', 'wss://platform.example:8443/base/v1/agent/connect'],
    ['http://127.0.0.1:4000', 'ws://127.0.0.1:4000/v1/agent/connect'],
  ])('%s -> %s', (apiUrl, expected) => {
    expect(channelUrl(apiUrl, '/v1/agent/connect').href).toBe(expected);
  });
});

describe('an HTTP proxy', () => {
  it("opens a tunnel with the proxy's credentials, which are never logged", async () => {
    const platform = await TestPlatform.start();
    const asked: { target: string | undefined; credentials: string | undefined }[] = [];
    const proxy: HttpServer = createServer();
    proxy.on('connect', (request, socket, head) => {
      asked.push({ target: request.url, credentials: request.headers['proxy-authorization'] });
      const [host = '', port = ''] = (request.url ?? '').split(':');
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const test = await startTestAgent({
      platformUrl: platform.url,
      environment: { HTTPS_PROXY: `http://user:pass%20word@127.0.0.1:${port}`, NO_PROXY: 'elsewhere.example' },
    });
    await platform.waitForMessage('heartbeat');
    expect(asked[0]).toEqual({
      target: new URL(platform.url).host,
      credentials: `Basic ${Buffer.from('user:pass word').toString('base64')}`,
    });
    expect(await (await test.get('/config')).text()).not.toContain('pass%20word');
    await test.stop();
    await platform.close();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  it('may tunnel to a platform that never completes the handshake: the attempt times out and is retried', async () => {
    const tunnels: Duplex[] = [];
    const proxy: HttpServer = createServer();
    proxy.on('connect', (_request, socket) => {
      tunnels.push(socket);
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const test = await startTestAgent({
      platformUrl: 'https://platform.example',
      environment: {
        HTTPS_PROXY: `http://127.0.0.1:${port}`,
        SVC_TIMEOUT: '100ms',
        SVC_RECONNECT_INTERVAL: '50ms',
        SVC_RECONNECT_MAX_INTERVAL: '100ms',
      },
    });
    await waitFor(() => tunnels.length >= 2);
    expect(test.logLines.join('')).toContain('"kind":"timeout"');
    await test.stop();
    for (const each of tunnels) each.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  });
});

describeRequiring(['command:openssl'], 'TLS on the way', () => {
  let folder: TemporaryFolder;
  let server: Server;
  let test: TestAgent | undefined;

  beforeEach(async () => {
    folder = await temporaryFolder();
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', join(folder.path, 'key.pem'), '-out', join(folder.path, 'cert.pem')];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...key, ...subject, ...files], { stdio: 'ignore' });
    server = createTlsServer({
      key: readFileSync(join(folder.path, 'key.pem')),
      cert: readFileSync(join(folder.path, 'cert.pem')),
    });
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => socket.on('message', () => undefined));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await test?.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await folder.remove();
  });

  it("is refused if the platform's certificate is untrusted, and the reason is logged", async () => {
    const { port } = server.address() as AddressInfo;
    const environment = { TUNNEL_ENABLED: 'true' };
    test = await startTestAgent({ platformUrl: `https://127.0.0.1:${port}`, environment });
    const { get, logLines: lines } = test;
    await waitFor(() => lines.some((line) => line.includes('"kind":"tls"') && line.includes('self-signed')));
    await waitFor(() => lines.some((line) => line.includes('no tunnel to the platform')));
    const metrics = await (await get('/metrics')).text(); // both connections count it with its real cause
    expect(metrics).toMatch(/^svc_api_errors_total\{type="connection"\} 0$/m);
    expect(metrics).toMatch(/^svc_api_errors_total\{type="tls"\} [1-9]/m);
  });

  it('is accepted with the configured CA', async () => {
    const { port } = server.address() as AddressInfo;
    const environment = { SVC_TLS_CA_CERT: join(folder.path, 'cert.pem') };
    test = await startTestAgent({ platformUrl: `https://127.0.0.1:${port}`, environment });
    const { get } = test;
    await waitFor(async () => (await (await get('/livez')).text()).includes('"state":"connected"'));
  });
});
