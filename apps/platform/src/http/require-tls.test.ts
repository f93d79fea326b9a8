import { createListener, type Listener } from '@svc/http';
import { afterEach, describe, expect, it } from 'vitest';
import { hstsSeconds, redirectToTls } from './require-tls.ts';

describe('plain HTTP that only redirects', () => {
  let listener: Listener;
  afterEach(() => listener.close(0));

  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const probes = redirectToTls(
      (_request, response) => void response.end('probe'),
      () => 'https://svc.example:4443',
    );
    listener = createListener({ handler: probes });
    const port = await listener.listen(0, '127.0.0.1');
    return fetch(`http://127.0.0.1:${port}${path}`, { ...init, redirect: 'manual' });
  }

  it.each(['/', '/w/1/buckets?x=1', '//evil.example/x'])('sends the page %s to TLS', async (path) => {
    const answer = await ask(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([307, `https://127.0.0.1:4443${path}`]);
  });

  it.each<[string, RequestInit]>([
    ['a token', { headers: { authorization: 'Bearer x' } }],
    ['a sign-in', { method: 'POST', body: '{}' }],
  ])('refuses %s with the address to use', async (_what, init) => {
    const answer = await ask('/api/auth/login', init);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      code: 'HTTPS_REQUIRED',
      status: 403,
      error: expect.stringContaining('https://svc.example') as string,
      request_id: expect.stringMatching(/^req_/) as string,
    });
  });

  it.each(['/healthz', '/readyz'])('answers the probe %s', async (path) => {
    expect(await (await ask(path)).text()).toBe('probe');
  });
});

describe('hstsSeconds', () => {
  const certificate = { cert_file: 'svc.crt' };
  it('is a year where TLS is all there is, with a certificate of the operator', () => {
    expect(hstsSeconds({ http: 'redirect', tls: certificate })).toBe(31_536_000);
    expect(hstsSeconds({ http: 'off', tls: certificate })).toBe(31_536_000);
  });
  it('is nothing with the local authority, or beside plain HTTP', () => {
    expect(hstsSeconds({ http: 'off', tls: {} })).toBe(0);
    expect(hstsSeconds({ http: 'serve', tls: certificate })).toBe(0);
  });
  it('is what the operator says', () => {
    expect(hstsSeconds({ http: 'serve', tls: { hsts_seconds: 300 } })).toBe(300);
    expect(hstsSeconds({ http: 'off', tls: { ...certificate, hsts_seconds: 0 } })).toBe(0);
  });
});
