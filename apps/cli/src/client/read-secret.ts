import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { usageFailure } from './command-failure.ts';

/** Reads a secret from a prompt without echo, or from a pipe; never from arguments, which the process list shows. */
export async function readSecret(label: string, { piped }: { piped: boolean }): Promise<string> {
  if (!piped && !process.stdin.isTTY) {
    throw usageFailure(
      `cannot prompt for the ${label.toLowerCase()}: standard input is not a terminal`,
      `pipe it in and add --${label.toLowerCase()}-stdin`,
    );
  }
  const secret = piped ? (await text(process.stdin)).replace(/\r?\n$/, '') : await ask(label);
  if (secret === '') throw usageFailure(`the ${label.toLowerCase()} is empty`);
  return secret;
}

function ask(label: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(`${label}: `);
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => {
      lines.close();
      reject(usageFailure('interrupted'));
    });
    lines.question('', (answer) => {
      process.stderr.write('\n');
      lines.close();
      resolve(answer);
    });
  });
}
