import { once } from 'node:events';
import { connect } from 'node:http2';
import { createClientOfRequest, createListener } from '@svc/http';
import { selfSignedCertificate } from '@svc/testing';
import { expect, it } from 'vitest';
import { clusterErrors } from '../../errors.ts';
import { TunnelFront, type TunnelFrontOptions } from './tunnel-front.ts';

it('lets only authorized callers be silent: a refusal that is not read ends with its stream', async () => {
  const options = {
    access: { authorize: () => Promise.reject(clusterErrors.UNAUTHORIZED()) },
    clientOf: createClientOfRequest(),
    domain: 'localhost',
    isBehindTls: () => false,
    onError: () => undefined,
  };
  const front = new TunnelFront(options as unknown as TunnelFrontOptions); // has what a refusal needs
  const listener = createListener({
    handler: (request, response) => void front.handle(request, response),
    http2: true,
    tls: await selfSignedCertificate(),
    limits: { idleTimeoutMs: 100 },
  });
  const port = await listener.listen(0, '127.0.0.1');
  const client = connect(`https://localhost:${port}`, {
    host: '127.0.0.1',
    rejectUnauthorized: false,
    settings: { initialWindowSize: 0 },
  });
  await once(client, 'remoteSettings');
  const stream = client.request({ ':path': '/v1/clusters/cls-0123456789ab/tunnel/web/x' });
  stream.on('error', () => undefined).resume();
  const closed = new Promise((resolve) => void stream.once('close', resolve));
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 401 });
  await closed;
  expect(stream.rstCode).not.toBe(0);
  client.destroy();
  await listener.close(0);
});
