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

/** `svc forward CLUSTER NAME LOCAL_PORT`: a port of this machine becomes one of the cluster. */
export function registerForwardCommand(program: Command): void {
  const command = program
    .command('forward')
    .description('reach a service of a cluster at a port of this machine, until Ctrl-C')
    .argument('<cluster>', 'name or id of the cluster')
    .argument('<name>', 'a forward of its agent (tunnel.forwards), or kubernetes')
    .argument('<local port>', 'port of this machine; 0 = any free one')
    .option('--address <address>', 'address of this machine to listen on', '127.0.0.1');
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
  await session.connect(); // a refusal is told now and not with the first connection
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
      `${address} is ${name} of ${cluster} (Ctrl-C ends it)`,
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
  throw usageFailure(`${JSON.stringify(text)} is no port`, 'a number from 0 to 65535');
}
