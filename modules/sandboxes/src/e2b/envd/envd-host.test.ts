import { expect, it } from 'vitest';
import { directToEnvd, directToPort } from './envd-host.ts';

const ID = 'abcdefghijklmnopqrstuvwxyz';
const direct = (host: string, url: string, headers: Record<string, string> = {}) => {
  const request = { headers: { ...headers, host } as Record<string, string>, url };
  return { directed: directToEnvd(request, 'sandboxes.test', '/e2b/envd'), ...request };
};

it('directs the host of the data plane to its routes, whatever the client says of the sandbox', () => {
  const headers = { 'e2b-sandbox-id': 'other', 'e2b-sandbox-port': '3000' };
  for (const host of [`49983-${ID}.sandboxes.test`, `49983-${ID}.Sandboxes.Test.:4443`]) {
    expect(direct(host, '/files?path=a', headers)).toEqual({
      directed: true,
      headers: { host, 'e2b-sandbox-id': ID },
      url: '/e2b/envd/files?path=a',
    });
  }
  expect(direct(`49983-${ID}.sandboxes.test`, '*').url).toBe('/e2b/envd/');
  const forwarded = direct(`49983-${ID}.sandboxes.test`, '/e2b/envd/health');
  expect(forwarded).toMatchObject({ directed: true, url: '/e2b/envd/health' });
});

it.each([
  'sandboxes.test',
  `3000-${ID}.sandboxes.test`,
  `49983-${ID}.other.test`,
  `49983-${ID}.sandboxes.test.evil`,
  `x.49983-${ID}.sandboxes.test`,
  '49983-short.sandboxes.test',
])('leaves the host %s alone', (host) => {
  expect(direct(host, '/files')).toEqual({ directed: false, headers: { host }, url: '/files' });
});

const toPort = (headers: Record<string, string>, url = '/e2b/envd/execute?a=b') => {
  const all: Record<string, string> = { host: 'platform.test:4000', ...headers };
  const request = { headers: all, rawHeaders: Object.entries(all).flat(), url };
  return { directed: directToPort(request, 'sandboxes.test', '/e2b/envd'), ...request };
};
const NAMED = { 'e2b-sandbox-id': ID, 'e2b-sandbox-port': '49999' };

it('gives a request that names a port the host of that port, without secrets of the client', () => {
  const host = `49999-${ID}.sandboxes.test`;
  expect(toPort({ ...NAMED, 'x-access-token': 'secret', cookie: 'session=secret', accept: '*/*' })).toEqual({
    directed: true,
    headers: { host, accept: '*/*' },
    rawHeaders: ['host', host, 'accept', '*/*'],
    url: '/execute?a=b',
  });
});

it.each([
  [{ ...NAMED, 'e2b-sandbox-port': '49983' }],
  [{ ...NAMED, 'e2b-sandbox-port': '0' }],
  [{ ...NAMED, 'e2b-sandbox-port': '3000, 4000' }],
  [{ ...NAMED, 'e2b-sandbox-id': 'short' }],
  [{ 'e2b-sandbox-id': ID }],
  [{ 'e2b-sandbox-port': '49999' }],
  [{ ...NAMED, host: `3000-${ID}.sandboxes.test` }],
])('leaves a request with the headers %j alone', (headers) => {
  expect(toPort(headers)).toMatchObject({ directed: false, headers, url: '/e2b/envd/execute?a=b' });
});

it('leaves other paths alone', () => {
  expect(toPort(NAMED, '/api/sandboxes').directed).toBe(false);
  expect(toPort(NAMED, '/e2b/envdx').directed).toBe(false);
});
