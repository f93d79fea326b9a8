import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';

/** `svc agent run|validate …` is `svc-agent run|validate …`: same program, same options, same exit code. */
export function registerAgentCommand(program: Command): void {
  program
    .command('agent')
    .description('run the in-cluster agent, or check its configuration (see svc agent --help)')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[arguments...]', 'run|validate --config PATH')
    .action(async (given: string[]) => {
      process.exitCode = await runAgent(given);
    });
}

function runAgent(given: readonly string[]): Promise<number> {
  const entry = fileURLToPath(import.meta.resolve('@svc/agent/main'));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, entry, ...given], { stdio: 'inherit' });
    // The terminal sends Ctrl-C to both; a service manager signals only this process.
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGTERM', forward);
    process.on('SIGHUP', forward);
    process.on('SIGINT', () => undefined);
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
