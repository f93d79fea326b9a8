import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { listParts } from './list.ts';
import { runTests } from './run.ts';

interface TestFlags {
  all?: boolean;
  list?: boolean;
}

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** `./svc test`: runs everything this machine supports, or the matching parts. */
await new Command('svc test')
  .description('Run the tests')
  .argument('[patterns...]', 'names of parts, text in paths of test files, or text in names of tests')
  .option('--all', 'also run the parts that need something from outside, and skip nothing')
  .option('--list', 'list the parts')
  .action(async (patterns: string[], flags: TestFlags) => {
    if (flags.list === true) process.stdout.write(listParts(root));
    else process.exitCode = await runUntilSignal(patterns, flags.all === true);
  })
  .parseAsync();

async function runUntilSignal(patterns: string[], all: boolean): Promise<number> {
  const ending = new AbortController();
  const onSignal = (): void => {
    if (ending.signal.aborted) process.exit(130); // a second Ctrl-C exits immediately
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
