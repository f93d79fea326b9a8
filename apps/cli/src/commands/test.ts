import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';

interface TestFlags {
  all?: boolean;
  list?: boolean;
}

/** `svc test`: everything that this machine can run, or the parts that match. The runner is loaded only when asked for. */
export function registerTestCommand(program: Command): void {
  program
    .command('test')
    .description('run the tests; PATTERN is a part, text in the path of test files, or text in the name of tests')
    .argument('[patterns...]', 'what to run; everything on the embedded defaults when absent')
    .option('--all', 'also every part that needs something from outside; nothing may be skipped then')
    .option('--list', 'name the parts and stop')
    .action(async (patterns: string[], flags: TestFlags) => {
      const root = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '');
      if (flags.list === true) {
        const { listParts } = await import('./test/list.ts');
        process.stdout.write(listParts(root));
        return;
      }
      process.exitCode = await runUntilSignal(root, patterns, flags.all === true);
    });
}

async function runUntilSignal(root: string, patterns: string[], all: boolean): Promise<number> {
  const { runTests } = await import('./test/run.ts');
  const ending = new AbortController();
  const onSignal = (): void => {
    if (ending.signal.aborted) process.exit(130); // the second Ctrl-C does not wait
    ending.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const isRoot = process.getuid?.() === 0;
    const { env: environment, stdout: output } = process;
    return await runTests({ root, patterns, all, environment, isRoot, output, signal: ending.signal });
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
