import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, freePort, waitFor } from '@svc/testing';
import { assertRunning, startDaemon, type Daemon } from '../kubernetes/daemon.ts';

/** Records of the name server, which is authoritative for `.test`; nothing else exists. */
export interface Zone {
  /** Alias and target, which needs an address or alias of its own. */
  cnames?: Readonly<Record<string, string>>;
  addresses?: Readonly<Record<string, string>>;
}

export interface NameServer {
  /** `ADDRESS:PORT`. */
  readonly address: string;
  /** Serves these records from now on. */
  serve(zone: Zone): Promise<void>;
  /** Stops responding until `serve` is called again. */
  fallSilent(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the name server of Debian's package `dnsmasq-base`. New records require a new process on the same port. */
export async function startNameServer(): Promise<NameServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-names-'));
  const port = await freePort();
  let daemon: Daemon | null = null;
  let generation = 0;
  const fallSilent = async (): Promise<void> => {
    await daemon?.stop();
    daemon = null;
  };
  return {
    address: `127.0.0.1:${port}`,
    fallSilent,
    serve: async (zone) => {
      await fallSilent();
      generation += 1;
      const marker = `generation-${generation}.test`;
      const file = join(folder, 'dnsmasq.conf');
      await writeFile(file, configuration(zone, marker, port));
      const started = startDaemon(folder, 'dnsmasq', findCommand('dnsmasq') ?? 'dnsmasq', [`--conf-file=${file}`]);
      daemon = started;
      await answers(started, marker, port);
    },
    stop: async () => {
      await fallSilent();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configuration({ cnames = {}, addresses = {} }: Zone, marker: string, port: number): string {
  return [
    'keep-in-foreground',
    'no-resolv',
    'no-hosts',
    'bind-interfaces',
    'listen-address=127.0.0.1',
    `port=${port}`,
    'pid-file=',
    ...(process.getuid?.() === 0 ? ['user=root'] : []),
    'local=/test/',
    `host-record=${marker},127.0.0.1`,
    ...Object.entries(addresses).map(([name, address]) => `host-record=${name},${address}`),
    ...Object.entries(cnames).map(([alias, name]) => `cname=${alias},${name}`),
    '',
  ].join('\n');
}

async function answers(daemon: Daemon, marker: string, port: number): Promise<void> {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  await waitFor(
    async () => {
      await assertRunning(daemon);
      return (await resolver.resolve4(marker)).length > 0;
    },
    { description: 'the name server' },
  );
}
