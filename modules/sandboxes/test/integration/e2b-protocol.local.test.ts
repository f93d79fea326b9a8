import {
  create,
  fromBinary,
  toBinary,
  toJsonString,
  type DescMethod,
  type DescService,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import { skippedTitle, waitFor } from '@svc/testing';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeFilesystem } from '../../src/e2b/envd/messages/filesystem.ts';
import { describeProcess } from '../../src/e2b/envd/messages/process.ts';
import { localDriverReason } from '../support/local-subject.ts';
import { Http2Client, type Fetch } from '../support/http2-fetch.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'the protocol of the data plane';
const VERSIONS = ['HTTP/1.1', 'HTTP/2'] as const;

/** Prefixes a message of a stream with its flags and length (connectrpc.com/docs/protocol). */
function envelope(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function envelopes(bytes: Buffer): { flags: number; message: Buffer }[] {
  const found: { flags: number; message: Buffer }[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    found.push({ flags: bytes.readUInt8(at), message: bytes.subarray(at + 5, end) });
    at = end;
  }
  return found;
}

describe.skipIf(reason !== null).each(VERSIONS)(
  `${reason === null ? title : skippedTitle(title, reason)}: %s`,
  (version) => {
    let client: Http2Client;
    let services: DescService[];
    let platform: TestPlatform;
    let sandbox: Sandbox;
    let headers: Record<string, string>;

    const methodOf = (path: string): DescMethod => {
      const all = services.flatMap((service) => service.methods);
      const found = all.find((method) => `${method.parent.typeName}/${method.name}` === path);
      if (found === undefined) throw new Error(`no method ${path}`);
      return found;
    };
    const post = (path: string, contentType: string, body: Uint8Array | string, more: Record<string, string> = {}) =>
      send(`/e2b/envd/${path}`, {
        headers: { ...headers, 'content-type': contentType, 'connect-protocol-version': '1', ...more },
        body: new Uint8Array(Buffer.from(body)),
      });
    const send: Fetch = (path, init) =>
      version === 'HTTP/2' ? client.post(path, init) : fetch(`${platform.url}${path}`, { method: 'POST', ...init });
    const messageOf = (path: string, init: MessageInitShape<DescMethod['input']>) => create(methodOf(path).input, init);

    beforeAll(async () => {
      services = await Promise.all([describeProcess(), describeFilesystem()]);
      platform = await startPlatform({ http2: true });
      client = new Http2Client(platform.secureUrl);
      const options = {
        apiUrl: `${platform.url}/e2b`,
        sandboxUrl: `${platform.url}/e2b/envd`,
        apiKey: platform.owner.token,
        validateApiKey: false,
      };
      sandbox = await Sandbox.create('base', options);
      const { body } = await platform.call('GET', `/e2b/sandboxes/${sandbox.sandboxId}`);
      headers = { 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': body['envdAccessToken'] };
    });
    afterAll(async () => {
      client.close();
      await platform.dispose();
    });

    it('takes and gives binary messages, one and in streams', async () => {
      const path = 'filesystem.Filesystem/Stat';
      const { input, output } = methodOf(path);
      const response = await post(path, 'application/proto', toBinary(input, messageOf(path, { path: '/etc' })));
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/proto']);
      expect(fromBinary(output, new Uint8Array(await response.arrayBuffer()))).toMatchObject({
        entry: { path: '/etc', type: 2, owner: 'root' },
      });
      const start = methodOf('process.Process/Start');
      const request = create(start.input, { process: { cmd: '/bin/echo', args: ['hi'] } });
      const body = envelope(toBinary(start.input, request));
      const stream = await post('process.Process/Start', 'application/connect+proto', body);
      const received = envelopes(Buffer.from(await stream.arrayBuffer()));
      const events = received
        .filter(({ flags }) => flags === 0)
        .map(({ message }) => fromBinary(start.output, message));
      const texts = events.map((event) => toJsonString(start.output, event));
      expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual([
        { event: { start: { pid: expect.any(Number) } } },
        { event: { data: { stdout: Buffer.from('hi\n').toString('base64') } } },
        { event: { end: { exited: true, status: 'exit status 0' } } },
      ]);
      expect(received.at(-1)?.flags).toBe(2);
    });

    it('takes input as a stream of messages', async () => {
      const received: string[] = [];
      const command = await sandbox.commands.run('cat', {
        background: true,
        stdin: true,
        onStdout: (text) => void received.push(text),
      });
      const path = 'process.Process/StreamInput';
      const { input } = methodOf(path);
      const stdin = (text: string) => ({ data: { input: { stdin: Buffer.from(text).toString('base64') } } });
      const events = [{ start: { process: { pid: command.pid } } }, stdin('one '), { keepalive: {} }, stdin('two')];
      const body = Buffer.concat(events.map((event) => envelope(Buffer.from(JSON.stringify(event)))));
      const response = await post(path, 'application/connect+json', body);
      const [answer] = envelopes(Buffer.from(await response.arrayBuffer()));
      expect(answer?.message.toString()).toBe('{}');
      await waitFor(() => received.join('') === 'one two');
      expect(input.typeName).toBe('process.InputEvent');
      await sandbox.commands.closeStdin(command.pid);
      expect(await command.wait()).toMatchObject({ exitCode: 0 });
    });

    it('holds a process back whose output the client does not read, and keeps all of it', async () => {
      const total = 60_000_000;
      const process = { cmd: '/usr/bin/head', args: ['-c', String(total), '/dev/zero'] };
      const { input, output } = methodOf('process.Process/Start');
      const body = envelope(Buffer.from(toJsonString(input, create(input, { process }))));
      const response = await post('process.Process/Start', 'application/connect+json', body);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error('the stream has a body');
      const first = Buffer.from((await reader.read()).value ?? []);
      const started = fromStart(envelopes(first)[0]?.message);
      const written = async () => {
        const { stdout } = await sandbox.commands.run(`cat /proc/${started}/io`, { user: 'user' });
        return Number(/^wchar: (\d+)$/m.exec(stdout)?.[1]);
      };
      let before = -1;
      await waitFor(async () => {
        const now = await written();
        const isHeld = now === before;
        before = now;
        return isHeld;
      });
      expect(before).toBeLessThan(total / 2);
      const chunks = [first];
      for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(Buffer.from(next.value));
      let bytes = 0;
      for (const { flags, message } of envelopes(Buffer.concat(chunks))) {
        if (flags !== 0) continue;
        const { event } = JSON.parse(message.toString()) as { event: { data?: { stdout?: string } } }; // as described
        bytes += Buffer.from(event.data?.stdout ?? '', 'base64').length;
      }
      expect(bytes).toBe(total);
      expect(output.typeName).toBe('process.EventResponse');
    });

    it('answers failures in the shape of the protocol', async () => {
      const missing = await post('filesystem.Filesystem/Stat', 'application/json', '{"path":"/missing"}');
      expect([missing.status, await missing.json()]).toEqual([
        404,
        { code: 'not_found', message: 'No such file or directory: /missing' },
      ]);
      const malformed = await post('filesystem.Filesystem/Stat', 'application/json', '{');
      expect([malformed.status, await malformed.json()]).toMatchObject([400, { code: 'invalid_argument' }]);
      const unknown = await post('filesystem.Filesystem/Stat', 'text/plain', '{}');
      expect(unknown.status).toBe(415);
      const late = { 'connect-timeout-ms': '200' };
      const sleep = '{"process":{"cmd":"/bin/sleep","args":["1000"]}}';
      const stream = await post(
        'process.Process/Start',
        'application/connect+json',
        envelope(Buffer.from(sleep)),
        late,
      );
      const received = envelopes(Buffer.from(await stream.arrayBuffer()));
      expect(JSON.parse(received.at(-1)?.message.toString() ?? '')).toMatchObject({
        error: { code: 'deadline_exceeded' },
      });
      const user = { authorization: `Basic ${Buffer.from('missing:').toString('base64')}` };
      const refused = await post('filesystem.Filesystem/Stat', 'application/json', '{"path":"/"}', user);
      expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'unauthenticated' }]);
    });
  },
);

function fromStart(message: Buffer | undefined): number {
  const { event } = JSON.parse(message?.toString() ?? '{}') as { event: { start: { pid: number } } }; // as described
  return event.start.pid;
}
