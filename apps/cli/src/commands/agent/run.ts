import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The agent's program as a process of its own, with our outputs and signals; answers its exit code. */
export function runAgent(given: readonly string[]): Promise<number> {
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
