import { execFileSync } from 'node:child_process';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeAuthority, makeServerCertificate } from '@svc/certificates';
import { requirement, skippedTitle, startNameServer, type NameServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packHostTools } from '../support/host-tools.ts';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { startSecretUpstream, type SecretUpstream, type SeenRequest } from '../support/secret-upstream.ts';

const reason = localDriverReason() ?? requirement('command:ip', 'command:curl', 'command:openssl');
const title = 'secrets that are added to requests of real sandboxes';

const NAMESPACE = 'svc-test-secrets';
const GATEWAY = '13.13.13.1';
const API = '13.13.13.2';
const OTHER = '13.13.13.6';
const SECRET = 'sk-4711-never-inside';
const RULES = [
  { host: 'api.secret.example', header: 'Authorization', secret: 'API_KEY', template: 'Bearer {value}' },
  { host: '*.wild.example', query: 'key', secret: 'API_KEY' },
  { host: 'plain.example', header: 'x-key', secret: 'API_KEY', insecure: true },
  { host: 'private.example', header: 'x-key', secret: 'API_KEY' },
  { host: 'host.example', header: 'x-key', secret: 'API_KEY' },
];

/** Neighbours with public addresses, in a network namespace, and programs of this machine inside. */
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const usualRoots = getCACertificates('default');
  let platform: TestPlatform;
  let names: NameServer;
  let upstream: SecretUpstream;
  let tools: Buffer;
  let id: string;
  const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' });

  const shell = async (command: string, sandbox = id): Promise<string> => {
    const { body } = await platform.call('POST', `/api/sandboxes/${sandbox}/exec`, { body: { command } });
    return `${body['stdout']}${body['stderr']}`.trim();
  };
  const create = async (body: Record<string, unknown>): Promise<string> => {
    const wanted = { image: 'debian', network: 'egress', resources: { disk_mb: 1024, memory_mb: 512 }, ...body };
    const made = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: wanted });
    expect(made.body).toMatchObject({ error: null, status: 'running' });
    const { headers } = platform.owner;
    const path = `/api/sandboxes/${made.body['id']}/files/archive?path=/`;
    const put = await fetch(`${platform.url}${path}`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/x-tar' },
      body: new Uint8Array(tools),
    });
    expect(put.status).toBeLessThan(300);
    await shell('echo /usr/local/lib/tools > /etc/ld.so.conf.d/zz-tools.conf && ldconfig', made.body['id']);
    return made.body['id'];
  };
  const change = (rules: unknown, sandbox = id) =>
    platform.call('PUT', `/api/sandboxes/${sandbox}/egress/rules`, { body: { egress_rules: rules } });
  const seenSince = async (command: string, sandbox = id): Promise<{ output: string; seen: SeenRequest[] }> => {
    const before = upstream.seen.length;
    const output = await shell(command, sandbox);
    return { output, seen: upstream.seen.slice(before) };
  };
  /** The issuer of the certificate that a program inside sees. */
  const issuer = (host: string): Promise<string> =>
    shell(
      `openssl s_client -connect ${host}:443 -servername ${host} </dev/null 2>/dev/null | openssl x509 -noout -issuer`,
    );

  beforeAll(async () => {
    ip('netns', 'add', NAMESPACE);
    ip('link', 'add', 'svctest3', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', NAMESPACE);
    ip('addr', 'add', `${GATEWAY}/24`, 'dev', 'svctest3');
    ip('link', 'set', 'svctest3', 'up');
    for (const address of [API, OTHER]) ip('-n', NAMESPACE, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    for (const link of ['eth0', 'lo']) ip('-n', NAMESPACE, 'link', 'set', link, 'up');
    ip('-n', NAMESPACE, 'route', 'add', 'default', 'via', GATEWAY);
    const outside = await makeAuthority('test upstream authority', new Date());
    setDefaultCACertificates([...usualRoots, outside.cert]);
    const hosts = ['api.secret.example', '*.wild.example', 'other.example', 'plain.example', 'host.example'];
    upstream = await startSecretUpstream(
      NAMESPACE,
      { addresses: [API, OTHER], resolver: GATEWAY },
      await makeServerCertificate(outside, hosts, new Date()),
    );
    names = await startNameServer(
      {
        'api.secret.example': [API],
        'a.wild.example': [API],
        'plain.example': [API],
        'other.example': [OTHER],
        'private.example': ['10.0.0.1', '127.0.0.1', '100.96.0.1'],
        'host.example': [GATEWAY],
      },
      300,
      { address: GATEWAY, port: 53 },
    );
    platform = await startPlatform({ config: { nameservers: [API], max_per_caller: 100 } });
    tools = await packHostTools({ curl: '/usr/bin/curl', openssl: '/usr/bin/openssl', node: process.execPath });
    await platform.call('POST', '/api/secrets', { body: { name: 'API_KEY', value: SECRET } });
    id = await create({ egress_rules: RULES });
  });
  afterAll(async () => {
    await platform?.dispose();
    upstream?.stop();
    await names?.close();
    setDefaultCACertificates(usualRoots);
    ip('netns', 'del', NAMESPACE);
  });

  it('arrive in requests of curl, Node, and a program that uses the folder of certificates', async () => {
    const curl = await seenSince('curl -sS -H "authorization: mine" "https://api.secret.example/x?a=1"');
    expect(curl.output).toBe('fine');
    expect(curl.seen).toMatchObject([{ url: '/x?a=1', headers: { authorization: `Bearer ${SECRET}` } }]);

    const script = "fetch('https://a.wild.example/y?key=mine&b=2').then((r) => r.text()).then(console.log)";
    const node = await seenSince(`node -e "${script}"`);
    expect([node.output, node.seen[0]?.url]).toEqual(['fine', `/y?b=2&key=${SECRET}`]);

    const request = 'printf "GET /z HTTP/1.0\\r\\nHost: api.secret.example\\r\\n\\r\\n"';
    const folder = await seenSince(
      `(${request}; sleep 1) | env -u SSL_CERT_FILE openssl s_client -quiet -verify_return_error -CApath /etc/ssl/certs ` +
        '-connect api.secret.example:443 -servername api.secret.example 2>/dev/null',
    );
    expect(folder.seen).toMatchObject([{ url: '/z', headers: { authorization: `Bearer ${SECRET}` } }]);
  });

  it('arrive over plain HTTP only if the rule says so', async () => {
    const open = await seenSince('curl -sS http://plain.example/');
    expect(open.seen).toMatchObject([{ secure: false, headers: { 'x-key': SECRET } }]);
    const closed = await seenSince('curl -sS http://api.secret.example/');
    expect(closed).toMatchObject({ seen: [], output: expect.stringContaining('EGRESS_NEEDS_HTTPS') });
  });

  it('leave other hosts and names of other kinds untouched', async () => {
    expect(await issuer('api.secret.example')).toContain('svc sandbox egress');
    expect(await issuer('other.example')).toContain('test upstream authority');
    const other = await seenSince('curl -ksS https://other.example/');
    expect(other.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(other.seen)).not.toContain(SECRET);
    expect(other.seen[0]?.connection).toContain(GATEWAY); // masqueraded, straight from the sandbox
    expect(names.asked).toContain('other.example');
  });

  it('do not follow a redirect to another host, or another Host header', async () => {
    const { seen } = await seenSince(
      'curl -ksSL "https://api.secret.example/redirect?to=https://other.example/stolen"',
    );
    expect(seen.map(({ url }) => url)).toEqual([expect.stringContaining('/redirect'), '/stolen']);
    expect(JSON.stringify(seen[1])).not.toContain(SECRET);
    const fronted = await seenSince('curl -sS -H "Host: other.example" https://api.secret.example/');
    expect(fronted).toMatchObject({ seen: [], output: expect.stringContaining('EGRESS_WRONG_HOST') });
  });

  it('go to public addresses only, and not to the host', async () => {
    for (const host of ['private.example', 'host.example']) {
      expect(await shell(`curl -sS https://${host}/`)).toContain('EGRESS_NO_ADDRESS');
    }
    // The gateway's address has nothing else to offer.
    expect(await shell('curl -sS -m 2 http://100.96.0.1:4000/ || echo closed')).toContain('closed');
    expect(await shell('curl -sS -m 2 https://100.96.0.1/ || echo closed')).toContain('closed');
  });

  it('are nowhere inside: environments, files, memory of the client', async () => {
    await shell('(curl -sN https://api.secret.example/stream?marker-8151 >/tmp/stream 2>&1 &) ; true');
    await expect.poll(() => shell('cat /tmp/stream')).toContain('begun');
    const reversed = (text: string): string => [...text].toReversed().join('');
    const find = (text: string): Promise<string> => shell(`node /tmp/scan.js ${reversed(text)}`);
    await platform.call('POST', `/api/sandboxes/${id}/files`, {
      body: { path: '/tmp/scan.js', content: SCAN, encoding: 'utf-8' },
    });
    expect(await find('marker-8151')).toMatch(/mem \d+/); // the control
    expect(await find('begun')).toMatch(/file \/tmp\/stream/);
    expect(await find(SECRET)).toBe('');
    expect(await find('PRIVATE KEY-----')).not.toMatch(/file \/etc/);
    await shell('kill $(pidof curl)');
    expect(JSON.stringify(platform.audit.entries)).not.toContain(SECRET);
  });

  it('stop with the secret, with the rule, and with another value, on open connections too', async () => {
    const stream = async (): Promise<void> => {
      await shell(
        '(curl -sN https://api.secret.example/stream >/tmp/stream 2>&1; echo ended >>/tmp/stream) >/dev/null 2>&1 &',
      );
      await expect.poll(() => shell('cat /tmp/stream')).toContain('begun');
    };
    const ended = (): Promise<void> =>
      expect.poll(() => shell('tail -n 1 /tmp/stream'), { timeout: 5000 }).toBe('ended');
    await stream();
    await platform.call('PUT', '/api/secrets/API_KEY', { body: { value: 'second' } });
    await ended();
    const after = await seenSince('curl -sS https://api.secret.example/');
    expect(after.seen[0]?.headers['authorization']).toBe('Bearer second');

    await stream();
    await platform.call('DELETE', '/api/secrets/API_KEY');
    await ended();
    const gone = await seenSince('curl -sS https://api.secret.example/');
    expect(gone).toMatchObject({ seen: [], output: expect.stringContaining('EGRESS_NO_SECRET') });

    await platform.call('POST', '/api/secrets', { body: { name: 'API_KEY', value: SECRET } });
    await expect.poll(() => shell('curl -sS https://api.secret.example/')).toBe('fine');
    await stream();
    expect((await change([])).body['egress_rules']).toEqual([]);
    await ended();
    expect(await issuer('api.secret.example')).toContain('test upstream authority');
    expect((await change(RULES)).status).toBe(200);
    expect(await shell('curl -sS https://api.secret.example/')).toBe('fine');
  });

  it('stay with forks and restarts of sandbox and platform; each sandbox has an authority of its own', async () => {
    const certificate = (sandbox: string): Promise<string> =>
      shell('sed -n "/begin$/,/end$/p" /etc/ssl/certs/ca-certificates.crt', sandbox);
    const forked = await platform.call('POST', `/api/sandboxes/${id}/fork?wait_ms=30000`, { body: { name: 'copy' } });
    const copy = forked.body['containers'][0];
    expect(copy).toMatchObject({ status: 'running', egress_rules: [{ host: 'api.secret.example' }, {}, {}, {}, {}] });
    expect(JSON.stringify(forked.body)).not.toContain(SECRET);
    expect(await shell('curl -sS https://api.secret.example/', copy.id)).toBe('fine');
    expect(await certificate(copy.id)).not.toBe(await certificate(id));
    expect((await certificate(copy.id)).match(/BEGIN/g)).toHaveLength(1);

    await platform.call('POST', `/api/sandboxes/${copy.id}/stop`);
    await platform.call('POST', `/api/sandboxes/${copy.id}/start?wait_ms=30000`);
    expect(await shell('curl -sS https://api.secret.example/', copy.id)).toBe('fine');
    await platform.call('DELETE', `/api/sandboxes/${copy.id}`);

    const before = await certificate(id);
    await platform.close();
    await platform.reopen();
    await expect.poll(() => shell('curl -sS https://api.secret.example/')).toBe('fine');
    expect(await certificate(id)).toBe(before);
  });

  it('respect the allowlist, and leave no table behind', async () => {
    const limited = await create({ egress_allow: ['api.secret.example'], egress_rules: RULES });
    expect(await shell('curl -sS https://api.secret.example/', limited)).toBe('fine');
    expect(await shell('curl -sS http://plain.example/ || echo refused', limited)).toContain('refused');
    const tables = (): string => execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' });
    const count = (): number => tables().match(/svc_secrets_/g)?.length ?? 0;
    expect(count()).toBe(2);
    await platform.call('DELETE', `/api/sandboxes/${limited}`);
    await expect.poll(count).toBe(1);
  });

  it('stay when another platform starts on this machine', async () => {
    const other = await startPlatform();
    try {
      const { seen } = await seenSince('curl -sS https://api.secret.example/');
      expect(seen).toMatchObject([{ headers: { authorization: `Bearer ${SECRET}` } }]);
    } finally {
      await other.dispose();
    }
  });

  it('follow an allowlist that changes while the sandbox runs', async () => {
    const allow = (targets: string[] | null) =>
      platform.call('PUT', `/api/sandboxes/${id}/egress`, { body: { egress_allow: targets } });
    const ask = 'curl -sS -m 5 https://api.secret.example/ || echo refused';
    await shell(
      '(curl -sN https://api.secret.example/stream >/tmp/stream 2>&1; echo ended >>/tmp/stream) >/dev/null 2>&1 &',
    );
    await expect.poll(() => shell('cat /tmp/stream')).toContain('begun');
    expect((await allow(['other.example'])).status).toBe(200);
    await expect.poll(() => shell('tail -n 1 /tmp/stream')).toBe('ended');
    expect(await shell(ask)).toContain('refused');
    expect(await shell('curl -ksS https://other.example/')).toBe('fine');
    await allow(['*', `${OTHER}/32`]);
    expect(await shell(ask)).toContain('EGRESS_NO_ADDRESS'); // any name, but only this address
    await allow(['*', `${API}/32`]);
    expect(await shell(ask)).toBe('fine');
    await allow(null);
    const again = await seenSince(ask);
    expect(again.seen).toMatchObject([{ headers: { authorization: `Bearer ${SECRET}` } }]);
    expect(await shell('curl -ksS https://other.example/')).toBe('fine');
  });

  it('cannot be named from another workspace', async () => {
    const stranger = platform.access.user('stranger@example.org');
    const body = { image: 'debian', network: 'egress', egress_rules: RULES };
    const answer = await platform.call('POST', '/api/sandboxes', { caller: stranger, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'UNKNOWN_SECRET' } });
  });
});

