import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBuildInfo } from '../../src/build-info.ts';
import { publishedSchema, runAgentCommand } from '../../src/command-line.ts';
import { TestPlatform } from '../support/index.ts';

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

async function run(args: string[], file?: string, environment: Record<string, string> = {}) {
  const out: string[] = [];
  const errors: string[] = [];
  const path = join(folder.path, 'config.yaml');
  if (file !== undefined) await writeFile(path, file);
  const code = await runAgentCommand({
    arguments: file === undefined ? args : [...args, '--config', path],
    environment,
    build: () => readBuildInfo(join(import.meta.dirname, '../../src')),
    print: (line) => void out.push(line),
    printError: (line) => void errors.push(line),
    onSignal: () => () => undefined,
  });
  return { code, out, errors };
}

const VALID = 'agent: {cluster_name: a}\nsvc: {api_url: "https://b", token: c}\n';

describe('svc-agent validate', () => {
  it('prints three lines for a valid configuration', async () => {
    const { code, out } = await run(['validate'], VALID);
    expect(code).toBe(0);
    expect(out).toEqual([
      '✓ Configuration is valid',
      '✓ All required fields present',
      '✓ All values within acceptable ranges',
    ]);
  });

  it('prints one line per fault with its path, and exits with 1', async () => {
    const { code, out } = await run(['validate'], 'agent: {cluster_name: "A"}\nhttp: {port: -1}\nextra: 1\n');
    expect(code).toBe(1);
    expect(out).toHaveLength(5);
    for (const path of ['agent.cluster_name', 'http.port', 'extra', 'svc.api_url', 'svc.token']) {
      expect(out.filter((line) => line.startsWith(`✗ ${path} `))).toHaveLength(1);
    }
  });

  it('reports a missing file and invalid YAML', async () => {
    expect((await run(['validate', '--config', '/nowhere/x.yaml'])).out.join('\n')).toContain('cannot be read');
    expect(await run(['validate'], 'a: [')).toMatchObject({ code: 1 });
  });
});

describe('the svc-agent program', () => {
  it('loads no web framework, not even from a checkout', async () => {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });`;
    const main = join(import.meta.dirname, '../../src/main.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(hook)}`,
      main,
      'version',
    ]);
    const packages = new Set(stdout.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g).map(([, name]) => name));
    expect(packages).toContain('ws');
    for (const name of ['fastify', '@fastify/swagger', 'ajv', 'commander']) expect(packages).not.toContain(name);
  });
});

describe('svc-agent', () => {
  it('rejects unknown arguments and prints its usage', async () => {
    expect(await run(['dance'])).toMatchObject({ code: 2 });
    expect(await run(['--colour'])).toMatchObject({ code: 2 });
    expect((await run(['--help'])).out.join('')).toContain('svc-agent validate');
    expect((await run(['version'])).out).toEqual(['0.1.0']);
  });

  it('does not start with an invalid configuration, and names each fault', async () => {
    const { code, errors } = await run(['run'], 'http: {port: x}\n');
    expect(code).toBe(1);
    for (const path of ['http.port', 'svc.api_url', 'svc.token']) expect(errors.join('\n')).toContain(path);
  });

  it('does not start without a state folder, and names the key', async () => {
    await writeFile(join(folder.path, 'file'), '');
    const environment = {
      SVC_STATE_DIR: join(folder.path, 'file', 'state'),
      SVC_AGENT_PORT: '0',
      SVC_METRICS_PORT: '0',
    };
    const { code, errors } = await run([], VALID, environment);
    expect(code).toBe(1);
    expect(errors.join('')).toContain('agent.state_dir');
  });

  it('does not start on a port in use, and names the key once', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo; // TCP: never a string
    const environment = {
      SVC_STATE_DIR: folder.path,
      SVC_AGENT_HOST: '127.0.0.1',
      SVC_AGENT_PORT: String(port),
      LOG_LEVEL: 'fatal',
    };
    const { code, errors } = await run([], VALID, environment);
    await new Promise((resolve) => other.close(resolve));
    expect(code).toBe(1);
    expect(errors.join('').match(/http\.port/g)).toHaveLength(1);
  });

  it('publishes the schema that validate uses', async () => {
    const published = await readFile(join(import.meta.dirname, '../../config.schema.json'), 'utf8');
    expect(JSON.parse(published)).toEqual(publishedSchema());
    expect(publishedSchema()).toMatchObject({ additionalProperties: false, required: ['agent', 'svc'] });
  });

  it("has the same schema for the chart's config value, except for required keys", async () => {
    const chart = join(import.meta.dirname, '../../../../deploy/helm/svc-agent/values.schema.json');
    const { definitions } = JSON.parse(await readFile(chart, 'utf8')) as { definitions: { agentConfig: unknown } };
    const published = await readFile(join(import.meta.dirname, '../../config.schema.json'), 'utf8');
    const { $schema, title, required, ...expected } = JSON.parse(published) as {
      properties: Record<'agent' | 'svc', { required?: unknown }>;
    } & Record<string, unknown>; // validated by the schema above
    expect([typeof $schema, title, required]).toEqual(['string', expect.any(String), ['agent', 'svc']]);
    // The chart has its own values for name and address.
    delete expected.properties.agent.required;
    delete expected.properties.svc.required;
    expect(definitions.agentConfig).toEqual(expected);
  });
});

