import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, waitFor } from '@svc/testing';

/** Starts the distribution's registry on loopback, empty. */
export async function startRegistry(folder: string): Promise<AsyncDisposable & { readonly host: string }> {
  const host = `127.0.0.1:${await freePort()}`;
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'config.yml');
  await writeFile(
    file,
    `version: 0.1\nlog: {level: error}\nstorage:\n  filesystem: {rootdirectory: ${folder}/data}\nhttp: {addr: "${host}", secret: bench}\n`,
  );
  const child = spawn('docker-registry', ['serve', file], { stdio: 'ignore' });
  const ended = once(child, 'close');
  const answers = (): Promise<boolean> =>
    fetch(`http://${host}/v2/`).then(
      () => true,
      () => false,
    );
  await waitFor(answers, { timeoutMs: 20_000, description: 'the registry to listen' });
  return {
    host,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
