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

/** `svc logs CLUSTER POD`: prints the log of a container in a cluster. */
export function registerLogsCommand(program: Command): void {
  addConnectionOptions(program.command('logs'))
    .description('Print the logs of a container of a cluster; with --json, one JSON object per line')
    .argument('<cluster>', 'Cluster name or ID')
    .argument('<pod>', 'Pod name, or a workload such as deployment/web for one of its pods')
    .option('-f, --follow', 'Follow the log until the container ends or Ctrl-C')
    .option('-n, --namespace <name>', 'Namespace of the pod', 'default')
    .option('-c, --container <name>', 'Container (default: the default or only container of the pod)')
    .option('--tail <lines>', 'Number of recent lines (default 100, at most 10000)')
    .option('--since <time>', 'Only show lines newer than this, such as 10m')
    .option('--previous', 'Show the log of the previous instance of the container')
    .option('--timestamps', 'Prefix each line with its timestamp')
    .action((name: string, target: string, flags: LogFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const cluster = clusters.of(name);
        const { pod, candidates } = await choosePod(cluster, target, flags.namespace, signal);
        if (candidates > 1) output.warn(`${target} has ${candidates} pods; using ${pod}`);
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
          if (!isLost) output.warn('connection lost; resuming after the last line');
          isLost = true;
        };
        for await (const { text, droppedBytes, droppedLines } of cluster.logs(request, { signal, onReconnect })) {
          isLost = false;
          if (output.json) {
            output.entry({ text, dropped_bytes: droppedBytes, dropped_lines: droppedLines }, '');
            continue;
          }
          if (droppedLines > 0) output.warn(`${droppedLines} lines dropped: the platform cannot keep up`);
          if (droppedBytes > 0) output.warn(`${droppedBytes} bytes dropped: the reader is too slow`);
          if (!process.stdout.write(text)) await once(process.stdout, 'drain');
        }
      }),
    );
}
