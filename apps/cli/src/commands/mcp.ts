import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '@svc/platform/version';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { addConnectionOptions } from '../client/session.ts';
import { LocalFolder } from '../mcp/local-folder.ts';
import { createMcpServer } from '../mcp/server.ts';
import type { ToolContext } from '../mcp/tool.ts';
import { withSandboxes, type SandboxSession } from './sandbox/with-sandboxes.ts';

interface McpFlags extends ConnectionFlags {
  folder?: string;
  ephemeral?: boolean;
}

/** `svc mcp` */
export function registerMcpCommand(program: Command): void {
  addConnectionOptions(program.command('mcp'))
    .description('Serve sandboxes as MCP tools (Model Context Protocol) on standard input and output')
    .option('--folder <path>', 'Allow upload_file and download_file in this local folder (default none)')
    .option('--ephemeral', 'Delete the sandboxes created in this session when the client disconnects')
    .addHelpText('after', '\nThe client starts it; docs/mcp.md shows the settings for common clients.')
    .action((flags: McpFlags) => withSandboxes(flags, (session) => serve(session, flags)));
}

/** Serves until the client closes stdin, as the protocol specifies, or the process is terminated. */
async function serve(session: SandboxSession, flags: McpFlags): Promise<void> {
  const context: ToolContext = { session, made: new Set() };
  const folder = flags.folder === undefined ? null : await LocalFolder.open(flags.folder);
  const gone = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')]);
  const told = Promise.withResolvers<void>();
  session.signal.addEventListener('abort', () => told.resolve(), { once: true });
  const server = serveStdio(() => createMcpServer(VERSION, context, folder), {
    onerror: (error) => session.output.warn(error.message),
  });
  try {
    await Promise.race([gone, told.promise]);
  } finally {
    await server.close();
    process.stdin.destroy();
    if (flags.ephemeral === true) await deleteAll(context);
  }
}

async function deleteAll({ session, made }: ToolContext): Promise<void> {
  // A deleted or unreachable sandbox must not prevent the cleanup of others.
  await Promise.allSettled([...made].map((id) => session.sandboxes.delete(id)));
}
