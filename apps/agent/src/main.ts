#!/usr/bin/env node
import { readBuildInfo, type BuildInfo } from './build-info.ts';
import { runAgentCommand } from './command-line.ts';

/** Defined in the bundle of a packaged agent; undefined in a source tree. */
declare const SVC_AGENT_BUILD: BuildInfo | undefined;

const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;

// If the reader of stdout is gone, neither crash the schema output with a stack trace nor end a running agent.
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
        if (name !== 'SIGHUP' && asked) process.exit(130); // a second Ctrl-C does not wait
        if (name !== 'SIGHUP') asked = true;
        listener(name);
      };
      process.on(name, heard);
      return () => process.off(name, heard);
    });
    return () => listeners.forEach((off) => off());
  },
});
// No await: the packaged agent is CommonJS. An uncaught error ends the process with its stack, as usual.
void ended.then((exitCode) => (process.exitCode = exitCode));
