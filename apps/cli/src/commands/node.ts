import { setTimeout as delay } from 'node:timers/promises';
import type { NodesClient, PlatformNode } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { readDurationMs } from '../client/key-request.ts';
import { renderNodes } from '../client/render-nodes.ts';
import { addConnectionOptions, withSession } from '../client/session.ts';

interface DrainFlags extends ConnectionFlags {
  wait?: boolean;
  timeout: string;
}

const POLL_MS = 1_000;
const DEFAULT_TIMEOUT = '15m';

/** `svc node …`: for the operator. */
export function registerNodeCommand(program: Command): void {
  const node = program.command('node').description('List and drain nodes, as the operator');
  registerList(node);
  registerDrain(node);
  registerUndrain(node);
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List replicas and sandbox nodes (* marks the one you are connected to)')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc } = await connect();
        const overview = await svc.nodes.list({ signal });
        output.answer(overview, renderNodes(overview));
      }),
    );
}

function registerDrain(parent: Command): void {
  addConnectionOptions(parent.command('drain'))
    .description('Drain a node: stop its sandboxes after a notice and start no new ones')
    .argument('<node>', 'Node ID or hostname; see svc node ls')
    .option('--wait', 'Wait until its sandboxes have stopped, and snapshots and templates are archived')
    .option('--timeout <time>', 'Timeout of --wait', DEFAULT_TIMEOUT)
    .action((name: string, flags: DrainFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const timeoutMs = readDurationMs(flags.timeout);
        const { svc } = await connect();
        const requested = await svc.nodes.drain(await resolveNode(svc.nodes, name, signal), { signal });
        const node = flags.wait === true ? await waitUntilDrained(svc.nodes, requested, timeoutMs, signal) : requested;
        output.answer(node, [describeDrain(node)]);
      }),
    );
}

function registerUndrain(parent: Command): void {
  addConnectionOptions(parent.command('undrain'))
    .description('End a drain; stopped sandboxes are not restarted')
    .argument('<node>', 'Node ID or hostname; see svc node ls')
    .action((name: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc } = await connect();
        const node = await svc.nodes.undrain(await resolveNode(svc.nodes, name, signal), { signal });
        output.answer(node, [`${node.id} starts sandboxes again`]);
      }),
    );
}

/** Resolves a hostname. Other names are ids, which the platform checks. */
async function resolveNode(nodes: NodesClient, name: string, signal: AbortSignal): Promise<string> {
  const { nodes: all } = await nodes.list({ signal });
  if (all.some(({ id }) => id === name)) return name;
  const [found, another] = all.filter(({ replica }) => replica?.host === name);
  if (another !== undefined) throw new CommandFailure(`more than one node has the hostname ${name}; use its ID`);
  return found?.id ?? name;
}

async function waitUntilDrained(
  nodes: NodesClient,
  { id }: PlatformNode,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PlatformNode> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const node = (await nodes.list({ signal })).nodes.find((each) => each.id === id);
    if (node === undefined || node.drain === null) throw new CommandFailure(`the drain of ${id} was ended meanwhile`);
    if (node.drain.state === 'drained') return node;
    if (performance.now() + POLL_MS > deadlineMs) {
      const reason = node.replica?.live === true ? '' : ', because no process serves it';
      throw new CommandFailure(`${id} was not drained in time${reason}: ${describeDrain(node)}`);
    }
    await delay(POLL_MS, undefined, { signal });
  }
}

function describeDrain({ id, drain }: PlatformNode): string {
  if (drain === null) return `${id} is not drained`;
  const { state, remaining, archiving, unarchived } = drain;
  if (state === 'draining') {
    const archives = archiving === 0 ? '' : `, ${archiving} snapshots and templates to archive`;
    return `${id} is draining: ${remaining} sandboxes to stop${archives}`;
  }
  if (unarchived === 0) return `${id} is drained`;
  return `${id} is drained, but ${unarchived} of its snapshots and templates are not archived: only this node has their files`;
}
