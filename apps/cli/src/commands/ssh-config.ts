import { join, resolve } from 'node:path';
import type { SshInfo } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { readIfThere, writePrivateFile } from '../client/private-file.ts';
import { addConnectionOptions } from '../client/session.ts';
import { knownHostName, setHostEntry, setKnownHost, type SshOption } from '../ssh-settings/host-entry.ts';
import { withSandboxes, type SandboxSession } from './sandbox/with-sandboxes.ts';

interface SshConfigFlags extends ConnectionFlags {
  host?: string;
  port?: string;
  alias?: string;
  file?: string;
  identity?: string;
  print?: boolean;
}

/** `svc ssh-config SANDBOX`: makes `ssh SANDBOX.svc` work, also for editors and `scp`. */
export function registerSshConfigCommand(program: Command): void {
  const command = program
    .command('ssh-config')
    .description('Write the OpenSSH configuration that reaches a sandbox')
    .argument('<name or id>', 'Sandbox name or ID')
    .option('--alias <name>', 'Hostname of the entry (default: the name of the sandbox and .svc)')
    .option('--host <name>', 'Address of the platform (default: the host of the platform URL)')
    .option('--port <number>', "SSH port, if it differs from the platform's")
    .option('--file <path>', 'Configuration file (default ~/.ssh/config)')
    .option('--identity <path>', 'Private key to log in with (default: your SSH keys, then a token)')
    .option('--print', 'Print the entry instead of writing it');
  addConnectionOptions(command).action((name: string, flags: SshConfigFlags) =>
    withSandboxes(flags, (session) => writeEntry(name, flags, session)),
  );
}

async function writeEntry(name: string, flags: SshConfigFlags, session: SandboxSession): Promise<void> {
  const { sandboxes, find, output, environment, signal } = session;
  const ssh = assertEnabled(await sandboxes.ssh({ signal }));
  const sandbox = await find(name);
  const { url, teamUuid } = await session.target();
  const host = flags.host ?? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const port = flags.port === undefined ? ssh.port : readPort(flags.port);
  const alias = readAlias(flags.alias ?? `${sandbox.info.name}.svc`);
  const file = flags.file ?? join(environment.home, '.ssh', 'config');
  const knownHosts = join(environment.configFolder, 'ssh_known_hosts');
  const options: SshOption[] = [
    ['HostName', host],
    ['Port', String(port)],
    ['User', teamUuid === undefined ? sandbox.id : `${sandbox.id}+${teamUuid}`],
    ['UserKnownHostsFile', knownHosts],
    ['StrictHostKeyChecking', 'yes'],
    ['PreferredAuthentications', 'publickey,password'],
    ...identityOptions(flags.identity),
    ['ForwardAgent', 'no'],
  ];
  const known = setKnownHost((await readIfThere(knownHosts)) ?? '', knownHostName(host, port), ssh.host_key);
  await writePrivateFile(knownHosts, known);
  if (flags.print === true) {
    output.answer(
      { alias, options: Object.fromEntries(options) },
      setHostEntry('', alias, options).trimEnd().split('\n'),
    );
    return;
  }
  await writePrivateFile(file, setHostEntry((await readIfThere(file)) ?? '', alias, options));
  output.answer({ path: file, alias, fingerprint: ssh.fingerprint }, [
    `Saved to ${file}`,
    `Run ssh ${alias}, with a key of svc ssh-key or an API token as the password`,
  ]);
}

function identityOptions(path: string | undefined): SshOption[] {
  if (path === undefined) return [];
  return [
    ['IdentityFile', path.startsWith('~') ? path : resolve(path)],
    ['IdentitiesOnly', 'yes'],
  ];
}

function assertEnabled(ssh: SshInfo): { port: number; host_key: string; fingerprint: string } {
  const { port, host_key: key, fingerprint } = ssh;
  if (port !== null && key !== null && fingerprint !== null) return { port, host_key: key, fingerprint };
  throw new CommandFailure('SSH is off on this platform', { hint: 'its operator sets sandboxes.ssh.port' });
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw usageFailure(`${JSON.stringify(text)} is not a port`);
}

/** One name, because patterns and lists would match other hosts, too. */
function readAlias(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$/.test(text)) return text;
  throw usageFailure(`${JSON.stringify(text)} is not a hostname`, 'use letters, digits, ., - and _');
}
