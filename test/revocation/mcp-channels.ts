import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { CredentialKind } from '@svc/platform/testing';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import type { Channel } from './channel.ts';
import type { Open } from './open-channel.ts';
import { TICKS, type Place } from './place.ts';

const COMMAND_SECONDS = 600;

/** `svc mcp` is configured with a token. */
const withoutToken = (kind: CredentialKind): string | null =>
  /token|service account/.test(kind) && kind !== 'OIDC token' ? null : 'svc mcp is configured with a token that lasts';

/** A process of `svc mcp`, as a client starts it. */
async function connect({ platform, caller }: Place): Promise<Client> {
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    SVC_URL: platform.url,
    SVC_TOKEN: String(caller.headers['authorization']).replace(/^Bearer /, ''),
    SVC_WORKSPACE: caller.workspace,
    ...(caller.team === null ? {} : { SVC_TEAM: caller.team }),
  };
  const args = [join(PROJECT_ROOT, 'apps/cli/src/main.ts'), 'mcp'];
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  return client;
}

async function openCall(place: Place): Promise<Open> {
  const client = await connect(place);
  const begun = Promise.withResolvers<void>();
  const input = { sandbox: place.sandbox, command: TICKS, timeout_seconds: COMMAND_SECONDS };
  const call = client
    .callTool(
      { name: 'run_command', arguments: input },
      { timeout: COMMAND_SECONDS * 1000, onprogress: () => begun.resolve() },
    )
    .then(
      ({ isError = false }) => isError,
      () => true,
    );
  const ended = call.then(async (isError) => {
    await client.close();
    return isError;
  });
  const early = ended.then((): never => {
    throw new Error('the tool call ended at once');
  });
  early.catch(() => undefined);
  await Promise.race([begun.promise, early]);
  const verify = async (): Promise<void> => {
    if (!(await call)) throw new Error('the tool call succeeded');
  };
  return { ended, verify, close: () => void client.close() };
}

export const MCP_CHANNELS: Readonly<Record<string, Channel>> = {
  'a tool call of an MCP client': { refuses: withoutToken, open: openCall },
};
