import { expect, it } from 'vitest';
import { directToEnvd } from './envd-host.ts';

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
