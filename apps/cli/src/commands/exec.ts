import { once } from 'node:events';
import type { Cluster, ShellOutput, ShellRequest } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { readDurationMs } from '../client/key-request.ts';
import { addConnectionOptions } from '../client/session.ts';
import { OwnTerminal } from '../terminal/own-terminal.ts';
import { runClusterShell } from '../terminal/run-cluster-shell.ts';
import { choosePod } from './cluster/choose-pod.ts';
import { withClusters, type ClusterSession } from './cluster/with-clusters.ts';
import { forwardInput } from './forward-input.ts';

interface ExecFlags extends ConnectionFlags {
  namespace: string;
  container?: string;
  stdin?: boolean;
  tty?: boolean;
  timeout?: string;
}

interface Place {
  pod: string;
  namespace: string;
  container?: string;
}

/** `svc exec CLUSTER POD -- COMMAND`: runs a command in a container of a cluster. */
export function registerExecCommand(program: Command): void {
  addConnectionOptions(program.command('exec'))
    .description('Run a command in a container of a cluster and return its exit code')
    .argument('<cluster>', 'Cluster name or ID')
    .argument('<pod>', 'Pod name, or a workload such as deployment/web for one of its pods')
    .argument('[command...]', 'Command after --; with -it, defaults to a shell')
    .option('-n, --namespace <name>', 'Namespace of the pod', 'default')
    .option('-c, --container <name>', 'Container (default: the default or only container of the pod)')
    .option('-i, --stdin', 'Pass standard input to the container; requires the tunnel of the agent')
    .option('-t, --tty', 'Allocate a TTY; requires the tunnel of the agent')
    .option('--timeout <time>', 'Time limit without -i and -t (default 60s)')
    .addHelpText(
      'after',
      '\nsvc exec production deployment/web -it            opens a shell; ~. at the beginning of a line ends it' +
        '\nsvc exec production web-1 -c main -- ls -l /srv   what follows -- belongs to the command',
    )
    .action((name: string, target: string, command: string[], flags: ExecFlags) =>
      withClusters(flags, async (session) => {
        if (command.length === 0 && flags.tty !== true) throw usageFailure('a command is required', 'after --, or -it');
        const cluster = session.clusters.of(name);
        const { pod, candidates } = await choosePod(cluster, target, flags.namespace, session.signal);
        if (candidates > 1) session.output.warn(`${target} has ${candidates} pods; using ${pod}`);
        const place = {
          pod,
          namespace: flags.namespace,
          ...(flags.container === undefined ? {} : { container: flags.container }),
        };
        if (flags.tty === true) await onTerminal(session, cluster, place, command);
        else if (flags.stdin === true) await withInput(session, cluster, { ...place, command, tty: false });
        else await alone(session, cluster, place, command, flags);
      }),
    );
}

async function onTerminal(session: ClusterSession, cluster: Cluster, place: Place, command: string[]): Promise<void> {
  const own = new OwnTerminal(process.stdin, process.stdout, 'svc exec without -t runs a command without one');
  const { signal, output } = session;
  const shell = await cluster.shell(
    { ...place, ...(command.length === 0 ? {} : { command }), ...own.size },
    { signal },
  );
  await runClusterShell(own, shell, { note: (line) => output.warn(line), signal });
}

/** Runs a command without input, over the agent's own connection, which needs no tunnel. */
async function alone(
  { output, signal }: ClusterSession,
  cluster: Cluster,
  place: Place,
  command: string[],
  flags: ExecFlags,
): Promise<void> {
  const timeoutSeconds = flags.timeout === undefined ? undefined : Math.ceil(readDurationMs(flags.timeout) / 1000);
  const request = { ...place, command, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
  const onOutput = output.json
    ? undefined
    : (stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> => show({ stream, bytes });
  const { exitCode, truncated, ...result } = await cluster.exec(request, { onOutput, signal });
  output.answer({ exit_code: exitCode, truncated, ...result }, []);
  if (truncated) output.warn('output truncated at 1 MiB; use -i to stream all of it');
  if (exitCode !== 0) throw new CommandFailure('', { exitCode });
}

/** Streams input and output. */
async function withInput({ signal }: ClusterSession, cluster: Cluster, request: ShellRequest): Promise<void> {
  const shell = await cluster.shell(request, { signal });
  shell.onData(show);
  const input = forwardInput(shell);
  try {
    const { exitCode } = await shell.ended;
    if (exitCode !== 0) throw new CommandFailure('', { exitCode });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    shell.close();
    process.stdin.destroy(); // nothing reads the remaining input
    await input;
  }
}

async function show({ stream, bytes }: ShellOutput): Promise<void> {
  const output = stream === 'stderr' ? process.stderr : process.stdout;
  if (!output.write(bytes)) await once(output, 'drain');
}
