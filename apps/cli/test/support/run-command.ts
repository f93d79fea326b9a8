import { Command, CommanderError } from 'commander';
import { vi } from 'vitest';
import { CommandFailure, EXIT } from '../../src/client/command-failure.ts';
import { registerCommands } from '../../src/commands/all-commands.ts';
import { describeFailure } from '../../src/failure.ts';

const WATCH_EVERY_MS = 20;

export interface CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command in this process, as `main.ts` does, with exactly these variables. One at a time. A command that serves
 * is interrupted, as by Ctrl-C, when `isEnough` says so.
 */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  isEnough: () => boolean = () => false,
): Promise<CommandRun> {
  const output = { stdout: '', stderr: '' };
  for (const name of Object.keys(process.env)) if (/^(SVC|SANDBOX)_/.test(name)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  for (const stream of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[stream], 'write').mockImplementation((chunk) => {
      output[stream] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    });
  }
  const program = new Command('svc').exitOverride();
  const watch = setInterval(() => {
    if (!isEnough()) return;
    clearInterval(watch);
    process.emit('SIGINT', 'SIGINT');
  }, WATCH_EVERY_MS);
  try {
    await registerCommands(program, args[0]);
    await program.parseAsync(['node', 'svc', ...args]);
    return { exitCode: 0, ...output };
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : EXIT.usage, ...output };
    const exitCode = error instanceof CommandFailure ? error.exitCode : EXIT.failed;
    return { exitCode, stdout: output.stdout, stderr: `${output.stderr}${describeFailure(error)}\n` };
  } finally {
    clearInterval(watch);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

/** Every command that does something, by its words, and whether it connects to a platform. */
export async function listCommands(): Promise<ReadonlyMap<string, boolean>> {
  const program = new Command('svc');
  await registerCommands(program, undefined);
  const found = new Map<string, boolean>();
  const visit = (command: Command, words: readonly string[]): void => {
    if (command.commands.length === 0)
      found.set(
        words.join(' '),
        command.options.some(({ long }) => long === '--url'),
      );
    for (const each of command.commands) visit(each, [...words, each.name()]);
  };
  for (const each of program.commands) visit(each, [each.name()]);
  return found;
}
