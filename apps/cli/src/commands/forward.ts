import { once } from 'node:events';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { addConnectionOptions } from '../client/session.ts';
import { ForwardSession } from '../forward/forward-session.ts';
import { listenLocally, type LocalListener } from '../forward/local-listener.ts';
import { withClusters, type ClusterSession } from './cluster/with-clusters.ts';

interface ForwardFlags extends ConnectionFlags {
  address?: string;
}

/** `svc forward CLUSTER NAME LOCAL_PORT`: forwards a local port to a service of the cluster. */
export function registerForwardCommand(program: Command): void {
  const command = program
    .command('forward')
    .description('Forward a local port to a service of a cluster until Ctrl-C')
    .argument('<cluster>', 'Cluster name or ID')
    .argument('<name>', 'Name of a forward (tunnel.forwards of the agent), or kubernetes')
    .argument('<local port>', 'Local port; 0 picks a free one')
    .option('--address <address>', 'Local address to listen on', '127.0.0.1');
  addConnectionOptions(command).action((cluster: string, name: string, port: string, flags: ForwardFlags) =>
    withClusters(flags, (session) => forward({ cluster, name, port: toPort(port) }, flags, session)),
  );
}

async function forward(
  { cluster, name, port }: { cluster: string; name: string; port: number },
  flags: ForwardFlags,
  { clusters, target, output, signal }: ClusterSession,
): Promise<void> {
  const known = await target();
  const { cluster_id: clusterId } = await clusters.of(cluster).endpoints({ signal });
  const host = flags.address ?? '127.0.0.1';
  const session = new ForwardSession({ ...known, clusterId, service: name }, signal);
  await session.connect(); // report a refusal now instead of at the first connection
  let listener: LocalListener | null = null;
  try {
    listener = await listenLocally(
      { host, port },
      () => session.open(),
      (reason) => output.warn(reason),
    ).catch((cause: unknown) => {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
      throw new CommandFailure(`cannot listen on ${host}:${port}: ${code}`, { cause });
    });
    const address = `${host}:${listener.port}`;
    output.answer({ address, port: listener.port, cluster: clusterId, service: name }, [
      `Forwarding ${address} to ${name} of ${cluster} (press Ctrl-C to stop)`,
    ]);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await listener?.close();
    await session.close();
  }
}

function toPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw usageFailure(`${JSON.stringify(text)} is not a port`, 'use a number from 0 to 65535');
}
