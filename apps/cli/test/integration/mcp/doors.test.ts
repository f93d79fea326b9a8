import { InMemoryTransport } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMcpServer } from '../../../src/mcp/server.ts';
import { LocalFolder } from '../../../src/mcp/local-folder.ts';
import { withSandboxes } from '../../../src/commands/sandbox/with-sandboxes.ts';
import { startWorld, type Who, type World } from '../../support/door-world.ts';

/** How a tool is called, and the routes that it may use. */
interface ToolRow {
  readonly input: Readonly<Record<string, unknown>>;
  readonly asks: readonly string[];
}

const FIND = 'GET /api/containers';
const FILES = '/api/containers/:id/files';
const NAMED = { sandbox: 'SANDBOX' };

/** Every tool. In arguments, `SANDBOX` stands for the one of the world. */
const TOOLS: Readonly<Record<string, ToolRow>> = {
  create_sandbox: { input: { image: 'busybox' }, asks: ['POST /api/containers'] },
  list_images: { input: {}, asks: ['GET /api/images'] },
  list_sandboxes: { input: {}, asks: [FIND] },
  start_sandbox: { input: NAMED, asks: [FIND, 'POST /api/containers/:id/start'] },
  stop_sandbox: { input: NAMED, asks: [FIND, 'POST /api/containers/:id/stop'] },
  delete_sandbox: { input: NAMED, asks: [FIND, 'DELETE /api/containers/:id'] },
  create_snapshot: { input: NAMED, asks: [FIND, 'POST /api/containers/:id/snapshots'] },
  preview_url: { input: { ...NAMED, port: 8080 }, asks: [FIND, 'POST /api/containers/:id/ports'] },
  run_command: { input: { ...NAMED, command: 'true' }, asks: [FIND, 'POST /api/containers/:id/exec'] },
  read_file: { input: { ...NAMED, path: '/x' }, asks: [FIND, `GET ${FILES}/stat`] },
  list_files: { input: { ...NAMED, path: '/x' }, asks: [FIND, `GET ${FILES}/list`] },
  write_file: { input: { ...NAMED, path: '/x', content: 'x' }, asks: [FIND, `POST ${FILES}`] },
  delete_file: { input: { ...NAMED, path: '/x' }, asks: [FIND, `DELETE ${FILES}`] },
  upload_file: { input: { ...NAMED, path: '/x', local_path: 'tree/file' }, asks: [FIND, `POST ${FILES}`] },
  download_file: { input: { ...NAMED, path: '/x', local_path: 'new' }, asks: [FIND, `GET ${FILES}/stat`] },
};

interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
}

/** Calls methods of a server as its client would. */
type Ask = (method: string, params: Record<string, unknown>) => Promise<unknown>;

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 60_000);
afterAll(() => world.close());

/** Serves the tools to one client, with the credential of a caller. */
async function withTools(who: Who, run: (ask: Ask) => Promise<void>): Promise<void> {
  for (const name of Object.keys(process.env)) if (/^(SVC|SANDBOX)_/.test(name)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(world.environmentOf(who))) vi.stubEnv(name, value);
  try {
    await withSandboxes({}, async (session) => {
      const folder = await LocalFolder.open(world.fill('FOLDER'));
      const server = createMcpServer('0', { session, made: new Set() }, folder);
      const [client, served] = InMemoryTransport.createLinkedPair();
      await server.connect(served);
      await client.start();
      let id = 0;
      const ask: Ask = (method, params) =>
        new Promise((resolve, reject) => {
          id += 1;
          // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other way
          client.onmessage = (message) => {
            if ('result' in message) resolve(message.result);
            else reject(new Error(JSON.stringify(message)));
          };
          client.send({ jsonrpc: '2.0', id, method, params }).catch(reject);
        });
      await ask('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      });
      await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      await run(ask);
      await server.close();
    });
  } finally {
    vi.unstubAllEnvs();
  }
}

async function call(ask: Ask, name: string): Promise<ToolAnswer> {
  const input = TOOLS[name]?.input ?? {};
  const given = Object.entries(input).map(([key, value]) => [key, value === 'SANDBOX' ? world.fill('SANDBOX') : value]);
  world.recorder.clear();
  return (await ask('tools/call', { name, arguments: Object.fromEntries(given) })) as ToolAnswer; // the protocol's shape
}

describe('every tool of the MCP server', () => {
  it('has a row', async () => {
    await withTools('owner', async (ask) => {
      const { tools } = (await ask('tools/list', {})) as { tools: { name: string }[] }; // the protocol's shape
      expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(TOOLS).toSorted());
    });
  });

  it('asks for the routes of its row and no others', async () => {
    world.recorder.isDry = true;
    await withTools('owner', async (ask) => {
      for (const [name, { asks }] of Object.entries(TOOLS)) {
        await call(ask, name).catch(() => null); // what the recorder answers is no sandbox
        const asked = [...new Set(world.asked().map(({ route }) => route))];
        expect([name, asked]).toEqual([name, asks]);
      }
    });
  });

  it.each<Who>(['guest', 'reader', 'stranger', 'expired'])(
    'is refused exactly where REST refuses, with a message that says why: %s',
    async (who) => {
      world.recorder.isDry = false;
      await withTools(who, async (ask) => {
        for (const [name, { asks }] of Object.entries(TOOLS)) {
          const allowed = (await Promise.all(asks.map((route) => world.isLetIn(route, who)))).every(Boolean);
          const { isError = false, content } = await call(ask, name);
          const refused = world.asked().some(({ status }) => status === 401 || status === 403 || status === 404);
          const text = content[0]?.text ?? '';
          expect([name, refused && isError, text]).toEqual([
            name,
            !allowed,
            allowed
              ? text
              : (expect.stringMatching(/permission|not found|not a member|run svc login again/i) as string),
          ]);
        }
      });
    },
  );
});
