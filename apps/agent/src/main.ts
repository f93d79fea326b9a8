#!/usr/bin/env node
import { readBuildInfo, type BuildInfo } from './build-info.ts';
import { runAgentCommand } from './command-line.ts';

/** Written into the bundle of a delivered agent; in a source tree there is none. */
declare const SVC_AGENT_BUILD: BuildInfo | undefined;

const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;

// Nobody reads what it prints: that ends neither the schema with a stack trace nor an agent that runs.
process.stdout.on('error', () => undefined);

let asked = false;
const ended = runAgentCommand({
  arguments: process.argv.slice(2),
  environment: process.env,
  build: () => (typeof SVC_AGENT_BUILD === 'undefined' ? readBuildInfo(import.meta.dirname) : SVC_AGENT_BUILD),
  print: (line) => void process.stdout.write(`${line}\n`),
  printError: (line) => void process.stderr.write(`${line}\n`),
  onSignal: (listener) => {
    const listeners = SIGNALS.map((name) => {
      const heard = (): void => {
        if (name !== 'SIGHUP' && asked) process.exit(130); // the second Ctrl-C does not wait
        if (name !== 'SIGHUP') asked = true;
        listener(name);
      };
      process.on(name, heard);
      return () => process.off(name, heard);
    });
    return () => listeners.forEach((off) => off());
  },
});
// No await here: the delivered agent is CommonJS. What is not caught ends the process with its stack, as everywhere.
void ended.then((exitCode) => (process.exitCode = exitCode));
