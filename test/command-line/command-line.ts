import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { PROJECT_ROOT } from '../system/running-platform.ts';

export interface CommandOptions {
  input?: Uint8Array | string;
  environment?: Readonly<Record<string, string>>;
  folder?: string;
}

export interface CommandResult {
  /** Null if a signal ended it. */
  exitCode: number | null;
  stdout: Buffer;
  stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /** Resolves when it has ended and all of its output is read. */
  readonly ended: Promise<CommandResult>;
}

/** Runs `./svc …` with exactly the given environment. */
export class CommandLine {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #folder: string;

  constructor(environment: Readonly<Record<string, string>>, folder: string) {
    this.#environment = environment;
    this.#folder = folder;
  }

  /** Returns a command line with additional variables. */
  with(environment: Readonly<Record<string, string>>): CommandLine {
    return new CommandLine({ ...this.#environment, ...environment }, this.#folder);
  }

  start(args: readonly string[], options: CommandOptions = {}): RunningCommand {
    return this.#collect(join(PROJECT_ROOT, 'svc'), args, options);
  }

  #collect(program: string, args: readonly string[], { input, environment, folder }: CommandOptions): RunningCommand {
    const child = spawn(program, args, {
      cwd: folder ?? this.#folder,
      env: { PATH: process.env['PATH'] ?? '', ...this.#environment, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => undefined); // A command may end without reading its input; its exit code decides.
    child.stdin.end(input ?? '');
    const ended = Promise.all([once(child, 'close'), buffer(child.stdout), text(child.stderr)]).then(
      ([, stdout, stderr]) => ({ exitCode: child.exitCode, stdout, stderr }),
    );
    return { child, ended };
  }

  /** Runs a command with unread output; returns its exit code and stderr. */
  async runUnread(args: readonly string[]): Promise<{ exitCode: number | null; stderr: string }> {
    const child = spawn(join(PROJECT_ROOT, 'svc'), args, {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'] ?? '', ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { exitCode: child.exitCode, stderr };
  }

  run(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    return this.start(args, options).ended;
  }

  /** Runs a line on its own terminal (created by `script`); returns everything printed. */
  async onTerminal(line: string): Promise<string> {
    const { exitCode, stdout } = await this.#collect(
      'script',
      ['-qec', `${join(PROJECT_ROOT, 'svc')} ${line}`, '/dev/null'],
      {},
    ).ended;
    if (exitCode === 0) return stdout.toString();
    throw new Error(`svc ${line} ended with ${exitCode}:\n${stdout.toString()}`);
  }

  /** Returns the stdout of a command that must succeed. */
  async answer(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args, options);
    if (exitCode === 0) return stdout.toString();
    throw new Error(`svc ${args.join(' ')} ended with ${exitCode}:\n${stdout.toString()}\n${stderr}`);
  }

  /** Returns the command's parsed JSON; the caller specifies the documented shape. */
  async json<Answer>(args: readonly string[], options: CommandOptions = {}): Promise<Answer> {
    return JSON.parse(await this.answer([...args, '--json'], options)) as Answer;
  }

  /** For listings: one value per line. */
  async lines<Entry>(args: readonly string[]): Promise<Entry[]> {
    const lines = (await this.answer([...args, '--json'])).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Entry);
  }
}
