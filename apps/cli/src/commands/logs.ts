import { once } from 'node:events';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { readDurationMs } from '../client/key-request.ts';
import { addConnectionOptions } from '../client/session.ts';
import { choosePod } from './cluster/choose-pod.ts';
import { readCount, withClusters } from './cluster/with-clusters.ts';

interface LogFlags extends ConnectionFlags {
  follow?: boolean;
  namespace: string;
  container?: string;
  tail?: string;
  since?: string;
  previous?: boolean;
  timestamps?: boolean;
}

/** `svc logs CLUSTER POD`: what a container of a cluster has written. */
export function registerLogsCommand(program: Command): void {
  addConnectionOptions(program.command('logs'))
    .description('the log of a container of a cluster; with --json one line of JSON for each piece')
    .argument('<cluster>', 'name or id')
    .argument('<pod>', 'its name, or such as deployment/web for one of its pods')
    .option('-f, --follow', 'go on with what comes, until the container is gone or Ctrl-C')
    .option('-n, --namespace <name>', 'where the pod is', 'default')
    .option('-c, --container <name>', 'which one of the pod (default its default or only one)')
    .option('--tail <lines>', 'so many of the last lines (default 100, at most 10000)')
    .option('--since <time>', 'what is younger, such as 10m')
    .option('--previous', 'of the container before its last restart')
    .option('--timestamps', 'each line with its time')
    .action((name: string, target: string, flags: LogFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const cluster = clusters.of(name);
        const { pod, candidates } = await choosePod(cluster, target, flags.namespace, signal);
        if (candidates > 1) output.warn(`${target} has ${candidates} pods; this is ${pod}`);
        const request = {
          pod,
          namespace: flags.namespace,
          container: flags.container,
          follow: flags.follow,
          previous: flags.previous,
          timestamps: flags.timestamps,
          tailLines: flags.tail === undefined ? undefined : readCount(flags.tail, '--tail'),
          sinceSeconds:
            flags.since === undefined ? undefined : Math.max(1, Math.ceil(readDurationMs(flags.since) / 1000)),
        };
        let isLost = false;
        const onReconnect = (): void => {
          if (!isLost) output.warn('the connection was lost; going on behind the last line');
          isLost = true;
        };
        for await (const { text, droppedBytes, droppedLines } of cluster.logs(request, { signal, onReconnect })) {
          isLost = false;
          if (output.json) {
            output.entry({ text, dropped_bytes: droppedBytes, dropped_lines: droppedLines }, '');
            continue;
          }
          if (droppedLines > 0) output.warn(`${droppedLines} lines were dropped: the platform is too slow`);
          if (droppedBytes > 0) output.warn(`${droppedBytes} bytes were dropped: this reader is too slow`);
          if (!process.stdout.write(text)) await once(process.stdout, 'drain');
        }
      }),
    );
}
