#!/usr/bin/env node
import { runAgentCommand } from './command-line.ts';

const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;

let asked = false;
process.exitCode = await runAgentCommand({
  arguments: process.argv.slice(2),
  environment: process.env,
  folder: import.meta.dirname,
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
