import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes, type SandboxSession } from './with-sandboxes.ts';

interface PortFlags extends ConnectionFlags {
  expires?: string;
  close?: boolean;
}

export function registerSandboxPorts(parent: Command): void {
  addConnectionOptions(parent.command('ports'))
    .description('Share a port of a sandbox through a preview link, or list its links')
    .argument('<name or id>')
    .argument('[port]', 'Port to share; omit to list existing links')
    .option('--expires <time>', 'Lifetime of the link, such as 15m (default 1h)')
    .option('--close', 'Revoke the links to the port, or all links, and close their connections')
    .action((name: string, text: string | undefined, flags: PortFlags) =>
      withSandboxes(flags, async (session) => {
        const port = text === undefined ? undefined : readPort(text);
        if (flags.close === true) await closePorts(session, name, port);
        else if (port === undefined) await listPorts(session, name);
        else await openPort(session, name, port, flags);
      }),
    );
}

async function openPort(
  { find, output, signal }: SandboxSession,
  name: string,
  port: number,
  flags: PortFlags,
): Promise<void> {
  const expiresInSeconds = flags.expires === undefined ? undefined : Math.round(readDurationMs(flags.expires) / 1000);
  const sandbox = await find(name);
  const preview = await sandbox.previewPort(port, {
    signal,
    ...(expiresInSeconds !== undefined && { expiresInSeconds }),
  });
  output.answer(preview, [preview.url, `${preview.path_url} (if the hostname above does not resolve)`]);
}

async function listPorts({ find, output, signal }: SandboxSession, name: string): Promise<void> {
  const ports = await (await find(name)).ports({ signal });
  const rows = ports.map(({ port, created_at: created, expires_at: expires }) => [String(port), created, expires]);
  output.answerTable(ports, ['PORT', 'CREATED', 'EXPIRES'], rows);
}

async function closePorts(
  { find, output, signal }: SandboxSession,
  name: string,
  port: number | undefined,
): Promise<void> {
  const revoked = await (await find(name)).closePorts({ port, signal });
  output.answer({ revoked }, [revoked === 1 ? 'Revoked 1 link' : `Revoked ${revoked} links`]);
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw usageFailure(`${JSON.stringify(text)} is not a port`);
}