/** Prints where a text, given in reverse so that it is not an argument, is found: in memory and environments, in files. */
const SCAN = `
  const fs = require('node:fs');
  const wanted = Buffer.from([...process.argv[2]].reverse().join(''));
  for (const pid of fs.readdirSync('/proc')) {
    if (!/^\\d+$/.test(pid) || pid === String(process.pid)) continue;
    try { if (fs.readFileSync('/proc/' + pid + '/environ').includes(wanted)) console.log('environ', pid); } catch {}
    try {
      const memory = fs.openSync('/proc/' + pid + '/mem', 'r');
      for (const line of fs.readFileSync('/proc/' + pid + '/maps', 'utf8').split('\\n')) {
        const found = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line);
        if (found === null || line.includes('[v')) continue;
        const start = parseInt(found[1], 16);
        const bytes = Buffer.alloc(Math.min(parseInt(found[2], 16) - start, 64 << 20));
        try { fs.readSync(memory, bytes, 0, bytes.length, start); } catch { continue; }
        if (bytes.includes(wanted)) { console.log('mem', pid); break; }
      }
    } catch {}
  }
  const walk = (folder) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const path = folder + '/' + entry.name;
      if (['/proc', '/sys', '/dev', '/tmp/scan.js'].includes(path)) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) try { if (fs.readFileSync(path).includes(wanted)) console.log('file', path); } catch {}
    }
  };
  for (const top of fs.readdirSync('/')) if (!['proc', 'sys', 'dev'].includes(top)) try { walk('/' + top); } catch {}
`;
