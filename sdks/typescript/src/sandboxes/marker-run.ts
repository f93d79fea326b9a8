import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import { toBase64 } from './base64.ts';
import { CapturedOutput } from './captured-output.ts';
import {
  CommandInterruptedError,
  DEFAULT_LIMIT_MS,
  DEFAULT_MAX_OUTPUT_BYTES,
  type CommandResult,
  type RunnableCommand,
  type RunOptions,
} from './exec.ts';
import { explainRefusal } from './explain-refusal.ts';
import { RawShell } from './raw-shell.ts';

/** Below 4096 bytes, the longest line of a terminal in canonical mode (termios(3), MAX_CANON). */
const LINE_BYTES = 3072;
const SHELL_TIMEOUT_MS = 30_000;
const INTERRUPT_GRACE_MS = 2_000;

/**
 * Runs a command on a server that offers only a shell on a terminal. The command, its input and its output are files,
 * so prompts, echo and escape codes cannot be mistaken for output. Only the exit code travels over the terminal,
 * between two control characters and after a random 128-bit word unknown to programs in the sandbox.
 */
export async function markerRun(
  transport: SandboxTransport,
  id: string,
  command: RunnableCommand,
  options: RunOptions,
): Promise<CommandResult> {
  const nonce = randomWord();
  const base = `/tmp/.run-${randomWord()}`;
  const startedAtMs = performance.now();
  const { signal } = options;
  const shell = await RawShell.open(transport, id, signal).catch(async (error: unknown) => {
    throw await explainRefusal(transport, id, error, { session: undefined, joins: false, signal });
  });
  try {
    await prepare(shell, nonce, base, command, options);
    const run = `sh -c 'echo $$ >${base}.pid; exec sh ${base}.sh' <${base}.in >${base}.out 2>${base}.err`;
    const ended = shell.find(new RegExp(`\u001e${nonce}:(\\d{1,3})\u001f`));
    shell.say(` ${run}; printf '\\036%s:%d\\037' ${split(nonce)} $?\n`);
    const { exitCode, timedOut } = await waitForEnd(transport, id, shell, ended, base, options);
    return {
      ...(await readOutputs(transport, id, base, options)),
      exitCode,
      signal: null,
      timedOut,
      durationMs: Math.round(performance.now() - startedAtMs),
    };
  } finally {
    shell.close();
    await removeFiles(transport, id, base);
  }
}

/** Silences the shell and writes the script and its input, each piece after the previous one has arrived. */
async function prepare(
  shell: RawShell,
  nonce: string,
  base: string,
  command: RunnableCommand,
  options: RunOptions,
): Promise<void> {
  const quiet = 'stty -echo -onlcr 2>/dev/null; PS1=; PS2=; unset PROMPT_COMMAND HISTFILE';
  const ready = new RegExp(`\u001e${nonce}\u001f`);
  const mark = `printf '\\036%s\\037' ${split(nonce)}`;
  const step = async (line: string): Promise<void> => {
    const done = shell.find(ready);
    shell.say(` ${line}; ${mark}\n`);
    await shell.within(done, SHELL_TIMEOUT_MS, 'The shell of the sandbox does not respond');
  };
  await step(quiet);
  await step(`umask 077; : >${base}.64`);
  const files: [string, Uint8Array][] = [
    ['sh', new TextEncoder().encode(renderScript(command, options))],
    [
      'in',
      typeof options.stdin === 'string' ? new TextEncoder().encode(options.stdin) : (options.stdin ?? new Uint8Array()),
    ],
  ];
  for (const [name, bytes] of files) {
    const text = toBase64(bytes);
    for (let start = 0; start < text.length; start += LINE_BYTES) {
      await step(`printf %s '${text.slice(start, start + LINE_BYTES)}' >>${base}.64`);
    }
    await step(`base64 -d <${base}.64 >${base}.${name}; : >${base}.64`);
  }
}

async function waitForEnd(
  transport: SandboxTransport,
  id: string,
  shell: RawShell,
  ended: Promise<RegExpExecArray>,
  base: string,
  options: RunOptions,
): Promise<{ exitCode: number; timedOut: boolean }> {
  const limitMs = options.limitMs ?? DEFAULT_LIMIT_MS;
  if (await isWithin(ended, limitMs)) return { exitCode: Number((await ended)[1]), timedOut: false };
  shell.say('\u0003'); // Ctrl-C
  if (!(await isWithin(ended, INTERRUPT_GRACE_MS))) {
    // The command ignores Ctrl-C and blocks its shell, so another shell kills its process group.
    const other = await RawShell.open(transport, id, undefined);
    other.say(` kill -KILL -- "-$(cat ${base}.pid)"; kill -KILL "$(cat ${base}.pid)"; exit\n`);
    await isWithin(ended, INTERRUPT_GRACE_MS);
    other.close();
  }
  return { exitCode: -1, timedOut: true };
}

/** Rejects with the promise's error. */
async function isWithin(promise: Promise<unknown>, timeMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeMs);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function readOutputs(
  transport: SandboxTransport,
  id: string,
  base: string,
  options: RunOptions,
): Promise<Pick<CommandResult, 'stdout' | 'stderr' | 'truncated'>> {
  const read = async (name: string, listener: RunOptions['onStdout']): Promise<CapturedOutput> => {
    const captured = new CapturedOutput(options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES);
    const response = await transport.stream('GET', `${pathOf(id)}/files`, { query: { path: `${base}.${name}` } });
    const reader = response.body?.getReader();
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) return captured;
      captured.push(piece.value);
      await listener?.(piece.value);
    }
  };
  const stdout = await read('out', options.onStdout);
  const stderr = await read('err', options.onStderr);
  return { stdout: stdout.text(), stderr: stderr.text(), truncated: stdout.truncated || stderr.truncated };
}

async function removeFiles(transport: SandboxTransport, id: string, base: string): Promise<void> {
  const names = ['sh', 'in', '64', 'pid', 'out', 'err'];
  // A deleted sandbox takes its files with it.
  await Promise.all(
    names.map((name) =>
      transport.call('DELETE', `${pathOf(id)}/files`, { query: { path: `${base}.${name}` } }).catch(() => undefined),
    ),
  );
}

function renderScript(command: RunnableCommand, { cwd, env = {} }: RunOptions): string {
  const argv = typeof command === 'string' ? ['sh', '-c', command] : command;
  const lines = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new CommandInterruptedError(`${name} is not a valid variable name`);
    return `export ${name}=${quote(value)}`;
  });
  if (cwd !== undefined) lines.push(`cd -- ${quote(cwd)} || exit 1`);
  return `${[...lines, `exec ${argv.map(quote).join(' ')}`].join('\n')}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Splits the word into two shell words, so that the echo of the input never contains it. */
function split(word: string): string {
  return `'${word.slice(0, 8)}''${word.slice(8)}'`;
}

function randomWord(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
