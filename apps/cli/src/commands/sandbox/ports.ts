import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

export function registerSandboxPorts(parent: Command): void {
  addConnectionOptions(parent.command('ports'))
    .description('an address under which anybody reaches a port of a sandbox for a while')
    .argument('<name or id>')
    .argument('<port>')
    .option('--expires <time>', 'such as 15m (default 1h)')
    .action((name: string, portText: string, flags: ConnectionFlags & { expires?: string }) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const port = Number(portText);
        if (!Number.isInteger(port) || port < 1 || port > 65_535)
          throw usageFailure(`${JSON.stringify(portText)} is no port`);
        const sandbox = await find(name);
        const preview = await sandbox.previewPort(port, {
          signal,
          ...(flags.expires !== undefined && { expiresInSeconds: Math.round(readDurationMs(flags.expires) / 1000) }),
        });
        output.answer(preview, [preview.url]);
      }),
    );
}
