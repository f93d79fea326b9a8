import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient } from '@svc/sdk';
import { describeRequiring, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { removeSandboxes } from '../system/remove-sandboxes.ts';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { createReplicas } from './replicas.ts';

const NEEDS = [
  'postgres',
  'linux',
  'root',
  'cgroups',
  'command:crun',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
] as const;
const PASSWORD = 'correct horse battery staple';
const BUSY_MS = 60_000;

describeRequiring([...NEEDS], 'svc mcp at a replica that does not hold the sandbox', () => {
  it('uses it, until its token is deleted at the other replica', async () => {
    await using replicas = await createReplicas('sandboxes');
    const environment = { SVC_OWNER_PASSWORD: PASSWORD };
    const holder = await replicas.start({ name: 'holder', environment });
    const asked = await replicas.start({ name: 'asked', environment });
    const { url } = holder.ready;
    const signIn = { email: 'owner@localhost', password: PASSWORD };
    const session = await apiClient({ url }).post<{ access_token: string }>('/api/auth/login', signIn);
    const owner = apiClient({ url, token: session.access_token });
    const { id: tokenId, token } = await owner.post<{ id: string; token: string }>('/api/tokens', { name: 'mcp' });
    const { sandboxes } = createClient({ baseUrl: url, credential: { kind: 'token', token: holder.ready.token } });
    const { id: sandbox } = await sandboxes.create({ image: 'busybox', network: 'none' });

    const client = new Client({ name: 'test', version: '1' });
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: replicas.folder,
      SANDBOX_URL: asked.ready.url,
      SANDBOX_TOKEN: token,
    };
    const command = join(PROJECT_ROOT, 'svc');
    await client.connect(new StdioClientTransport({ command, args: ['mcp'], env, cwd: replicas.folder }));
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const { isError = false, content, structuredContent = {} } = await client.callTool({ name, arguments: input });
      const [first] = content;
      return { isError, text: first?.type === 'text' ? first.text : '', value: structuredContent };
    };
    try {
      const run = async (line: string) => (await call('run_command', { sandbox, command: line })).value;
      expect(await run('echo here; exit 3')).toMatchObject({ stdout: 'here\n', exit_code: 3 });
      await call('write_file', { sandbox, path: '/root/file', content: 'written' });
      expect((await sandboxes.of(sandbox).run('cat /root/file')).stdout).toBe('written');
      expect((await call('read_file', { sandbox, path: '/root/file' })).text).toContain('written');
      expect((await call('list_sandboxes')).text).toContain(sandbox);
      const stopped = await call('stop_sandbox', { sandbox });
      expect(stopped).toMatchObject({ isError: false, value: { status: 'stopped' } });
      expect((await sandboxes.of(sandbox).get()).status).toBe('stopped');
      expect((await call('start_sandbox', { sandbox })).isError).toBe(false);

      const waiting = call('run_command', { sandbox, command: 'sleep 1000', timeout_seconds: 1_000 });
      const isRunning = async (): Promise<boolean> =>
        (await sandboxes.of(sandbox).run('ps')).stdout.includes('sleep 1000');
      await waitFor(isRunning, { timeoutMs: BUSY_MS, description: 'the command' });
      await owner.delete(`/api/tokens/${tokenId}`);
      expect((await waiting).isError).toBe(true);
      expect(await call('list_sandboxes')).toMatchObject({ isError: true, text: expect.stringMatching(/svc login/) });
      await waitFor(async () => !(await isRunning()), { timeoutMs: BUSY_MS, description: 'the end of the command' });
    } finally {
      await client.close();
      await removeSandboxes({ sandboxes });
    }
  });
});
