import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient, type SvcClient } from '@svc/sdk';
import { temporaryFolder } from '@svc/testing';
import { removeSandboxes } from '../../system/remove-sandboxes.ts';

export interface RunningPlatform extends AsyncDisposable {
  readonly url: string;
  readonly s3Endpoint: string;
  readonly workspaceUuid: string;
  readonly dataFolder: string;
  readonly owner: { readonly email: string; readonly password: string };
  /** Calls the API as the owner. */
  readonly svc: SvcClient;
}

const MAIN = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));
const OWNER = { email: 'owner@example.com', password: 'correct horse battery staple' };
/** Output kept for the error message if the platform fails to start. */
const KEPT_OUTPUT_CHARS = 8192;

export interface PlatformOptions {
  /** Content of the configuration file; JSON is valid YAML. */
  config?: object;
}

/** Starts `svc up` with an empty folder and free ports. */
export async function startPlatform({ config = {} }: PlatformOptions = {}): Promise<RunningPlatform> {
  const folder = await temporaryFolder('svc-browser-');
  const dataFolder = join(folder.path, 'data');
  const configFile = join(folder.path, 'config.yaml');
  await writeFile(configFile, JSON.stringify(config));
  const ports = ['--port', '0', '--https-port', '0', '--s3-port', '0'];
  const child = spawn(
    process.execPath,
    [MAIN, 'up', '--json', '--data', dataFolder, '--config', configFile, ...ports],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, SVC_OWNER_EMAIL: OWNER.email, SVC_OWNER_PASSWORD: OWNER.password },
    },
  );
  const stop = async (): Promise<void> => {
    await endProcess(child);
    await folder.remove();
  };
  try {
    const ready = await readyLine(child);
    const credential = { kind: 'token', token: ready.token } as const;
    const svc = createClient({ baseUrl: ready.url, credential });
    return {
      url: ready.url,
      s3Endpoint: ready.s3_endpoint,
      workspaceUuid: ready.workspace_uuid,
      dataFolder,
      owner: OWNER,
      svc,
      [Symbol.asyncDispose]: async () => {
        await removeSandboxes(svc);
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ReadyLine {
  url: string;
  s3_endpoint: string;
  token: string;
  workspace_uuid: string;
}

async function readyLine(child: ChildProcess): Promise<ReadyLine> {
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output = `${output}${chunk.toString('utf8')}`.slice(-KEPT_OUTPUT_CHARS);
  });
  if (child.stdout === null) throw new Error('the platform has no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume(); // later output must not fill the pipe
    return JSON.parse(line) as ReadyLine; // the documented line of `svc up --json`
  }
  throw new Error(`the platform did not start:\n${output}`);
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