/** Allows for a busy machine. */
const START_TIMEOUT_MS = 120_000;

describe('the process', { timeout: 3 * START_TIMEOUT_MS }, () => {
  let child: ChildProcess;
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await TestPlatform.start();
  });
  afterEach(async () => {
    child.kill('SIGKILL');
    await platform.close();
  });

  async function start(): Promise<{ log: () => string; exit: Promise<number | null> }> {
    const heartbeats = platform.messages('heartbeat').length;
    const file = join(folder.path, 'config.yaml');
    await writeFile(
      file,
      `agent: {cluster_name: a}\nsvc: {api_url: "${platform.url}", token: c}\nlog: {level: info}\n`,
    );
    const main = join(import.meta.dirname, '../../src/main.ts');
    child = spawn(process.execPath, [main, 'run', '--config', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        SVC_STATE_DIR: folder.path,
        SVC_AGENT_PORT: '0',
        SVC_METRICS_PORT: '0',
        SVC_AGENT_HOST: '127.0.0.1',
      },
    });
    let log = '';
    child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
    await waitFor(() => platform.messages('heartbeat').length > heartbeats, {
      timeoutMs: START_TIMEOUT_MS,
      description: () => `the first heartbeat; it said ${log}`,
    });
    return { log: () => log, exit };
  }

  it('exits with 0 on SIGTERM, after a goodbye to the platform', async () => {
    const { exit } = await start();
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(platform.connections[0]?.closeCode).toBe(1001);
  });

  it('reloads its file on SIGHUP', async () => {
    const { log, exit } = await start();
    const file = join(folder.path, 'config.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('level: info', 'level: debug'));
    child.kill('SIGHUP');
    await waitFor(() => log().includes('the configuration was reloaded'));
    await writeFile(file, text.replace('level: info', 'level: loud'));
    child.kill('SIGHUP');
    await waitFor(() => log().includes('was not reloaded'));
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
  });

  it('reloads its file when it changes, without a signal', async () => {
    const { log } = await start();
    const file = join(folder.path, 'config.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, `${text}deploy: {drift: "off"}\n`);
    await waitFor(() => log().includes('"changed":["deploy.drift"]'), { timeoutMs: START_TIMEOUT_MS });
    expect(log()).toContain('"cause":"the file changed"');
  });

  it('runs no command twice and keeps its result when it is killed', async () => {
    const { exit } = await start();
    platform.send('logs', { pod: 'a', namespace: 'b' }, 'cmd-1');
    const result = await platform.result('cmd-1');
    child.kill('SIGKILL');
    await exit;
    await start();
    platform.send('logs', { pod: 'a', namespace: 'b' }, 'cmd-1');
    await platform.waitForMessage('command_ack', ({ state }) => state === 'duplicate');
    await waitFor(() => platform.messages('command_result').length >= 2);
    expect(platform.messages('command_result').at(-1)).toEqual(result);
  });
});
