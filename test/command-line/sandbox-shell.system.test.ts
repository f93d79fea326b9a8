import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../system/run-program.ts';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

type Step = { see: string } | { type: string } | { resize: [number, number] } | { signal: number };

interface Seen {
  output: string;
  exit_code: number | null;
  signal: number | null;
  /** Whether the terminal's settings were restored. */
  restored: boolean;
}

const SIGHUP = 1;
const SIGTERM = 15;
const PROMPT = { see: '# ' };

/** A user at a terminal, which Python creates, since Node.js cannot. */
describeRequiring(['linux', 'root', 'command:python3'], 'svc sandbox shell', () => {
  let store: CommandStore;
  beforeAll(async () => {
    store = await startCommandStore();
    await store.svc.answer(['sandbox', 'create', 'busybox', '--name', 'box']);
  });
  afterAll(async () => {
    await store.svc.run(['sandbox', 'rm', '--all']);
    await store[Symbol.asyncDispose]();
  });

  const shell = async (args: readonly string[], steps: readonly Step[]): Promise<Seen> => {
    const { url, token } = store.platform.ready;
    const env = { PATH: process.env['PATH'] ?? '', HOME: store.home, SVC_URL: url, SVC_TOKEN: token };
    const argv = [join(PROJECT_ROOT, 'svc'), 'sandbox', 'shell', 'box', ...args];
    const script = fileURLToPath(new URL('terminal.py', import.meta.url));
    const input = JSON.stringify({ argv, env, cols: 90, rows: 30, steps });
    return JSON.parse(await runProgram('python3', [script], { input })) as Seen; // the script's own answer
  };

  it('follows the size of the terminal and passes on the exit code', async () => {
    const seen = await shell(
      [],
      [
        PROMPT,
        { type: 'stty size\r' },
        { see: '30 90' },
        { resize: [100, 40] },
        // The shell learns of it a moment later, as on any terminal.
        { type: 'while [ "$(stty size)" != "40 100" ]; do sleep 0.05; done; echo now$((1+1))\r' },
        { see: 'now2' },
        { type: 'exit 7\r' },
      ],
    );
    expect(seen).toMatchObject({ exit_code: 7, restored: true });
  });

  it('passes Ctrl-C and Ctrl-D to the shell', async () => {
    const seen = await shell(
      [],
      [
        PROMPT,
        // Wait until our program runs: during the shell's fork, input may reach neither process.
        { type: "sh -c 'echo be$((1+1)); exec sleep 600'\r" },
        { see: 'be2' },
        { type: '\u0003' },
        PROMPT,
        { type: '\u0004' },
      ],
    );
    expect(seen).toMatchObject({ restored: true, signal: null });
    expect(seen.exit_code).toBe(130); // of the last command, as in sh
  });

  it('detaches on ~d and reattaches with the earlier output', async () => {
    const left = await shell(
      ['--session', 'work'],
      [PROMPT, { type: 'KEPT=treasure; echo first$((1+1))\r' }, { see: 'first2' }, PROMPT, { type: '\r~d' }],
    );
    expect(left).toMatchObject({ exit_code: 0, restored: true });
    expect(left.output).toContain('run svc sandbox shell box --session work to rejoin');
    expect(await store.svc.answer(['sandbox', 'logs', 'box', '--session', 'work'])).toContain('first2');
    const back = await shell(
      ['--session', 'work'],
      [{ see: 'first2' }, { type: 'echo =$KEPT=\r' }, { see: '=treasure=' }, { type: 'exit\r' }],
    );
    expect(back.exit_code).toBe(0);
  });

  it('restores the terminal when terminated during a full-screen program', async () => {
    const steps = [
      PROMPT,
      { type: "printf '\\033[?1049h\\033[?25l'; echo full$((1+1)); sleep 600\r" },
      { see: 'full2' },
    ];
    for (const signal of [SIGTERM, SIGHUP]) {
      const seen = await shell([], [...steps, { signal }]);
      expect(seen).toMatchObject({ exit_code: 130, restored: true });
      expect(seen.output).toContain('\u001b[?1049l\u001b[?25h');
    }
    // An unnamed session ended with its command.
    expect((await store.svc.run(['sandbox', 'logs', 'box'])).stderr).toContain('no session was opened');
  });

  it('gives the reason when the sandbox ends', async () => {
    const stopping = (): Promise<unknown> => store.svc.answer(['sandbox', 'stop', 'box']);
    const seen = shell([], [PROMPT, { type: 'echo up$((1+1))\r' }, { see: 'up2' }, { see: 'the sandbox was stopped' }]);
    const sandboxes = async (): Promise<boolean> =>
      (await store.svc.run(['sandbox', 'logs', 'box'])).stdout.toString().includes('up2');
    await expect.poll(sandboxes, { interval: 500 }).toBe(true);
    await stopping();
    expect(await seen).toMatchObject({ exit_code: 1, restored: true });
  });

  it('requires a terminal', async () => {
    expect(await store.svc.run(['sandbox', 'shell', 'box'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('a shell requires a terminal (svc sandbox exec runs a command without one)'),
    });
  });
});
