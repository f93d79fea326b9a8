import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HelperConnection } from '@svc/sandboxes/testing/helper-connection';
import type { EscapeCase } from './escape-case.ts';
import type { Outcome } from './outcome.ts';
import { hostileHelper, politeHelper } from './hostile-frames.ts';

const HELPER = '/.sandbox/agent';

/** Attacks on other processes, on the helper, and through the helper. */
export function processCases(): EscapeCase[] {
  return [
    {
      title: 'traces the helper',
      attempt: async ({ sandbox }) => (await sandbox('one')).probe('trace', '1'),
      control: async ({ sandbox }) => (await sandbox('one')).probe('trace', 'child'),
    },
    {
      title: "reads the helper's memory, environment and descriptors",
      attempt: async ({ sandbox }) =>
        (await sandbox('one')).probe('read', '/proc/1/mem', '/proc/1/environ', '/proc/1/fd/0', '/proc/1/fd/3'),
      control: async ({ sandbox }) => (await sandbox('one')).probe('read', '/proc/self/mem'),
    },
    {
      title: 'reaches another root through /proc/1/root and /proc/1/cwd',
      attempt: async ({ sandbox }) => (await sandbox('one')).probe('read', '/proc/1/root/', '/proc/1/cwd/'),
      control: async ({ sandbox }) => (await sandbox('one')).probe('read', '/proc/self/root/'),
    },
    {
      title: 'ends the helper',
      attempt: async ({ sandbox }) => {
        const victim = await sandbox('victim'); // a separate sandbox, because it may end with its helper
        await victim.probe('kill', '1').catch(() => undefined);
        const stdout = await victim.shell('echo alive').then(
          (result) => result.stdout,
          () => 'the connection ended',
        );
        return { done: stdout !== 'alive\n', detail: stdout };
      },
      control: async ({ sandbox }) =>
        (await sandbox('one')).shell('sleep 60 & /root/probe kill $!; wait $!').then(killed),
    },
    {
      title: 'replaces the helper binary (CVE-2019-5736)',
      attempt: async ({ sandbox }) => {
        const one = await sandbox('one');
        const [file, running] = [await one.probe('overwrite', HELPER), await one.probe('write', '/proc/1/exe')];
        return { done: file.done || running.done, detail: `${file.detail}; ${running.detail}` };
      },
      control: async ({ sandbox }) => {
        const one = await sandbox('one');
        await one.shell(`cp ${HELPER} /root/copy`);
        return one.probe('overwrite', '/root/copy');
      },
    },
    {
      title: 'connects to the helper like the platform',
      attempt: async ({ sandbox }) => (await sandbox('one')).probe('helper'),
      control: async ({ sandbox }) => {
        await (await sandbox('one')).connection.ping();
        return { done: true, detail: 'the platform does' };
      },
    },
    {
      title: 'sends frames that crash, block or fill the platform',
      attempt: hostileHelper,
      control: () => politeHelper((stream) => HelperConnection.over(stream, AbortSignal.timeout(5000))),
    },
    signalCase(),
    {
      title: 'gains root as another user through a set-user-ID program of root',
      attempt: async ({ sandbox }) => (await sandbox('one')).probe('set-uid', '/tmp'),
      control: ({ host }) => host('set-uid', '/var/tmp'),
    },
    terminalCase(),
  ];
}

function killed({ exitCode }: { readonly exitCode: number | null }): Outcome {
  return { done: exitCode === 137, detail: `exit code ${exitCode}` };
}

/** Signals a host process by its host pid. */
function signalCase(): EscapeCase {
  const against = async (attack: (pid: string) => Promise<Outcome>): Promise<Outcome> => {
    const victim = spawn('sleep', ['300'], { stdio: 'ignore' });
    await once(victim, 'spawn');
    const ended = once(victim, 'exit');
    const { detail } = await attack(String(victim.pid));
    const done = await isGone(victim.pid ?? 0);
    victim.kill('SIGKILL');
    await ended;
    return { done, detail };
  };
  return {
    title: 'signals processes of this host',
    attempt: ({ sandbox }) => against(async (pid) => (await sandbox('one')).probe('kill', pid)),
    control: ({ host }) => against((pid) => host('kill', pid)),
  };
}

/** A killed process ends with a delay. */
async function isGone(pid: number): Promise<boolean> {
  for (let looks = 0; looks < 60; looks += 1) {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    if (/\) [ZX]/.test(status)) return true;
    await delay(50);
  }
  return false;
}

/** Types into a host terminal, whose line shows the input. */
function terminalCase(): EscapeCase {
  const against = async (attack: (path: string) => Promise<Outcome>): Promise<Outcome> => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-terminal-'));
    const file = join(folder, 'typed');
    await writeFile(file, '');
    const script = `tty > ${folder}/name; head -n 1 > ${file}`;
    const victim = spawn('script', ['--quiet', '--command', script, '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = once(victim, 'exit'); // it may end by itself after input
    try {
      const name = await contentOf(join(folder, 'name'));
      const { detail } = await attack(name);
      const line = await contentOf(file, 20);
      return { done: line.includes('typed-by-somebody'), detail };
    } finally {
      victim.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    }
  };
  const keys = 'typed-by-somebody\n';
  return {
    title: 'types into a terminal of this host (TIOCSTI)',
    attempt: ({ sandbox }) => against(async (path) => (await sandbox('one')).probe('type', path, keys)),
    control: ({ host }) => against((path) => host('type', path, keys)),
  };
}

/** Waits for a file to have content; empty if it never does. */
async function contentOf(file: string, attempts = 250): Promise<string> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const content = (await readFile(file, 'utf8').catch(() => '')).trim();
    if (content !== '') return content;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return '';
}
