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
    .description('what happens to sandboxes, as it happens, until Ctrl-C; with --json one line of JSON each')
    .argument('[name or id]', 'one sandbox (default all of the workspace)')
    .option('--after <id>', 'also what has happened since this event; 0 for all that is kept')
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
