import type { SandboxEvent } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

interface EventFlags extends ConnectionFlags {
  after?: string;
}

export function registerSandboxEvents(parent: Command): void {
  addConnectionOptions(parent.command('events'))
    .description('Stream sandbox events until Ctrl-C; with --json, one JSON object per line')
    .argument('[name or id]', 'Sandbox name or ID (default all sandboxes of the workspace)')
    .option('--after <id>', 'Start after this event; 0 replays all retained events')
    .action((name: string | undefined, flags: EventFlags) =>
      withSandboxes(flags, async ({ sandboxes, find, output, signal }) => {
        const after = flags.after === undefined ? undefined : Number(flags.after);
        if (after !== undefined && !Number.isSafeInteger(after)) throw usageFailure('--after is not a number');
        const source = name === undefined ? sandboxes : await find(name);
        for await (const event of source.events({ after, signal })) output.entry(event, renderEvent(event));
      }),
    );
}

export function renderEvent({ id, at, sandbox_id: sandbox, type, details }: SandboxEvent): string {
  const more = Object.entries(details).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return printable([at, String(id).padStart(6), sandbox, type, ...more].join('  '));
}
