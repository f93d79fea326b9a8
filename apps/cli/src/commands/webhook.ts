import type { NewWebhook, WebhookAttempt, WebhookChange } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { printable } from '../client/output.ts';
import { addConnectionOptions } from '../client/session.ts';
import { collect, withSandboxes } from './sandbox/with-sandboxes.ts';

interface SettingFlags extends ConnectionFlags {
  event?: string[];
  description?: string;
}

interface UpdateFlags extends SettingFlags {
  allEvents?: boolean;
  enable?: boolean;
  disable?: boolean;
}

/** `svc webhook …` */
export function registerWebhookCommand(program: Command): void {
  const webhook = program.command('webhook').description('Manage webhooks for events of sandboxes');
  registerCreate(webhook);
  registerList(webhook);
  registerUpdate(webhook);
  registerSecret(webhook);
  registerDeliveries(webhook);
  registerAttempts(webhook);
  registerRemove(webhook);
}

function registerCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a webhook and print its secret, which is not shown again')
    .argument('<url>', 'Receiver of the events')
    .option('--event <type>', 'Send only this type of event, such as created; repeatable', collect)
    .option('--description <text>', 'Note for people')
    .action((url: string, flags: SettingFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const made = await sandboxes.webhooks.create({ url, ...readSettings(flags) }, { signal });
        output.answer(made, [`Created webhook ${made.id}`, `Secret: ${made.secret}`]);
      }),
    );
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List webhooks, without their secrets')
    .action((flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const webhooks = await sandboxes.webhooks.list({ signal });
        const rows = webhooks.map(({ id, url, events, enabled, failing_since: failing }) => [
          id,
          url,
          events === null ? 'all' : events.join(', '),
          enabled ? (failing === null ? 'enabled' : `failing since ${failing}`) : 'disabled',
        ]);
        output.answerTable(webhooks, ['ID', 'URL', 'EVENTS', 'STATE'], rows);
      }),
    );
}

function registerUpdate(parent: Command): void {
  addConnectionOptions(parent.command('update'))
    .description('Change a webhook')
    .argument('<id>')
    .argument('[url]', 'New receiver of the events')
    .option('--event <type>', 'Send only this type of event; repeatable', collect)
    .option('--all-events', 'Send events of all types')
    .option('--description <text>', 'Note for people')
    .option('--enable', 'Send events from now on')
    .option('--disable', 'Send no events')
    .action((id: string, url: string | undefined, flags: UpdateFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const changed = await sandboxes.webhooks.update(id, readChange(url, flags), { signal });
        output.answer(changed, [`Changed webhook ${changed.id}`]);
      }),
    );
}

function registerSecret(parent: Command): void {
  addConnectionOptions(parent.command('rotate-secret'))
    .description('Create a new secret; the previous one also signs for one day')
    .argument('<id>')
    .action((id: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const made = await sandboxes.webhooks.rotateSecret(id, { signal });
        output.answer(made, [
          `Secret: ${made.secret}`,
          `The previous one also signs until ${made.previous_valid_until}`,
        ]);
      }),
    );
}

function registerDeliveries(parent: Command): void {
  addConnectionOptions(parent.command('deliveries'))
    .description('List the last deliveries of a webhook, newest event first')
    .argument('<id>')
    .action((id: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const { items } = await sandboxes.webhooks.deliveries(id, {}, { signal });
        const rows = items.map((each) => [
          String(each.event_id),
          each.type,
          each.sandbox_id,
          each.state,
          String(each.attempts),
          each.attempted_at,
          each.error ?? '',
        ]);
        output.answerTable(items, ['EVENT', 'TYPE', 'SANDBOX', 'STATE', 'ATTEMPTS', 'LAST ATTEMPT', 'ERROR'], rows);
      }),
    );
}

function registerAttempts(parent: Command): void {
  addConnectionOptions(parent.command('test'))
    .description('Send an event of the type test now')
    .argument('<id>')
    .action((id: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const attempt = await sandboxes.webhooks.test(id, { signal });
        output.answer(attempt, [describeAttempt(attempt)]);
      }),
    );
  addConnectionOptions(parent.command('redeliver'))
    .description('Send an event again now')
    .argument('<id>')
    .argument('<event>', 'Number of the event')
    .action((id: string, event: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        if (!/^[1-9]\d{0,14}$/.test(event))
          throw usageFailure(`${JSON.stringify(event)} is not the number of an event`);
        const attempt = await sandboxes.webhooks.redeliver(id, Number(event), { signal });
        output.answer(attempt, [describeAttempt(attempt)]);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete webhooks')
    .argument('<id...>')
    .action((ids: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        for (const id of ids) {
          await sandboxes.webhooks.delete(id, { signal });
          output.note(`Deleted webhook ${printable(id)}`);
        }
        if (output.json) output.answer({ deleted: ids }, []);
      }),
    );
}

function readSettings({ event, description }: SettingFlags): Pick<NewWebhook, 'events' | 'description'> {
  return {
    ...(event !== undefined && { events: event as NonNullable<NewWebhook['events']> }), // the platform checks the types
    ...(description !== undefined && { description }),
  };
}

function readChange(url: string | undefined, flags: UpdateFlags): WebhookChange {
  const { event, allEvents = false, enable = false, disable = false } = flags;
  if (enable && disable) throw usageFailure('--enable cannot be combined with --disable');
  if (allEvents && event !== undefined) throw usageFailure('--all-events cannot be combined with --event');
  const change = {
    ...readSettings(flags),
    ...(url !== undefined && { url }),
    ...(allEvents && { events: null }),
    ...((enable || disable) && { enabled: enable }),
  };
  if (Object.keys(change).length > 0) return change;
  throw usageFailure(
    'there is nothing to change',
    'give a URL, --event, --all-events, --description, --enable or --disable',
  );
}

/** A failed attempt ends the command with an error. */
function describeAttempt({ delivered, status, error }: WebhookAttempt): string {
  if (delivered) return `Delivered (HTTP ${status})`;
  throw new CommandFailure(`not delivered: ${printable(error ?? 'no answer')}`);
}
